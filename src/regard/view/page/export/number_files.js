// The numbers as files: the matrix that is shown as CSV, every array as npz, the record as JSON that people read.
// As regard/view/sheets/number_files.py and regard/records/json_text.py write them.

import { csvText } from "../panels/table_panel.js";
import { unpack } from "../record/packed_arrays.js";
import { t } from "../words/messages.js";
import { joined } from "./pdf_file.js";

/** @typedef {import("../record/record.js").AttentionRecord} AttentionRecord */
/** @typedef {import("../record/record.js").Matrix} Matrix */
/** @typedef {{shape: number[], type: "<f4"|"<f8"|"|b1"|"<i8"|string, data: Uint8Array}} NpyArray */

const MOST = 2 ** 16; // numbers of an array that are written as such
const LONGEST_NAME = 65_535;
const encoder = new TextEncoder();

/** The matrix that is shown; several heads after each other, each with its name. @param {Pick<import("../drawing/view.js").View, "matrix"|"heads">} view */
export function shownCsv({ matrix, heads }) {
  if (!heads.length) return matrixCsv(matrix);
  return heads.map((head) => matrixCsv(head.matrix, head.short)).join("\r\n");
}

/** A line of keys, then a line for each query; what is not allowed is empty. @param {Matrix} matrix */
export function matrixCsv({ data, rows, cols, rowTokens, colTokens, allowed }, name = "") {
  /** @param {number} row */
  const line = (row) => [rowTokens[row], ...Array.from({ length: cols }, (_, col) => (allowed && !allowed[row * cols + col] ? "" : decimal(data[row * cols + col]) ?? ""))];
  return csvText([[name, ...colTokens], ...Array.from({ length: rows }, (_, row) => line(row))]);
}

/** Every array by its name; of several records, with their number before it. @param {AttentionRecord[]} records */
export function arraysNpz(records) {
  /** @type {[string, Uint8Array][]} */
  const files = records.flatMap((record, n) => {
    const before = records.length > 1 ? `${n + 1}/` : "";
    return Object.entries(arraysOf(record)).map(([name, array]) => /** @type {[string, Uint8Array]} */ ([`${before}${name}.npy`.slice(0, LONGEST_NAME), npy(array)]));
  });
  return zip(files);
}

/** @param {AttentionRecord} record @returns {Record<string, NpyArray>} */
function arraysOf(record) {
  /** @type {Record<string, NpyArray>} */
  const found = {};
  for (const [name, side] of Object.entries(record.sides)) {
    found[`${name}/tokens`] = texts(side.tokens);
    found[`${name}/words`] = { shape: [side.words.length], type: "<i8", data: bytesOf(BigInt64Array.from(side.words, BigInt)) };
  }
  for (const map of record.maps) {
    const [whole, values] = [[map.L, map.H, map.Q, map.K], [map.L, map.H, map.K, map.D]];
    found[`${map.name}/weights`] = floats(map.weights, whole);
    if (map.scores) found[`${map.name}/scores`] = floats(map.scores, whole);
    if (map.factor) found[`${map.name}/factor`] = floats(map.factor, whole);
    if (map.values) found[`${map.name}/values`] = floats(map.values, values);
    if (map.queryVectors) found[`${map.name}/query_vectors`] = floats(map.queryVectors, [map.L, map.H, map.Q, map.E]);
    if (map.keyVectors) found[`${map.name}/key_vectors`] = floats(map.keyVectors, [map.L, map.H, map.K, map.E]);
    if (map.scoreVector) found[`${map.name}/score_vector`] = floats(map.scoreVector, [map.L, map.H, map.E]);
    if (map.allowedBits) found[`${map.name}/allowed`] = { shape: whole, type: "|b1", data: map.allowedBits };
  }
  if (record.beam?.weights) found["beam/weights"] = floats(record.beam.weights, [record.beam.nodes.length, record.beam.weights.length / record.beam.nodes.length]);
  for (const measure of record.explanations) {
    const map = record.map(measure.map);
    if (measure.matrix) found[`${measure.map}/${measure.name}`] = floats(/** @type {Float32Array} */ (measure.matrix), [map.Q, map.K]);
    for (const [row, numbers] of Object.entries(measure.rows)) {
      found[`${measure.map}/${measure.name}/${row}`] = { shape: [numbers.length], type: "<f8", data: bytesOf(Float64Array.from(numbers, (x) => x ?? NaN)) };
    }
  }
  return found;
}

/** @param {Float32Array} numbers @param {number[]} shape @returns {NpyArray} */
const floats = (numbers, shape) => ({ shape, type: "<f4", data: bytesOf(numbers) });

/** @param {ArrayBufferView} numbers */
const bytesOf = (numbers) => new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);

/** Texts of one length, four bytes for each character. @param {string[]} tokens @returns {NpyArray} */
function texts(tokens) {
  const longest = Math.max(1, ...tokens.map((token) => Array.from(token).length));
  const codes = new Uint32Array(longest * tokens.length);
  tokens.forEach((token, n) => Array.from(token).forEach((character, at) => (codes[n * longest + at] = /** @type {number} */ (character.codePointAt(0)))));
  return { shape: [tokens.length], type: `<U${longest}`, data: bytesOf(codes) };
}

/** NumPy's own format, version 1. @param {NpyArray} array */
function npy({ shape, type, data }) {
  const sizes = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
  const head = `{'descr': '${type}', 'fortran_order': False, 'shape': (${sizes}), }`;
  const padded = head.padEnd(Math.ceil((head.length + 11) / 64) * 64 - 11) + "\n";
  return joined([Uint8Array.from([0x93, ...encoder.encode("NUMPY"), 1, 0, padded.length & 255, padded.length >> 8]), encoder.encode(padded), data]);
}

/** A ZIP of files as they are. @param {[string, Uint8Array][]} files */
function zip(files) {
  /** @type {Uint8Array[]} */
  const bodies = [];
  /** @type {Uint8Array[]} */
  const heads = [];
  let place = 0;
  for (const [name, data] of files) {
    const called = encoder.encode(name);
    // version 2.0, UTF-8 names, stored; 1 January 1980; checksum and sizes
    const common = [...short(20), ...short(0x0800), ...short(0), ...short(0), ...short(0x21), ...long(checksum(data)), ...long(data.length), ...long(data.length), ...short(called.length), ...short(0)];
    const local = joined([Uint8Array.from([...long(0x04034b50), ...common]), called, data]);
    heads.push(joined([Uint8Array.from([...long(0x02014b50), ...short(20), ...common, ...short(0), ...short(0), ...short(0), ...long(0), ...long(place)]), called]));
    bodies.push(local);
    place += local.length;
  }
  const size = heads.reduce((sum, head) => sum + head.length, 0);
  const end = Uint8Array.from([...long(0x06054b50), ...short(0), ...short(0), ...short(files.length), ...short(files.length), ...long(size), ...long(place), ...short(0)]);
  return joined([...bodies, ...heads, end]);
}

/** @param {number} x */
const short = (x) => [x & 255, (x >> 8) & 255];
/** @param {number} x */
const long = (x) => [...short(x & 0xffff), ...short(x >>> 16)];

const CHECKS = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let bit = 0; bit < 8; bit++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c >>> 0;
});

/** CRC-32. @param {Uint8Array} data */
export function checksum(data) {
  let c = 0xffffffff;
  for (let at = 0; at < data.length; at++) c = CHECKS[(c ^ data[at]) & 255] ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
}

/** Numbers as numbers, a row of them to a line. @param {any} given plain values of a record, or a list of them */
export function readableJson(given) {
  return `${jsonText(readable(given), "")}\n`;
}

/** @param {any} given @returns {any} */
function readable(given) {
  if (Array.isArray(given)) return given.map(readable);
  if (given === null || typeof given !== "object") return given;
  if (!("type" in given && "shape" in given && "data" in given)) return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, readable(value)]));
  const size = given.shape.reduce((/** @type {number} */ product, /** @type {number} */ length) => product * length, 1);
  if (size > MOST) return { ...given, note: t("{count} numbers as bytes in base64: --npz and --csv have them all", { count: size.toLocaleString("en") }) };
  const numbers = unpack(given);
  const flags = numbers instanceof Uint8Array;
  return { type: flags ? "flags" : "numbers", shape: given.shape, data: nested(Array.from(numbers, (x) => (flags ? x : decimal(x))), given.shape) };
}

/** Lists in lists. @param {any[]} flat @param {number[]} shape @returns {any} */
function nested(flat, shape) {
  if (shape.length <= 1) return flat;
  const each = flat.length / (shape[0] || 1);
  return Array.from({ length: shape[0] }, (_, n) => nested(flat.slice(n * each, (n + 1) * each), shape.slice(1)));
}

/** The shortest decimal that is read back as the same float32; JSON has neither NaN nor infinity. @param {number} x */
function decimal(x) {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? null : x > 0 ? "Infinity" : "-Infinity";
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(x.toPrecision(digits));
    if (Math.fround(short) === Math.fround(x)) return short;
  }
  return Number(x.toPrecision(9));
}

/** @param {any} given @param {string} indent @returns {string} */
function jsonText(given, indent) {
  const deeper = `${indent}  `;
  /** @param {string} begin @param {string[]} parts @param {string} end */
  const lines = (begin, parts, end) => `${begin}\n${deeper}${parts.join(`,\n${deeper}`)}\n${indent}${end}`;
  if (Array.isArray(given)) {
    const flat = given.every((each) => each === null || typeof each !== "object");
    const pairs = given.every((each) => Array.isArray(each) && each.length === 2 && each.every(Number.isInteger));
    return flat || pairs ? `[${given.map((each) => (Array.isArray(each) ? `[${each.join(", ")}]` : JSON.stringify(each))).join(", ")}]` : lines("[", given.map((each) => jsonText(each, deeper)), "]");
  }
  if (given === null || typeof given !== "object" || !Object.keys(given).length) return JSON.stringify(given);
  return lines("{", Object.entries(given).map(([name, value]) => `${JSON.stringify(name)}: ${jsonText(value, deeper)}`), "}");
}
