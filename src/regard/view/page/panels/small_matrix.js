// A small labelled matrix: a canvas with the words around it, read out cell by cell.

import { columnAt, paintCells } from "../drawing/painted_cells.js";
import { h, penOf } from "../elements/dom.js";
import { numberText } from "./row_numbers.js";
import { viewOfMatrix, wordElement } from "./panel_parts.js";
import { standsUpright } from "../record/scripts.js";
import { t } from "../words/messages.js";

const CELL = { most: 32, labelled: 9 }; // pixels: the widest cell, the narrowest with words beside it

/** @typedef {import("../record/record.js").Side} Side */

/**
 * @typedef {object} SmallMatrix
 * @property {Float32Array} data @property {number} rows @property {number} cols
 * @property {string[]} rowTokens @property {string[]} colTokens
 * @property {Side|undefined} rowSide @property {Side|undefined} colSide
 * @property {Uint8Array} [allowed]
 */

/** @typedef {ReturnType<typeof matrixSize>} Size */
/** @typedef {import("../drawing/view.js").Painted & {matrix: SmallMatrix}} SmallView */

/**
 * @param {object} given
 * @param {string} given.title
 * @param {SmallMatrix} given.matrix
 * @param {number} given.most what the strongest colour stands for
 * @param {boolean} [given.signed]
 * @param {Pick<import("../host/view_state.js").State, "reverse"|"theme">} given.state
 * @param {number} given.space pixels that the whole may be wide
 * @param {number} [given.row] the row that is chosen
 * @param {number} [given.col] the column where reading begins
 * @param {(row: number, col: number) => void} [given.pick]
 * @param {any[]} [given.below] what stands under it
 */
export function matrixFigure({ title, matrix, most, signed = false, state, space, row = -1, col = 0, pick, below = [] }) {
  const size = matrixSize(matrix, space);
  const view = { ...viewOfMatrix(matrix, most, signed, state), matrix };
  const mark = h("i", { class: "panel-mark", hidden: true });
  const readout = h("output", { class: "panel-readout" }, strongestLink(matrix, signed));
  const frame = h("div", { class: "panel-plane", tabindex: 0, role: "img", "data-focus": `plane-${title}`, "aria-label": t("{title}. Arrow keys read the cells.", { title }), style: { left: `${size.left}px`, top: `${size.top}px`, width: `${size.width}px`, height: `${size.height}px` } }, matrixCanvas(view, size), mark);
  if (row >= 0) frame.append(h("i", { class: "panel-chosen-row", style: { top: `${row * size.cell}px`, height: `${size.cell}px` } }));
  readCells(frame, mark, readout, view, size, { start: { row: Math.max(row, 0), col }, pick });
  const whole = { width: `${size.left + size.width + 5}px`, height: `${size.top + size.height + 3}px` }; // room for the ring
  return h(
    "figure",
    { class: "panel-figure", style: { "--wide": `${Math.max(size.left + size.width + 5, 240)}px` } },
    h("figcaption", null, title),
    h("div", { class: "panel-scroll" }, h("div", { class: "panel-matrix", style: whole }, matrixLabels(view, size, row), frame)),
    readout,
    below,
  );
}

/** @param {SmallMatrix} matrix @param {number} space */
export function matrixSize(matrix, space) {
  const left = Math.min(Math.max(...matrix.rowTokens.map(textLength), 1) * 13 + 10, 110);
  const cell = Math.min((space - left) / Math.max(matrix.cols, 1), CELL.most);
  const labelled = cell >= CELL.labelled;
  const top = labelled ? Math.min(Math.max(...matrix.colTokens.map(textLength), 1) * 13 + 8, 92) : 4;
  return { cell, left: labelled ? left : 4, top, width: cell * matrix.cols, height: cell * matrix.rows, labelled };
}

/** How long a text is in ems: about 0.6 for a Latin letter, 1 for a Han character. @param {string} text */
function textLength(text) {
  let length = 0;
  for (const character of text) length += character > "\u2e7f" ? 1 : 0.6;
  return length;
}

/** @param {SmallView} view @param {Size} size */
function matrixCanvas(view, size) {
  const sharp = Math.max(globalThis.devicePixelRatio || 1, 1);
  const canvas = h("canvas", { width: Math.ceil(size.width * sharp), height: Math.ceil(size.height * sharp), style: { width: `${size.width}px`, height: `${size.height}px` } });
  const pen = penOf(canvas);
  pen.scale(sharp, sharp);
  paintCells(pen, view, size.cell);
  return canvas;
}

/** @param {SmallView} view @param {Size} size @param {number} chosen */
function matrixLabels(view, size, chosen) {
  const { matrix } = view;
  if (!size.labelled) return null;
  const font = `${Math.min(Math.max(size.cell - 3, 9), 13)}px`;
  const rows = matrix.rowTokens.map((text, at) =>
    h("span", { class: `panel-row-label${at === chosen ? " is-chosen" : ""}`, style: { top: `${size.top + at * size.cell}px`, width: `${size.left - 6}px`, "line-height": `${size.cell}px`, "font-size": font }, title: text }, wordElement(text, matrix.rowSide)),
  );
  const cols = matrix.colTokens.map((text, at) =>
    h("span", { class: `panel-col-label ${columnWay(text)}`, style: { left: `${size.left + columnAt(view, at) * size.cell}px`, height: `${size.top - 4}px`, width: `${size.cell}px`, "line-height": `${size.cell}px`, "font-size": font }, title: text }, wordElement(text, matrix.colSide)),
  );
  return h("div", { class: "panel-labels", "aria-hidden": "true" }, rows, cols);
}

/** One character stands as it is, Han characters stand in a column, other words lie on their side. @param {string} text */
function columnWay(text) {
  if (Array.from(text).length === 1) return "is-flat";
  return standsUpright(text) ? "is-upright" : "is-turned";
}

/**
 * Mouse and arrow keys walk over the cells; what is there is said below.
 * @param {HTMLElement} frame @param {HTMLElement} mark @param {HTMLElement} readout @param {SmallView} view @param {Size} size @param {{start: {row: number, col: number}, pick?: (row: number, col: number) => void}} how
 */
function readCells(frame, mark, readout, view, size, { start, pick }) {
  const { matrix } = view;
  let at = start;
  /** @param {number} row @param {number} col */
  const show = (row, col) => {
    at = { row: Math.min(Math.max(row, 0), matrix.rows - 1), col: Math.min(Math.max(col, 0), matrix.cols - 1) };
    mark.hidden = false;
    Object.assign(mark.style, { left: `${columnAt(view, at.col) * size.cell}px`, top: `${at.row * size.cell}px`, width: `${size.cell}px`, height: `${size.cell}px` });
    const place = at.row * matrix.cols + at.col;
    const value = matrix.allowed && !matrix.allowed[place] ? t("outside the region") : numberText(matrix.data[place], 3);
    readout.replaceChildren(wordElement(matrix.rowTokens[at.row], matrix.rowSide), " → ", wordElement(matrix.colTokens[at.col], matrix.colSide), h("b", null, ` ${value}`));
  };
  /** @type {(event: MouseEvent) => [number, number]} */
  const under = (event) => {
    const box = frame.getBoundingClientRect();
    const across = Math.floor((event.clientX - box.left) / size.cell);
    return [Math.floor((event.clientY - box.top) / size.cell), columnAt(view, across)];
  };
  /** @type {Record<string, [number, number]>} */
  const steps = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
  frame.addEventListener("pointermove", (event) => show(...under(event)));
  frame.addEventListener("pointerleave", () => (mark.hidden = document.activeElement !== frame));
  frame.addEventListener("focus", () => show(at.row, at.col));
  frame.addEventListener("blur", () => (mark.hidden = true));
  frame.addEventListener("click", (event) => pick?.(...under(event)));
  frame.addEventListener("keydown", (event) => {
    if (event.key in steps) show(at.row + steps[event.key][0], at.col + steps[event.key][1] * (view.reversed ? -1 : 1));
    else if (event.key === "Enter" && pick) pick(at.row, at.col);
    else return;
    event.preventDefault();
  });
}

/**
 * What the readout says before a cell is asked for: the strongest of all.
 * @param {SmallMatrix} matrix @param {boolean} signed
 */
function strongestLink(matrix, signed) {
  let best = 0;
  for (let at = 1; at < matrix.data.length; at++) if (Math.abs(matrix.data[at]) > Math.abs(matrix.data[best])) best = at;
  if (!matrix.data.length) return "";
  const row = Math.floor(best / matrix.cols);
  const values = {
    query: wordElement(matrix.rowTokens[row], matrix.rowSide),
    key: wordElement(matrix.colTokens[best % matrix.cols], matrix.colSide),
    weight: numberText(matrix.data[best], 2),
  };
  return signed ? t.parts("largest: {query} → {key} {weight}", values) : t.parts("strongest: {query} → {key} {weight}", values);
}
