// What the panels compute from rows of weights: plain numbers in, plain numbers out, no page.

import { entropyOf } from "../record/aggregation.js";

/** Σ w @param {ArrayLike<number>} row */
export function sumOf(row) {
  let sum = 0;
  for (let at = 0; at < row.length; at++) sum += row[at];
  return sum;
}

/** ½ Σ |a − b| @param {ArrayLike<number>} one @param {ArrayLike<number>} other */
export function totalVariation(one, other) {
  let sum = 0;
  for (let at = 0; at < one.length; at++) sum += Math.abs(one[at] - other[at]);
  return sum / 2;
}

/**
 * One row of a matrix that is stored row by row.
 * @param {{data: Float32Array, cols: number}} matrix @param {number} row
 */
export function rowOf(matrix, row) {
  return matrix.data.subarray(row * matrix.cols, (row + 1) * matrix.cols);
}

/**
 * The mean of the numbers that there are; NaN of none.
 * @param {ArrayLike<number | null>} numbers
 */
export function meanOf(numbers) {
  const there = Array.from(numbers).filter((x) => x !== null).filter(Number.isFinite);
  return there.length ? sumOf(there) / there.length : NaN;
}

/**
 * What each row and each column of a map says of itself.
 * @param {{data: Float32Array, rows: number, cols: number}} matrix
 * @param {(col: number) => boolean} isSpecial
 */
export function readingsOf(matrix, isSpecial) {
  const coverage = new Float64Array(matrix.cols);
  const queries = [];
  for (let row = 0; row < matrix.rows; row++) {
    const weights = rowOf(matrix, row);
    const entropy = entropyOf(weights);
    let special = 0;
    for (let col = 0; col < matrix.cols; col++) {
      coverage[col] += weights[col];
      if (isSpecial(col)) special += weights[col];
    }
    queries.push({ entropy, width: Math.exp(entropy), special });
  }
  return { queries, coverage };
}

/**
 * Attention rollout (Abnar and Zuidema 2020): R = Â^L … Â^1, Â = rownorm(½ (mean over heads + I)).
 * @param {(layer: number, head: number) => Float32Array} weights of one head, (n, n) row by row
 * @param {number} layers @param {number} heads @param {number} n
 */
export function rollout(weights, layers, heads, n) {
  let rolled = identity(n);
  for (let layer = 0; layer < layers; layer++) {
    const step = identity(n);
    for (let head = 0; head < heads; head++) {
      const one = weights(layer, head);
      for (let at = 0; at < n * n; at++) step[at] += one[at] / heads;
    }
    for (let row = 0; row < n; row++) {
      const sum = sumOf(step.subarray(row * n, (row + 1) * n));
      for (let col = 0; col < n; col++) step[row * n + col] /= sum;
    }
    rolled = product(step, rolled, n);
  }
  return rolled;
}

/** @param {number} n */
function identity(n) {
  const made = new Float32Array(n * n);
  for (let at = 0; at < n; at++) made[at * (n + 1)] = 1;
  return made;
}

/** @param {Float32Array} left @param {Float32Array} right @param {number} n */
function product(left, right, n) {
  const made = new Float32Array(n * n);
  for (let row = 0; row < n; row++) {
    for (let mid = 0; mid < n; mid++) {
      const by = left[row * n + mid];
      for (let col = 0; col < n; col++) made[row * n + col] += by * right[mid * n + col];
    }
  }
  return made;
}

/**
 * 0.4231 -> "0.42"; what would be shown as 0 without being it is "≈0".
 * @param {number | null} x @param {number} digits
 */
export function numberText(x, digits = 2) {
  if (x === null || x === undefined || Number.isNaN(x)) return "–";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  const size = Math.abs(x);
  if (size > 0 && size < 0.5 * 10 ** -digits) return "≈0";
  return (x < 0 ? "−" : "") + size.toFixed(digits);
}
