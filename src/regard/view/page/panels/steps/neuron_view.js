// Where a score comes from: the query and a key, number by number, and what is added up of them.

import { h } from "../../elements/dom.js";
import { numberText, sumOf } from "../row_numbers.js";
import { colourStrip, largestSize, wordElement } from "../panel_parts.js";
import { t } from "../../words/messages.js";

/** @typedef {import("../../record/record.js").AttentionMap} AttentionMap */
/** @typedef {import("../../host/view_state.js").State} State */
/** @typedef {import("./recomputed_weights.js").QueryRow} QueryRow */

export const NEAR = 1e-3; // of a score: what rounding does

/**
 * q ⊙ k of two vectors, of an additive score v ⊙ tanh(q + k), and what their sum lacks to the score: a bias.
 * @param {ArrayLike<number>} asking @param {ArrayLike<number>} key @param {number|null} score @param {ArrayLike<number>|null} [vector]
 */
export function products(asking, key, score, vector = null) {
  const product = Float32Array.from(asking, (x, at) => (vector ? vector[at] * Math.tanh(x + key[at]) : x * key[at]));
  const sum = sumOf(product);
  return { product, sum, bias: score === null ? 0 : score - sum };
}

/**
 * A table of strips; null where the record has no vectors.
 * @param {AttentionMap} map @param {QueryRow & {query?: number}} row @param {number[]} keys that are shown @param {State} state
 */
export function neuronView(map, row, keys, state) {
  const { asking, keys: vectors, scores, vector = null } = row;
  if (!asking || !vectors || keys.length === 0) return null;
  const made = keys.map((key) => ({ key, ...products(asking, vectors[key], scores ? scores[key] : null, vector) }));
  const biased = made.some(({ bias }) => Math.abs(bias) > NEAR * Math.max(1, largestSize(scores ?? [])));
  const [mostAsked, mostKey, mostProduct] = [largestSize(asking), largestSize(...keys.map((key) => vectors[key])), largestSize(...made.map(({ product }) => product))];
  const query = map.queries.labels[row.query ?? 0];
  /** @param {ArrayLike<number>} numbers @param {number} most @param {string} label */
  const strip = (numbers, most, label) => colourStrip(numbers, most, state, { signed: true, label });
  const heads = [t("key"), t("k"), vector ? t("v ⊙ tanh(q + k)") : t("q ⊙ k"), t("sum"), ...(biased ? [t("bias")] : [])];
  const how = vector
    ? t("A score is the sum of v ⊙ tanh(q + k) over {n} numbers; v belongs to the attention, and q and k are projected as it does it.", { n: asking.length })
    : t("A score is the sum of q ⊙ k over {n} numbers, the query scaled as the model does it.", { n: asking.length });
  /** @param {string} key */
  const summed = (key) => (vector ? t("summands of the score of {key}", { key }) : t("products with {key}", { key }));
  const lines = made.map(({ key, product, sum, bias }) =>
    h(
      "tr",
      null,
      h("th", { scope: "row" }, wordElement(map.keys.labels[key], map.keys)),
      h("td", null, strip(vectors[key], mostKey, t("key vector of {key}", { key: map.keys.labels[key] }))),
      h("td", null, strip(product, mostProduct, summed(map.keys.labels[key]))),
      h("td", null, numberText(sum, 3)),
      biased ? h("td", null, numberText(bias, 3)) : null,
    ),
  );
  return h(
    "details",
    { class: "neuron-view", open: true },
    h("summary", { "data-focus": "neuron-view" }, t("Query and keys, number by number")),
    h("p", { class: "panel-hint" }, how),
    h("div", { class: "neuron-query" }, h("span", null, "q ", wordElement(query, map.queries)), strip(asking, mostAsked, t("query vector of {query}", { query }))),
    vector ? h("div", { class: "neuron-query" }, h("span", null, "v"), strip(vector, largestSize(vector), t("the vector v of the score"))) : null,
    h(
      "div",
      { class: "panel-scroll", tabindex: 0, role: "region", "aria-label": t("Query and keys, number by number") },
      h("table", { class: "steps-table" }, h("thead", null, h("tr", null, heads.map((head) => h("th", { scope: "col" }, head)))), h("tbody", null, lines)),
    ),
  );
}
