// The tree of a beam search in an exported picture. As regard/view/sheets/drawn_tree.py draws it.

import { s } from "../elements/dom.js";
import { t } from "../words/messages.js";
import { colourIn, fixed, hexadecimal, labelOf, lengthOf, rectangle, write } from "./sheet_paper.js";

/** @typedef {import("./sheet_paper.js").Paper} Paper */
/** @typedef {{parent: number, text: string, chance: number, fate: string, end: string, depth: number, row: number, onPath: boolean}} Branch */
/** @typedef {{branches: Branch[], language: string}} SearchTree */

const [ROW, BOX, STEP, PAD, LETTERS, SMALL] = [32, 24, 26, 8, 13, 11];

/** @param {SearchTree} tree @param {Paper} paper @returns {import("./sheet_paper.js").Part} */
export function drawTree({ branches, language }, paper) {
  const widths = branches.map((each) => lengthOf(labelOf(each.text), LETTERS) + 2 * PAD);
  const steps = new Array(Math.max(-1, ...branches.map((each) => each.depth)) + 1).fill(0);
  branches.forEach((each, n) => (steps[each.depth] = Math.max(steps[each.depth], widths[n])));
  const lefts = steps.map((_, n) => steps.slice(0, n).reduce((a, b) => a + b, 0) + STEP * n);
  const places = branches.map((each) => ({ x: lefts[each.depth], y: each.row * ROW }));
  const rows = Math.max(-1, ...branches.map((each) => each.row)) + 1;
  const marked = hexadecimal(colourIn({ full: 1, signed: true, paper }, 0.8));
  const edges = branches.map((each, n) => each.parent >= 0 && edge(each, places[each.parent], widths[each.parent], places[n], each.onPath ? marked : paper.muted));
  const boxes = branches.map((each, n) => box(each, places[n], widths[n], paper, marked, language));
  const ends = Math.max(0, ...branches.map((each) => lengthOf(each.end, SMALL)));
  /** @type {[string, string][]} */
  const marks = [["ended", t("framed: an end, with its place and score")], ["dropped", t("dashed: dropped")]];
  const told = marks.filter(([fate]) => branches.some((each) => each.fate === fate)).map(([, words]) => words);
  const legend = [t("thick line: likely token"), ...told].join(" · ");
  const height = rows * ROW;
  const words = write(legend, 0, height + 14, { size: SMALL, fill: paper.muted });
  const whole = (steps.length ? lefts[lefts.length - 1] + steps[steps.length - 1] : 0) + ends + 10;
  return { width: Math.max(whole, lengthOf(legend, SMALL)), height: height + 18, nodes: [edges, boxes, words] };
}

/** @param {Branch} each @param {{x: number, y: number}} from @param {number} wide @param {{x: number, y: number}} to @param {string} stroke */
function edge(each, from, wide, to, stroke) {
  const [x, y, x2, y2] = [from.x + wide, from.y + BOX / 2, to.x, to.y + BOX / 2];
  const bend = x2 - STEP;
  const [a, b, c, d, e, f] = [x, y, bend, bend + 14, x2 - 14, y2].map((number) => number.toFixed(1));
  return s("path", { d: `M${a} ${b}L${c} ${b}C${d} ${b} ${e} ${f} ${x2.toFixed(1)} ${f}`, fill: "none", stroke, "stroke-width": fixed(1 + 4 * each.chance), "stroke-opacity": fixed(0.35 + 0.65 * each.chance) });
}

/** @param {Branch} each @param {{x: number, y: number}} place @param {number} wide @param {Paper} paper @param {string} marked @param {string} language */
function box(each, { x, y }, wide, paper, marked, language) {
  const dropped = each.fate === "dropped";
  const stroke = each.onPath ? marked : dropped ? paper.muted : paper.rule;
  return [
    rectangle(x, y, wide, BOX, { rx: 6, fill: paper.ground, stroke, "stroke-width": each.fate === "ended" ? 1.6 : 1, "stroke-dasharray": dropped ? "3 3" : null }),
    write(labelOf(each.text), x + wide / 2, y + 16.5, { size: LETTERS, fill: dropped ? paper.muted : paper.ink, anchor: "middle", language }),
    each.end ? write(each.end, x + wide + 8, y + 16.5, { size: SMALL, fill: paper.muted }) : null,
  ];
}
