// The numbers of one query, a line for each key, a column for each step.

import { h } from "../../elements/dom.js";
import { numberText, sumOf } from "../row_numbers.js";
import { weightBar, largestSize, colourStrip, wordElement } from "../panel_parts.js";
import { exponentials, parseNormalizer } from "./recomputed_weights.js";
import { t } from "../../words/messages.js";

/** @typedef {import("../../record/record.js").AttentionMap} AttentionMap */
/** @typedef {import("../../host/view_state.js").State} State */

/** @typedef {import("./recomputed_weights.js").QueryRow} QueryRow */

/**
 * @typedef {object} Column
 * @property {number} step from which on it is shown
 * @property {string} title
 * @property {(key: number) => any} cell
 * @property {any} [sum]
 * @property {boolean} [stays] also where there is room for the newest columns alone
 */

/**
 * @param {AttentionMap} map @param {QueryRow} row of `queryRow` @param {number[]} keys that are shown
 * @param {{step: number, isNew: boolean, state: State}} how columns of later steps are hidden
 */
export function stepTable(map, row, keys, { step, isNew, state }) {
  const columns = columnsOf(map, row, state);
  /** @param {Column} column */
  const when = (column) => [column.step > step ? "is-later" : column.step === step ? "is-now" : "is-past", column.stays && "stays"].filter(Boolean).join(" ");
  const head = h("tr", null, h("th", { scope: "col" }, t("key")), columns.map((column) => h("th", { scope: "col", class: [when(column), column.step === 4 && "is-left"].filter(Boolean).join(" ") }, column.title)));
  const lines = keys.map((key) =>
    h(
      "tr",
      { class: row.allowed[key] || step < 2 ? null : "is-outside" },
      h("th", { scope: "row" }, wordElement(map.keys.labels[key], map.keys)),
      columns.map((column) => h("td", { class: when(column) }, column.cell(key))),
    ),
  );
  const foot = h("tr", null, h("th", { scope: "row" }, t("sum")), columns.map((column) => h("td", { class: when(column) }, column.sum)));
  return h("table", { class: `steps-table${isNew ? " is-new" : ""}` }, h("thead", null, head), h("tbody", null, lines), h("tfoot", { hidden: step < 3 }, foot));
}

/**
 * The columns that the record has numbers for: from which step on, what each key has, and the sum.
 * @param {AttentionMap} map @param {QueryRow} row @param {State} state
 */
function columnsOf(map, row, state) {
  const { name, temperature } = parseNormalizer(row.normalizer);
  const exps = row.scores && name === "softmax" ? exponentials(row.scores, row.allowed, temperature) : null;
  const mostScore = row.scores ? largestSize(row.scores) : 1;
  const mostWeight = largestSize(row.weights);
  const { scores, factor, values } = row;
  /** @type {(Column|null)[]} */
  const columns = [
    scores && { step: 1, title: t("score"), cell: (key) => scoreBar(scores[key], mostScore) },
    { step: 2, title: t("in the region"), cell: (key) => allowedMark(row.allowed[key]) },
    exps && { step: 3, title: temperature === 1 ? t("exp(score − max)") : t("exp((score − max) / τ)"), cell: (key) => numberText(exps[key], 3), sum: numberText(sumOf(exps), 3) },
    factor && { step: 3, title: t("factor"), cell: (key) => numberText(factor[key], 3) },
    { step: 3, stays: true, title: t("weight"), cell: (key) => weightBar(row.weights[key], mostWeight, numberText(row.weights[key], 3)), sum: numberText(sumOf(row.weights), 3) },
    ...(values ? valueColumns(map, row, values, mostWeight, state) : []),
  ];
  return columns.filter((column) => column !== null);
}

/**
 * @param {AttentionMap} map @param {QueryRow} row @param {Float32Array[]} values @param {number} mostWeight @param {State} state
 * @returns {Column[]}
 */
function valueColumns(map, row, values, mostWeight, state) {
  const most = largestSize(...values);
  /** @param {number} key */
  const weighted = (key) => values[key].map((x) => x * row.weights[key]);
  return [
    { step: 4, title: t("value"), cell: (key) => colourStrip(values[key], most, state, { signed: true, label: t("value of {key}", { key: map.keys.labels[key] }) }) },
    { step: 4, title: t("weight × value"), cell: (key) => colourStrip(weighted(key), most * mostWeight, state, { signed: true, label: t("weighted value of {key}", { key: map.keys.labels[key] }) }), sum: weightedSum(row.weights, values, state) },
  ];
}

/** A bar to the left of the middle or to the right, and the number. @param {number} score @param {number} most */
function scoreBar(score, most) {
  const share = Number.isFinite(score) ? (50 * Math.abs(score)) / (most || 1) : 0;
  const side = score < 0 ? { right: "50%" } : { left: "50%" };
  return h("span", { class: "steps-score" }, h("span", null, h("i", { class: score < 0 ? "is-negative" : null, style: { width: `${share}%`, ...side } })), h("b", null, numberText(score)));
}

/** @param {boolean} open */
function allowedMark(open) {
  return open ? h("span", { "aria-label": t("inside") }, "✓") : h("span", { class: "steps-outside" }, t("outside"));
}

/** Σ w v as a strip; opened, its numbers. @param {Float32Array} weights @param {Float32Array[]} values @param {State} state */
function weightedSum(weights, values, state) {
  const sum = new Float32Array(values[0].length);
  values.forEach((value, key) => value.forEach((x, at) => (sum[at] += weights[key] * x)));
  const numbers = h("div", { class: "steps-numbers" }, Array.from(sum, (x, at) => h("span", null, h("i", null, at + 1), numberText(x, 3))));
  return h(
    "details",
    { class: "steps-sum" },
    h("summary", { "data-focus": "steps-sum" }, colourStrip(sum, largestSize(sum), state, { signed: true, label: t("the sum of the weighted values") }), h("span", null, t("its {n} numbers", { n: sum.length }))),
    numbers,
  );
}
