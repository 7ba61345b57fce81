// Sizes of a heat map, and what is drawn of it once: labels and cells.

import { columnAt, paintCells, paintRest } from "../drawing/painted_cells.js";
import { fill, h, penOf } from "../elements/dom.js";
import { standsUpright } from "../record/scripts.js";
import { t } from "../words/messages.js";

/** @typedef {import("../drawing/view.js").View} View */
/** @typedef {import("../record/record.js").Side} Side */

/** @typedef {ReturnType<typeof layOut>} Layout */

const WIDEST_CELL = 72;
const WIDEST_CELL_FOR_LABELS = 104; // where all labels lie flat then
const HIGHEST_CELL = 40;
const SMALLEST_CELL = 1.5;
const LABEL_HEIGHT = 17;
const MOST_WORDS = 40; // over a picture that each have a label
const REST_GAP = 12;
const KNOWN_WIDTHS = new WeakMap();

/**
 * How large a cell is, and where the labels go: flat over the columns where they fit, upright where not.
 * @param {import("../drawing/view.js").View} view
 * @param {number} width that there is
 */
export function layOut(view, width) {
  const { rows, cols, rowTokens, colTokens } = view.matrix;
  const labelWidth = Math.ceil(Math.min(widestText(rowTokens) + 22, 170, Math.max(width * 0.3, 64)));
  const restWidth = view.rest ? 46 : 0;
  const room = Math.max(width - labelWidth - (restWidth ? restWidth + REST_GAP : 0) - 2, 120);
  const widest = Math.max(WIDEST_CELL, Math.min(widestText(colTokens) + 8, WIDEST_CELL_FOR_LABELS));
  const exact = Math.min(Math.max(room / Math.max(cols, 1), SMALLEST_CELL), widest);
  const across = exact >= 6 ? Math.floor(exact) : exact;
  const least = view.map.keys.picture && rows <= MOST_WORDS ? LABEL_HEIGHT + 3 : 0; // many cells, few words
  const cell = { width: across, height: Math.min(Math.max(across, least), HIGHEST_CELL) };
  const flat = widestText(colTokens) + 6 <= cell.width;
  const matrixWidth = cols * cell.width;
  return {
    cell,
    labelWidth,
    restWidth,
    matrixWidth,
    width: matrixWidth + (restWidth ? REST_GAP + restWidth : 0),
    height: rows * cell.height,
    flat,
    headHeight: flat ? 26 : Math.min(Math.max(widestText(colTokens) + 16, 30), 150),
    every: Math.max(Math.ceil(LABEL_HEIGHT / cell.height), 1), // one label of so many rows has room
    everyColumn: Math.max(Math.ceil(LABEL_HEIGHT / Math.min(cell.width, cell.height)), 1),
  };
}

/** Which of the labels of rows is written across a height; null where none is. @param {Layout} layout @param {number} height from the first row */
export function labelAt({ cell, every }, height) {
  const number = Math.round((height / cell.height - 0.5) / every);
  const middle = (number * every + 0.5) * cell.height;
  return number >= 0 && Math.abs(middle - height) < LABEL_HEIGHT / 2 ? number : null;
}

/** The width of the widest label, measured once for each list of them. @param {string[]} texts */
function widestText(texts) {
  if (!KNOWN_WIDTHS.has(texts)) {
    const pen = penOf(document.createElement("canvas"));
    pen.font = '14px system-ui, "Noto Sans", "Noto Sans CJK SC", sans-serif';
    const widths = texts.map((text) => pen.measureText(text.slice(0, 40)).width);
    KNOWN_WIDTHS.set(texts, widths.reduce((most, width) => Math.max(most, width), 0));
  }
  return KNOWN_WIDTHS.get(texts);
}

/** @param {HTMLElement} rowLabels @param {HTMLElement} colLabels @param {View} view @param {Layout} layout */
export function drawLabels(rowLabels, colLabels, view, layout) {
  const { matrix, map } = view;
  const { cell } = layout;
  colLabels.style.setProperty("height", `${layout.headHeight}px`);
  colLabels.style.setProperty("width", `${layout.width}px`);
  rowLabels.style.setProperty("height", `${layout.height}px`);
  /** @type {(text: string, side: import("../record/record.js").Side, name: string, style: object) => HTMLElement} */
  const label = (text, side, name, style) =>
    h("span", { class: name, dir: "auto", lang: side.language || null, title: text, style }, text);
  /** @type {(texts: string[], every: number, make: (text: string, n: number) => HTMLElement) => (HTMLElement|null)[]} */
  const labels = (texts, every, make) => texts.map((text, n) => (n % every === 0 ? make(text, n) : null));
  /** @param {string} text @param {number} row */
  const rowLabel = (text, row) => label(text, map.queries, "label", { top: `${(row + 0.5) * cell.height}px` });
  /** @param {string} text @param {number} col */
  const colLabel = (text, col) =>
    label(text, map.keys, columnClass(text, layout), { left: `${(columnAt(view, col) + 0.5) * cell.width}px` });
  fill(rowLabels, labels(matrix.rowTokens, layout.every, rowLabel));
  fill(colLabels, labels(matrix.colTokens, layout.everyColumn, colLabel), view.rest ? restLabel(layout) : null);
}

/** @param {Layout} layout */
function restLabel(layout) {
  return h("span", { class: "label rest", style: { left: `${layout.matrixWidth + REST_GAP}px` } }, t("rest"));
}

/** @param {string} text @param {Layout} layout */
function columnClass(text, layout) {
  if (layout.flat || Array.from(text).length === 1) return "label flat";
  if (standsUpright(text)) return "label upright";
  return text.length <= 2 && layout.cell.width >= 22 ? "label flat" : "label turned";
}

/** @param {HTMLCanvasElement} canvas @param {View} view @param {Layout} layout */
export function drawHeatmap(canvas, view, layout) {
  const ratio = Math.min(globalThis.devicePixelRatio || 1, 3);
  canvas.width = Math.max(Math.ceil(layout.width * ratio), 1);
  canvas.height = Math.max(Math.ceil(layout.height * ratio), 1);
  canvas.style.setProperty("width", `${layout.width}px`);
  canvas.style.setProperty("height", `${layout.height}px`);
  const context = penOf(canvas);
  context.scale(ratio, ratio);
  paintCells(context, view, layout.cell.width, layout.cell.height);
  if (view.rest) paintRest(context, { ...view, rest: view.rest }, layout.cell, layout.matrixWidth + REST_GAP, layout.restWidth);
}
