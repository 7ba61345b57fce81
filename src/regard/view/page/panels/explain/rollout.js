// Attention rollout, computed on this page where the record brings none.

import { rollout } from "../row_numbers.js";
import { t } from "../../words/messages.js";

/** @typedef {import("../../record/record.js").AttentionMap} AttentionMap */

const MOST_TOKENS = 256; // tokens; n³ multiplications for each layer

/** @type {WeakMap<object, Float32Array>} of each map, made once */
const ROLLED = new WeakMap();

/**
 * An explanation like those of a record, or null: only for stacks of self-attention.
 * @param {Pick<import("../../record/record.js").AttentionRecord, "explanations">} record @param {AttentionMap} map
 * @returns {import("../../record/record.js").Explanation|null}
 */
export function rolloutExplanation(record, map) {
  const isStack = map.queries === map.keys && map.L >= 2 && map.K <= MOST_TOKENS;
  const brought = record.explanations.some((each) => each.name === "rollout" && each.map === map.name);
  if (!isStack || brought) return null;
  const matrix = ROLLED.get(map) ?? rolledWeights(map);
  ROLLED.set(map, matrix);
  return {
    name: "rollout",
    title: t("attention rollout, computed on this page"),
    reading: t("Through all {n} layers, with the residual path as half of each: the product of ½ (mean over heads + I). It knows nothing of values and of what lies between the layers.", { n: map.L }),
    map: map.name,
    matrix,
    rows: {},
    signed: false,
  };
}

/** @param {AttentionMap} map */
function rolledWeights(map) {
  const size = map.Q * map.K;
  /** @param {number} layer @param {number} at */
  const head = (layer, at) => map.weights.subarray((layer * map.H + at) * size, (layer * map.H + at + 1) * size);
  return rollout(head, map.L, map.H, map.K);
}
