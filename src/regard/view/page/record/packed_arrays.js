// Arrays as they are packed in a record: {type, shape, data}, bytes in base64, row by row, little-endian; or lists of numbers.

import { t } from "../words/messages.js";

/** @typedef {{type: "float32"|"float16"|"sqrt8"|"bits", shape: number[], data: string}|{type: "numbers"|"flags", shape: number[], data: any}} Packed */

/**
 * Float32Array of the numbers, or Uint8Array of 0 and 1 where bits were packed.
 * @param {Packed} packed
 */
export function unpack(packed) {
  const size = packed.shape.reduce((product, length) => product * length, 1);
  if (packed.type === "numbers" || packed.type === "flags") return checked(fromLists(packed.data, packed.type), packed.shape, size);
  const reader = READERS[packed.type];
  if (!reader) throw new Error(t("No array is of type “{type}”: there are {types}.", { type: packed.type, types: [...Object.keys(READERS), "numbers", "flags"].join(", ") }));
  return checked(reader(fromBase64(packed.data), size), packed.shape, size);
}

/** @param {Float32Array|Uint8Array} numbers @param {number[]} shape @param {number} size */
function checked(numbers, shape, size) {
  if (numbers.length === size) return numbers;
  throw new Error(t("An array of {shape} needs {size} numbers, there are {there}.", { shape: shape.join(" × "), size, there: numbers.length }));
}

/** Lists in lists; null is NaN, for which JSON has no word. @param {any[]} lists @param {"numbers"|"flags"} type */
function fromLists(lists, type) {
  const flat = lists.flat(Infinity);
  return type === "flags" ? Uint8Array.from(flat) : Float32Array.from(flat, (each) => (each === null ? NaN : Number(each)));
}

/** @type {Record<string, (bytes: Uint8Array<ArrayBuffer>, size: number) => Float32Array|Uint8Array>} */
const READERS = {
  float32: (bytes) => new Float32Array(bytes.buffer, 0, bytes.length >> 2),
  float16: (bytes) => throughTable(new Uint16Array(bytes.buffer, 0, bytes.length >> 1), 65536, halfToNumber),
  sqrt8: (bytes) => throughTable(bytes, 256, (byte) => (byte / 255) ** 2),
  bits: (bytes, size) => {
    const flags = new Uint8Array(Math.min(size, bytes.length * 8));
    for (let n = 0; n < flags.length; n++) flags[n] = (bytes[n >> 3] >> (7 - (n & 7))) & 1;
    return flags;
  },
};

/** @param {Uint8Array|Uint16Array} codes @param {number} size @param {(code: number) => number} meaning */
function throughTable(codes, size, meaning) {
  const table = Float32Array.from({ length: size }, (_, code) => meaning(code));
  const numbers = new Float32Array(codes.length);
  for (let n = 0; n < codes.length; n++) numbers[n] = table[codes[n]];
  return numbers;
}

/** @param {string} text */
function fromBase64(text) {
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let n = 0; n < bytes.length; n++) bytes[n] = characters.charCodeAt(n);
  return bytes;
}

/** IEEE 754 half precision: sign, 5 bits of exponent, 10 of fraction. @param {number} half */
export function halfToNumber(half) {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
