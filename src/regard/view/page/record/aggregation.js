// One matrix out of layers × heads: one of them, their mean or their maximum; over heads first, then over layers.

/** @typedef {import("./record.js").AttentionMap} AttentionMap */
/** @typedef {import("./record.js").Chosen} Chosen */

/**
 * @param {{weights: Float32Array, L: number, H: number, Q: number, K: number}} map
 * @param {Chosen|"auto"} layer
 * @param {Chosen|"auto"} head
 * @returns {Float32Array} (Q, K)
 */
export function aggregate(map, layer, head) {
  const size = map.Q * map.K;
  /** @param {number} l @param {number} n */
  const plane = (l, n) => map.weights.subarray((l * map.H + n) * size, (l * map.H + n + 1) * size);
  /** @param {number} l */
  const ofLayer = (l) => reducePlanes(placesOf(head, map.H).map((n) => plane(l, n)), head);
  return reducePlanes(placesOf(layer, map.L).map(ofLayer), layer);
}

/**
 * Which pairs were allowed in any of the chosen layers and heads.
 * @param {AttentionMap} map @param {Chosen|"auto"} layer @param {Chosen|"auto"} head
 */
export function allowedPairs(map, layer, head) {
  const size = map.Q * map.K;
  const any = new Uint8Array(size);
  const { allowedBits } = map;
  if (!allowedBits) return any.fill(1);
  for (const l of placesOf(layer, map.L)) {
    for (const n of placesOf(head, map.H)) {
      const from = (l * map.H + n) * size;
      for (let pair = 0; pair < size; pair++) any[pair] |= allowedBits[from + pair];
    }
  }
  return any;
}

/** H = − Σ w log w of each head, averaged over its queries, in nats. @param {AttentionMap} map */
export function entropies(map) {
  const result = new Float32Array(map.L * map.H);
  const size = map.Q * map.K;
  for (let plane = 0; plane < result.length; plane++) {
    let sum = 0;
    for (let n = plane * size; n < (plane + 1) * size; n++) {
      const weight = map.weights[n];
      if (weight > 0) sum -= weight * Math.log(weight);
    }
    result[plane] = sum / map.Q;
  }
  return result;
}

/**
 * − Σ w log w of some weights, in nats; exp of it is how many keys are read effectively.
 * @param {Iterable<number>} weights
 */
export function entropyOf(weights) {
  let sum = 0;
  for (const weight of weights) if (weight > 0) sum -= weight * Math.log(weight);
  return sum;
}

/** @param {Chosen|"auto"} chosen @param {number} count */
function placesOf(chosen, count) {
  if (typeof chosen === "number") return [Math.min(chosen, count - 1)];
  return Array.from({ length: count }, (_, n) => n);
}

/** @param {Float32Array[]} planes @param {Chosen|"auto"} how */
function reducePlanes(planes, how) {
  if (planes.length === 1) return planes[0];
  const result = Float32Array.from(planes[0]);
  for (const plane of planes.slice(1)) {
    for (let n = 0; n < result.length; n++) {
      result[n] = how === "max" ? Math.max(result[n], plane[n]) : result[n] + plane[n];
    }
  }
  if (how === "mean") for (let n = 0; n < result.length; n++) result[n] /= planes.length;
  return result;
}
