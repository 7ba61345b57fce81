// What the weights of a map say of themselves: for each query, and for each key.

import { fill, h } from "../../elements/dom.js";
import { numberText, readingsOf } from "../row_numbers.js";
import { weightBar, button, largestSize, wordElement } from "../panel_parts.js";
import { marksOf } from "../../record/token_words.js";
import { t } from "../../words/messages.js";

/** @typedef {import("../../record/record.js").Matrix} Matrix */

const FEW_KEYS = 40; // whose bars stand open

/**
 * Made once for each matrix: hundreds of lines, of which only one is marked.
 * @param {Matrix} matrix @param {(query: number) => void} choose
 */
export function weightReadings(matrix, choose) {
  const readings = readingsOf(matrix, (col) => matrix.colMembers[col].every((key) => matrix.colSide.special[key]));
  const queries = queryTable(matrix, readings, choose);
  const lines = [...queries.querySelectorAll("tbody tr")];
  return {
    matrix,
    queries,
    coverage: keyCoverage(matrix, readings),
    /** @param {number} chosen */
    mark: (chosen) => lines.forEach((line, row) => line.classList.toggle("is-chosen", row === chosen)),
  };
}

/**
 * For each query: how wide it read, and what went to marks or nowhere.
 * @param {Matrix} matrix @param {ReturnType<typeof readingsOf>} readings @param {(query: number) => void} choose
 */
function queryTable(matrix, { queries }, choose) {
  const widest = largestSize(queries.map((query) => query.width));
  const missing = matrix.missing ?? queries.map(() => 0);
  const hasSpecial = queries.some((query) => query.special > 0);
  const hasMissing = missing.some((share) => Math.abs(share) > 0.01);
  /** @type {(query: {entropy: number, width: number, special: number}, row: number) => HTMLElement} */
  const line = (query, row) =>
    h(
      "tr",
      null,
      h("th", { scope: "row" }, button(wordElement(matrix.rowTokens[row], matrix.rowSide), () => choose(matrix.rowMembers[row][0]), { class: "panel-link", "data-focus": `explain-row-${row}` })),
      h("td", null, numberText(query.entropy)),
      h("td", null, weightBar(query.width, widest, numberText(query.width, 1))),
      hasSpecial ? h("td", null, numberText(query.special)) : null,
      hasMissing ? h("td", null, numberText(missing[row])) : null,
    );
  /** @param {string} title @param {string} why */
  const head = (title, why) => h("th", { scope: "col", title: why }, title);
  return h(
    "div",
    { class: "panel-scroll explain-queries", tabindex: 0, role: "region", "aria-label": t("How each query reads") },
    h(
      "table",
      { class: "explain-table" },
      h("caption", null, t("Entropy in nats, and how many keys were read effectively")),
      h("thead", null, h("tr", null, head(t("query"), ""), head(t("entropy"), "H = −Σ w log w"), head(t("reads"), t("exp(H): as many keys, read evenly, have this entropy")), hasSpecial ? head(t("on {marks}", { marks: marksOf(matrix.colSide) }), t("weight on tokens that stand for no text")) : null, hasMissing ? head(t("on nothing"), t("1 − the sum of the row: a sink took it")) : null)),
      h("tbody", null, queries.map(line)),
    ),
  );
}

/**
 * Σ over queries for each key: what was read often, and what hardly.
 * @param {Matrix} matrix @param {ReturnType<typeof readingsOf>} readings
 */
function keyCoverage(matrix, { coverage }) {
  const most = largestSize(coverage);
  /** @type {(mass: number, col: number) => HTMLElement} */
  const bar = (mass, col) =>
    h("li", { title: `${matrix.colTokens[col]}: ${numberText(mass)}` }, h("b", null, numberText(mass)), h("i", { style: { height: `${(46 * mass) / (most || 1)}px` } }), wordElement(matrix.colTokens[col], matrix.colSide));
  const bars = h("ol", { class: "explain-bars", dir: matrix.colSide.rightToLeft ? "rtl" : null });
  const show = () => bars.childElementCount || fill(bars, Array.from(coverage, bar)); // hundreds of bars only where they are seen
  const isOpen = matrix.cols <= FEW_KEYS;
  if (isOpen) show();
  return h("details", { class: "explain-coverage", open: isOpen, on: { toggle: show } }, h("summary", null, t("Mass on each key, over all queries (coverage)")), bars);
}
