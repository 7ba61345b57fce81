// A table in an exported picture: texts, numbers with bars, strips of colours. As regard/view/sheets/drawn_table.py draws it.

import { colourIn, hexadecimal, inkFor, labelOf, lengthOf, rectangle, titleLabel, write } from "./sheet_paper.js";

/** @typedef {import("./sheet_paper.js").Paper} Paper */
/** @typedef {{text?: string, bar?: number, strip?: number[], shade?: number, language?: string}} TableCell a text; a bar before it, −1 to 1; a strip of numbers, −1 to 1; a ground, 0 to 1 */
/** @typedef {{columns: string[], lines: TableCell[][], foot?: TableCell[], title?: string, signedFull?: number, shades?: string}} NumberTable shades: what grounds stand for */

const [ROW, LETTERS, HEAD, GAP] = [21, 12, 11, 18];
const [BAR, STRIP, BAR_HIGH, STRIP_HIGH, INSET] = [64, 128, 9, 12, 6];

/** @param {NumberTable} table @param {Paper} paper @returns {import("./sheet_paper.js").Part} */
export function drawTable(table, paper) {
  const foot = table.foot?.length ? table.foot : null;
  const lines = [...table.lines, ...(foot ? [foot] : [])];
  const heads = table.columns.map(titleLabel);
  const widths = heads.map((head, n) => Math.max(lengthOf(head, HEAD), ...lines.map((line) => widthOf(line[n]))));
  const lefts = widths.map((_, n) => widths.slice(0, n).reduce((a, b) => a + b, 0) + GAP * n);
  const whole = lefts[lefts.length - 1] + widths[widths.length - 1];
  /** @type {any[]} */
  const nodes = heads.map((head, n) => write(head, lefts[n], HEAD, { size: HEAD, fill: paper.muted }));
  /** @param {number} y */
  const rule = (y) => rectangle(0, y, whole, 1, { fill: paper.rule });
  nodes.push(rule(HEAD + 6));
  let top = HEAD + 8;
  lines.forEach((line, n) => {
    if (foot && n === table.lines.length) nodes.push(rule(top + 1));
    line.forEach((cell, at) => nodes.push(drawCell(cell, lefts[at], top, widths[at], paper)));
    top += ROW;
  });
  return { width: whole, height: top, nodes };
}

/** @param {TableCell} cell */
function widthOf({ text, bar, strip, shade }) {
  if (strip) return STRIP;
  if (shade !== undefined) return lengthOf(labelOf(text ?? ""), LETTERS) + 2 * INSET;
  return (bar === undefined ? 0 : BAR + 8) + (text ? lengthOf(labelOf(text), LETTERS) : 0);
}

/** @param {TableCell} cell @param {number} x @param {number} top @param {number} width @param {Paper} paper */
function drawCell({ text, bar, strip, shade, language }, x, top, width, paper) {
  if (shade !== undefined) {
    const ground = colourIn({ full: 1, signed: false, paper }, shade);
    return [rectangle(x, top + 1, width, ROW - 2, { rx: 2, fill: hexadecimal(ground) }), write(labelOf(text ?? ""), x + INSET, top + 15, { size: LETTERS, fill: inkFor(ground), language })];
  }
  if (strip) return drawStrip(strip, x, top + (ROW - STRIP_HIGH) / 2, paper);
  const before = bar === undefined ? 0 : BAR + 8;
  return [
    bar === undefined ? null : drawBar(bar, x, top + (ROW - BAR_HIGH) / 2, paper),
    text ? write(labelOf(text), x + before, top + 15, { size: LETTERS, fill: paper.ink, language }) : null,
  ];
}

/** From the left; what is below 0 is orange. @param {number} share @param {number} x @param {number} y @param {Paper} paper */
function drawBar(share, x, y, paper) {
  const colour = colourIn({ full: 1, signed: true, paper }, share >= 0 ? 0.7 : -0.7);
  return [
    rectangle(x, y, BAR, BAR_HIGH, { rx: 2, fill: paper.rule, "fill-opacity": 0.5 }),
    rectangle(x, y, BAR * Math.min(Math.abs(share), 1), BAR_HIGH, { rx: 2, fill: hexadecimal(colour) }),
  ];
}

/** @param {number[]} shares @param {number} x @param {number} y @param {Paper} paper */
function drawStrip(shares, x, y, paper) {
  const wide = STRIP / Math.max(shares.length, 1);
  return shares.map((share, n) => rectangle(x + wide * n, y, wide + 0.2, STRIP_HIGH, { fill: hexadecimal(colourIn({ full: 1, signed: true, paper }, share)) }));
}
