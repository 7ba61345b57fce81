// Weights as cells between labels, as lines from query to key, and what the colours stand for. As regard/view/stills draws them.

import { penOf, s } from "../elements/dom.js";
import { caption, captions, t } from "../words/messages.js";
import { colourIn, fixed, hexadecimal, inkFor, labelOf, lengthOf, rectangle, write } from "./sheet_paper.js";

/** @typedef {import("./sheet_paper.js").Scale} Scale */
/** @typedef {import("./sheet_paper.js").Part} Part */

/**
 * @typedef {object} SheetMatrix
 * @property {ArrayLike<number>} data @property {number} rows @property {number} cols
 * @property {string[]} rowTokens @property {string[]} colTokens
 * @property {Uint8Array} [allowed]
 * @property {string} rowLanguage @property {string} colLanguage
 * @property {boolean} reversed keys run from right to left
 * @property {ArrayLike<number>|null} [rest] for each row what is not among the columns
 * @property {{short: string, colour: [number, number, number], data: ArrayLike<number>}[]} [heads] several at once, each in its colour
 * @property {(row: number, col: number, width: number) => {x: number, width: number, colour: [number, number, number]}[]} [stripes] of a cell, one for each head
 */

const [LARGEST, SMALLEST, TINIEST, ROOM, MANY, NUMBERED] = [38, 8, 2, 760, 128, 27];
const [SLANT, COS, LABEL, NUMBER, SMALL, REST] = [-45, 0.7071, 13, 9.5, 11, 46];
const [BAR, APART] = [132, 10]; // of the legend: its bar at least, and between its words
const [ROW, BETWEEN, THICKEST, FAINTEST, MOST_LINES] = [22, 240, 7, 0.08, 12];

/** @typedef {ReturnType<typeof gridAround>} Grid */

/** @param {string[]} queries @param {string[]} keys */
function gridAround(queries, keys) {
  const most = Math.max(queries.length, keys.length, 1);
  const size = Math.min(LARGEST, Math.max(ROOM / most, most <= MANY ? SMALLEST : TINIEST));
  const letters = Math.min(LABEL, Math.max(size * 0.72, 5.6));
  const step = Math.max(1, Math.ceil((letters * 1.2) / size));
  /** @param {string[]} names */
  const longest = (names) => Math.max(0, ...names.filter((_, n) => n % step === 0).map((name) => lengthOf(name, letters)));
  const upright = longest(keys) <= size + 1;
  const top = upright ? letters + 6 : (longest(keys) + letters) * COS + 6;
  return { left: longest(queries) + 8, top, size, letters, step, upright };
}

/** @param {SheetMatrix} matrix @param {Scale} scale @returns {Part} */
export function drawCells(matrix, scale) {
  const { rows, cols, reversed } = matrix;
  const queries = matrix.rowTokens.map(labelOf);
  const keys = matrix.colTokens.map(labelOf);
  if (reversed) keys.reverse();
  const grid = gridAround(queries, keys);
  const [width, height] = [grid.size * cols, grid.size * rows];
  /** @param {number} row @param {number} place */
  const at = (row, place) => row * cols + (reversed ? cols - 1 - place : place);
  const paint = Math.max(rows, cols) > MANY ? asPicture : oneByOne;
  const last = keys.length ? lengthOf(keys[grid.step * Math.floor((keys.length - 1) / grid.step)], grid.letters) : 0;
  const beyond = grid.upright ? 0 : Math.max(last * COS - grid.size / 2, 0);
  const nodes = [
    queryNames(queries, grid, scale, matrix.rowLanguage),
    keyNames(keys, grid, scale, matrix.colLanguage),
    paint(matrix, scale, grid, at),
    rectangle(grid.left, grid.top, width, height, { fill: "none", stroke: scale.paper.rule }),
    matrix.rest ? restBars(matrix.rest, grid, cols, scale) : null,
  ];
  return { width: grid.left + width + Math.max(beyond, matrix.rest ? REST + 12 : 0), height: grid.top + height, nodes };
}

/** @param {string[]} names @param {Grid} grid @param {Scale} scale @param {string} language */
function queryNames(names, grid, { paper }, language) {
  return names.map((name, n) => n % grid.step === 0 && write(name, grid.left - 7, grid.top + grid.size * (n + 0.5) + grid.letters * 0.35, { size: grid.letters, fill: paper.ink, anchor: "end", language }));
}

/** @param {string[]} names @param {Grid} grid @param {Scale} scale @param {string} language */
function keyNames(names, grid, { paper }, language) {
  const aside = grid.upright ? 0 : grid.letters * 0.3;
  const style = { size: grid.letters, fill: paper.ink, language };
  return names.map((name, n) => n % grid.step === 0 && write(name, grid.left + grid.size * (n + 0.5) + aside, grid.top - 5, grid.upright ? { ...style, anchor: "middle" } : { ...style, turned: SLANT }));
}

/** @param {SheetMatrix} matrix @param {Scale} scale @param {Grid} grid @param {(row: number, place: number) => number} at */
function oneByOne(matrix, scale, { left, top, size }, at) {
  const gap = size >= 14 ? 1 : 0;
  const [cells, texts, closed] = [/** @type {any[]} */ ([]), /** @type {any[]} */ ([]), /** @type {[number, number][]} */ ([])];
  for (let row = 0; row < matrix.rows; row++) {
    for (let place = 0; place < matrix.cols; place++) {
      const [x, y, weight] = [left + size * place, top + size * row, matrix.data[at(row, place)]];
      if (matrix.allowed && !matrix.allowed[at(row, place)]) {
        closed.push([x, y]);
        continue;
      }
      if (matrix.stripes) {
        const inner = size - 3 * gap;
        for (const { x: from, width, colour } of matrix.stripes(row, at(row, place) - row * matrix.cols, inner)) {
          cells.push(rectangle(x + 1.5 * gap + from, y + gap, width, size - 2 * gap, { fill: hexadecimal(colour) }));
        }
        continue;
      }
      let ink = scale.paper.ink;
      if (Number.isFinite(weight)) {
        const colour = colourIn(scale, weight, row);
        ink = inkFor(colour);
        cells.push(rectangle(x + gap / 2, y + gap / 2, size - gap, size - gap, { fill: hexadecimal(colour) }));
      }
      if (size >= NUMBERED || !Number.isFinite(weight)) texts.push(write(cellNumber(weight), x + size / 2, y + size / 2 + NUMBER * 0.36, { size: NUMBER, fill: ink, anchor: "middle" }));
    }
  }
  return [s("g", { "shape-rendering": "crispEdges" }, cells), hatched(closed, size, scale), texts];
}

/** One path for all pairs that are not allowed. @param {[number, number][]} corners @param {number} size @param {Scale} scale */
function hatched(corners, size, { paper }) {
  if (!corners.length) return null;
  const strokes = [[0, 1, 1, 0], [0, 0.5, 0.5, 0], [0.5, 1, 1, 0.5]];
  const d = corners.flatMap(([x, y]) => strokes.map(([a, b, c, e]) => `M${(x + size * a).toFixed(1)} ${(y + size * b).toFixed(1)}L${(x + size * c).toFixed(1)} ${(y + size * e).toFixed(1)}`));
  return s("path", { d: d.join(""), stroke: paper.rule, "stroke-width": 0.8, fill: "none" });
}

/** One pixel for each pair; forbidden ones are left clear. @param {SheetMatrix} matrix @param {Scale} scale @param {Grid} grid @param {(row: number, place: number) => number} at */
function asPicture(matrix, scale, { left, top, size }, at) {
  const { rows, cols } = matrix;
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: cols, height: rows });
  const image = new ImageData(cols, rows);
  for (let row = 0; row < rows; row++) {
    for (let place = 0; place < cols; place++) {
      if (matrix.allowed && !matrix.allowed[at(row, place)]) continue;
      const colour = matrix.stripes?.(row, at(row, place) - row * cols, 1)[0].colour ?? colourIn(scale, matrix.data[at(row, place)] || 0, row);
      image.data.set([...colour, 255], 4 * (row * cols + place));
    }
  }
  penOf(canvas).putImageData(image, 0, 0);
  return s("image", { x: fixed(left), y: fixed(top), width: fixed(size * cols), height: fixed(size * rows), href: canvas.toDataURL("image/png"), preserveAspectRatio: "none", "image-rendering": "pixelated" });
}

/** For each row how much of it is not among the columns. @param {ArrayLike<number>} shares @param {Grid} grid @param {number} cols @param {Scale} scale */
function restBars(shares, { left, top, size }, cols, { paper }) {
  const x = left + cols * size + 12;
  const bars = Array.from(shares, (share, row) => {
    const y = top + (row + 0.3) * size;
    return [
      rectangle(x, y, REST, size * 0.4, { fill: paper.rule }),
      rectangle(x, y, REST * Math.min(Math.max(share, 0), 1), size * 0.4, { fill: paper.muted }),
    ];
  });
  return [write(t("rest"), x, top - 5, { size: SMALL, fill: paper.muted }), bars];
}

/** The colours from 0, or from -full, to the most; and what hatching means. @param {SheetMatrix|null} matrix @param {Scale} scale @param {string} [name] @returns {Part} */
export function drawScale(matrix, scale, name = "") {
  const [steps, high] = [44, 10];
  const { full, signed, paper } = scale;
  if (matrix?.heads) return drawHeads(matrix.heads, scale);
  const low = signed ? -full : 0;
  const said = [shortNumber(low), name || t("weight"), scale.rows ? t("row’s most") : shortNumber(full)];
  const [first, middle, last] = said.map((each) => lengthOf(each, SMALL));
  const bar = Math.max(BAR, middle + 2 * (Math.max(first, last) + APART));
  const shades = Array.from({ length: steps }, (_, n) => {
    const colour = colourIn({ ...scale, rows: undefined }, low + ((full - low) * n) / (steps - 1));
    return rectangle((bar * n) / steps, 0, bar / steps + 0.3, high, { fill: hexadecimal(colour) });
  });
  const style = { size: SMALL, fill: paper.muted };
  const marks = [
    write(said[0], 0, high + 13, style),
    write(said[2], bar, high + 13, { ...style, anchor: "end" }),
    write(said[1], bar / 2, high + 13, { ...style, anchor: "middle" }),
  ];
  let width = bar;
  if (matrix?.allowed) {
    const forbidden = caption(captions["not allowed"]);
    marks.push(/** @type {any} */ (hatched([[bar + 20, 0]], 10, scale)), write(forbidden, bar + 36, high - 1, style));
    width += 36 + lengthOf(forbidden, SMALL);
  }
  return { width, height: high + 16, nodes: [shades, marks] };
}

/** Which colour is which head, in the order of the stripes. @param {NonNullable<SheetMatrix["heads"]>} heads @param {Scale} scale @returns {Part} */
function drawHeads(heads, { paper, full, rows }) {
  let x = 0;
  const nodes = heads.map(({ short, colour }) => {
    const at = x;
    x += 30 + lengthOf(short, SMALL) + 14;
    return [rectangle(at, 0, 22, 10, { fill: hexadecimal(colour), rx: 3 }), write(short, at + 30, 9, { size: SMALL, fill: paper.ink })];
  });
  const most = t("full colour: {most}", { most: rows ? t("row’s most") : shortNumber(full) });
  nodes.push(/** @type {any} */ (write(most, x, 9, { size: SMALL, fill: paper.muted })));
  return { width: x + lengthOf(most, SMALL), height: 14, nodes };
}

/** Queries at the left, keys at the right, thick where the weight is great. @param {SheetMatrix} matrix @param {Scale} scale @returns {Part} */
export function drawLines(matrix, scale) {
  const [queries, keys] = [matrix.rowTokens.map(labelOf), matrix.colTokens.map(labelOf)];
  const longest = Math.max(queries.length, keys.length, 1);
  /** @param {string[]} names */
  const widest = (names) => Math.max(0, ...names.map((name) => lengthOf(name, LABEL)));
  const left = widest(queries) + 8;
  const right = left + BETWEEN;
  /** @param {number} place @param {number} count */
  const height = (place, count) => ROW * ((longest - count) / 2 + place + 0.5);
  const ink = { size: LABEL, fill: scale.paper.ink };
  const names = [
    queries.map((name, n) => write(name, left - 8, height(n, queries.length) + 4.5, { ...ink, anchor: "end", language: matrix.rowLanguage })),
    keys.map((name, n) => write(name, right + 8, height(n, keys.length) + 4.5, { ...ink, language: matrix.colLanguage })),
  ];
  /** @type {{row: number, col: number, weight: number, colour?: [number, number, number]}[]} */
  const links = matrix.heads ? matrix.heads.flatMap(({ data, colour }) => strongestOf({ ...matrix, data }, scale.full).map((link) => ({ ...link, colour }))) : strongestOf(matrix, scale.full);
  const curves = links.map(({ row, col, weight, colour }) => {
    const share = Math.min(Math.abs(weight) / scale.full, 1);
    const [middle, y, y2] = [((left + right) / 2).toFixed(1), height(row, queries.length).toFixed(1), height(col, keys.length).toFixed(1)];
    const stroke = hexadecimal(colour ?? colourIn({ ...scale, rows: undefined }, (weight >= 0 ? 0.8 : -0.8) * scale.full));
    return s("path", { d: `M${left.toFixed(1)} ${y}C${middle} ${y} ${middle} ${y2} ${right.toFixed(1)} ${y2}`, stroke, "stroke-width": fixed(Math.max(THICKEST * share, 0.4)), "stroke-opacity": Math.round(1000 * (0.15 + 0.75 * share)) / 1000 });
  });
  return { width: right + 8 + widest(keys), height: ROW * longest, nodes: [s("g", { fill: "none" }, curves), names] };
}

/** What is drawn, the weakest first. @param {SheetMatrix} matrix @param {number} full */
function strongestOf({ data, rows, cols, allowed }, full) {
  const chosen = [];
  for (let row = 0; row < rows; row++) {
    /** @param {number} col */
    const size = (col) => (allowed && !allowed[row * cols + col] ? 0 : Math.abs(data[row * cols + col]) || 0);
    const order = Array.from({ length: cols }, (_, col) => col).sort((a, b) => size(b) - size(a)).slice(0, MOST_LINES);
    for (const col of order) if (size(col) >= FAINTEST * full) chosen.push({ row, col, weight: data[row * cols + col] });
  }
  return chosen.sort((a, b) => Math.abs(a.weight) - Math.abs(b.weight));
}

/** A weight in about four characters, none of which lies. @param {number} weight */
export function cellNumber(weight) {
  if (weight === 0) return "·";
  if (!Number.isFinite(weight)) return Number.isNaN(weight) ? "NaN" : weight > 0 ? "inf" : "−inf";
  const size = Math.abs(weight);
  if (size < 0.005) return weight > 0 ? "<.01" : "≈0";
  if (weight >= 0.995 && weight < 1 - 1e-5) return ">.99";
  if (size >= 1000) return signed(weight.toExponential(0).replace(/e([+-])(\d)$/, "e$10$2"));
  return (weight < 0 ? "−" : "") + toHundredths(size);
}

/** Ties go to the even digit, as in Python. @param {number} size */
function toHundredths(size) {
  const isTie = Number.isInteger(size * 8) && (size * 1000) % 10 === 5;
  return isTie ? ((2 * Math.round(Math.floor(size * 100) / 2)) / 100).toFixed(2) : size.toFixed(2);
}

/** With a minus, which is longer than a hyphen. @param {string} text */
const signed = (text) => text.replace(/^-/, "−");

/** Three digits. @param {number} x */
const shortNumber = (x) => signed(String(Number(x.toPrecision(3))));
