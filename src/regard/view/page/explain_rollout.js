// Attention rollout, computed on this page where the record brings none.

import { panelRollout } from "./panel_numbers.js";

const EXPLAIN_MOST_ROLLED = 256; // tokens; n³ multiplications for each layer

/** @type {WeakMap<object, Float32Array>} of each map, made once */
const EXPLAIN_ROLLED = new WeakMap();

/**
 * An explanation like those of a record, or null: only for stacks of self-attention.
 * @param {any} record @param {any} map
 */
export function explainRollout(record, map) {
  const isStack = map.queries === map.keys && map.L >= 2 && map.K <= EXPLAIN_MOST_ROLLED;
  const brought = record.explanations.some((each) => each.name === "rollout" && each.map === map.name);
  if (!isStack || brought) return null;
  if (!EXPLAIN_ROLLED.has(map)) EXPLAIN_ROLLED.set(map, explainRolled(map));
  return {
    name: "rollout",
    title: "attention rollout, computed on this page",
    reading: `Through all ${map.L} layers, with the residual path as half of each: the product of ½ (mean over heads + I). It knows nothing of values and of what lies between the layers.`,
    map: map.name,
    matrix: EXPLAIN_ROLLED.get(map),
    rows: {},
    signed: false,
  };
}

function explainRolled(map) {
  const size = map.Q * map.K;
  const head = (layer, at) => map.weights.subarray((layer * map.H + at) * size, (layer * map.H + at + 1) * size);
  return panelRollout(head, map.L, map.H, map.K);
}
