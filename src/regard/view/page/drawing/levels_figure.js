// A document at two levels as a part of a picture: sentences with a coloured margin, words of those that are open.

import { hexColour, inkOn, sequential } from "./colours.js";
import { s } from "../elements/dom.js";
import { largest, readOpen, shadeIn, shadeOf, strongestShades, weightText } from "../record/levels.js";
import { t } from "../words/messages.js";

/** @typedef {import("./svg_figure.js").Paper} Paper */
/** @typedef {(text: string) => number} Measure */
/** @typedef {{text: string, fill: string|null, ink: string}} Piece of a line, on a ground where it has one */

const [ROOM, LINE, SIZE, MARGIN_WIDTH, TEXT_LEFT, GAP] = [720, 25, 15, 8, 62, 6];
const [PAD, HIGH] = [2, 21]; // of the ground of a word

/**
 * @param {import("./view.js").View & {levels: import("../record/levels.js").Levels}} view
 * @param {Paper} paper @param {Measure} measure
 */
export function levelsFigure(view, paper, measure) {
  const { levels, state, theme } = view;
  const lines = levels.lines(state.units);
  const open = readOpen(/** @type {Record<string, any>} */ (state)["levels-open"], lines.length);
  const shade = shadeIn(state);
  const strongest = strongestShades(lines, shade);
  const [mostSentence, mostWord] = [largest(lines.map((line) => line.weight)) || 1, largest(strongest) || 1];
  const blank = measure("a a") - measure("aa");
  let top = 0;
  const nodes = lines.map((line, n) => {
    const full = state.scale === "row" ? strongest[n] || 1 : mostWord;
    const pieces = open[n]
      ? line.words.flatMap((word) => [plain(word.before, paper), shaded(word, shadeOf(line, word, shade) / full, theme, paper)])
      : line.text.split(/(?<=\s)|(?=\s)/).map((text) => plain(text, paper));
    const { rows, drawn } = laidOut(pieces, measure, blank, top, levels.words.rightToLeft);
    const high = rows * LINE;
    const margin = { x: 0, y: top, width: MARGIN_WIDTH, height: high - 3, rx: 3, fill: hexColour(sequential(line.weight / mostSentence, theme)) };
    const weight = { x: TEXT_LEFT - 10, y: top + 16, "text-anchor": "end", "font-size": 12, fill: paper.soft };
    top += high + GAP;
    return [s("rect", margin), s("text", weight, weightText(line.weight)), drawn];
  });
  const said = shade === "word" ? t("words: p(w)") : t("words: √p(s) · p(w)");
  const legend = s("text", { x: 0, y: top + 14, "font-size": 12, fill: paper.soft }, `${t("margin: p(s)")} · ${said}`);
  return { width: TEXT_LEFT + ROOM, height: top + 18, nodes: [nodes, legend] };
}

/** @param {string} text @param {Paper} paper @returns {Piece} */
const plain = (text, paper) => ({ text, fill: null, ink: paper.ink });

/** @param {{text: string}} word @param {number} share @param {"light"|"dark"} theme @param {Paper} paper @returns {Piece} */
function shaded({ text }, share, theme, paper) {
  const rgb = sequential(share, theme);
  return share < 0.02 ? plain(text, paper) : { text, fill: hexColour(rgb), ink: inkOn(rgb) };
}

/**
 * Pieces one after the other, in as many lines as they need.
 * @param {Piece[]} pieces @param {Measure} measure @param {number} blank @param {number} top @param {boolean} rightToLeft
 */
function laidOut(pieces, measure, blank, top, rightToLeft) {
  let [x, row] = [0, 0];
  /** @type {any[]} */
  const drawn = [];
  for (const { text, fill, ink } of pieces) {
    if (text.trim() === "") {
      x += text && x ? blank : 0;
      continue;
    }
    const wide = measure(text.trim()) + (fill ? 2 * PAD : 0);
    if (x > 0 && x + wide > ROOM) [x, row] = [0, row + 1];
    const left = TEXT_LEFT + (rightToLeft ? ROOM - x - wide : x);
    const y = top + row * LINE;
    if (fill) drawn.push(s("rect", { x: left, y, width: wide, height: HIGH, rx: 4, fill }));
    drawn.push(s("text", { x: left + wide / 2, y: y + 16, "text-anchor": "middle", "font-size": SIZE, fill: ink }, text.trim()));
    x += wide;
  }
  return { rows: row + 1, drawn };
}
