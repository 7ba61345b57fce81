import { largestMerged } from "../../../src/regard/view/page/panels/explain/explain_panel.js";
import assert from "node:assert/strict";
import test from "node:test";

import {
  meanOf,
  readingsOf,
  rollout,
  numberText,
  sumOf,
  totalVariation,
} from "../../../src/regard/view/page/panels/row_numbers.js";
import { products } from "../../../src/regard/view/page/panels/steps/neuron_view.js";
import {
  checkWeights,
  exponentials,
  parseNormalizer,
  recomputedWeights,
} from "../../../src/regard/view/page/panels/steps/recomputed_weights.js";

const near = (one, other, by = 1e-6) => assert.ok(Math.abs(one - other) <= by, `${one} ≠ ${other}`);

test("total variation is 0 of the same and 1 of disjoint rows", () => {
  near(totalVariation([0.2, 0.8], [0.2, 0.8]), 0);
  near(totalVariation([1, 0], [0, 1]), 1);
});

test("even weights are as wide as the row, one-hot weights are one wide", () => {
  const even = readingsOf({ data: new Float32Array(4).fill(0.25), rows: 1, cols: 4 }, () => false);
  near(even.queries[0].width, 4);
  const sharp = readingsOf({ data: Float32Array.of(0, 1, 0), rows: 1, cols: 3 }, () => false);
  near(sharp.queries[0].width, 1);
});

test("readings: coverage sums the columns, mass on marks is counted for each query", () => {
  const matrix = { data: Float32Array.of(0.5, 0.5, 0.1, 0.3), rows: 2, cols: 2 };
  const { queries, coverage } = readingsOf(matrix, (col) => col === 1);
  near(coverage[0], 0.6);
  near(queries[1].special, 0.3);
  near(queries[0].special, 0.5);
});

test("rollout of attention to oneself is the identity, and rows of any rollout sum to 1", () => {
  const identity = Float32Array.of(1, 0, 0, 1);
  assert.deepEqual([...rollout(() => identity, 3, 2, 2)], [1, 0, 0, 1]);
  const mixed = rollout((layer, head) => Float32Array.of(0.3, 0.7, head, 1 - head), 4, 2, 2);
  near(sumOf(mixed.subarray(0, 2)), 1);
  near(sumOf(mixed.subarray(2, 4)), 1);
});

test("rollout multiplies the later layer from the left", () => {
  const layers = [Float32Array.of(0, 1, 0, 1), Float32Array.of(1, 0, 1, 0)];
  // Â¹ = [[½, ½], [0, 1]], Â² = [[1, 0], [½, ½]]; Â² Â¹ = [[½, ½], [¼, ¾]]
  assert.deepEqual([...rollout((layer) => layers[layer], 2, 1, 2)], [0.5, 0.5, 0.25, 0.75]);
});

test("what a score adds up: products, or of an additive score v ⊙ tanh(q + k); the rest is a bias", () => {
  const dot = products([2, 3], [5, 7], 32);
  assert.deepEqual([...dot.product], [10, 21]);
  near(dot.bias, 1);
  const added = products([0.5, -1], [0.5, 1], null, [2, 9]);
  near(added.product[0], 2 * Math.tanh(1));
  assert.deepEqual([added.product[1], added.bias], [0, 0]);
});

test("means leave out what is undefined", () => {
  near(meanOf([1, null, NaN, 3]), 2);
  assert.ok(Number.isNaN(meanOf([null])));
});

test("numbers are short, with a true minus, and never −0", () => {
  assert.equal(numberText(0.4231), "0.42");
  assert.equal(numberText(-1.5, 1), "−1.5");
  assert.equal(numberText(-0), "0.00");
  assert.equal(numberText(-0.0004), "≈0");
  assert.equal(numberText(NaN), "–");
  assert.equal(numberText(-Infinity), "−∞");
});

const row = (normalizer, scores, weights, more = {}) => ({
  normalizer,
  scores: scores && Float32Array.from(scores),
  weights: Float32Array.from(weights),
  allowed: weights.map(() => true),
  factor: null,
  ...more,
});

test("a normaliser is read with its temperature", () => {
  assert.deepEqual(parseNormalizer("softmax(temperature=2)"), { name: "softmax", temperature: 2 });
  assert.deepEqual(parseNormalizer("gumbel(temperature=0.5)"), { name: "softmax", temperature: 0.5 });
  assert.equal(parseNormalizer("gumbel(straight_through=true)").name, "hard");
  assert.deepEqual(parseNormalizer("sparsemax"), { name: "sparsemax", temperature: 1 });
});

test("keys outside the region take no part in the softmax", () => {
  const scores = Float32Array.of(9, 1, 1);
  assert.deepEqual(exponentials(scores, [false, true, true], 1), [0, 1, 1]);
  const again = recomputedWeights(row("softmax", [9, 1, 1], [0, 0.5, 0.5], { allowed: [false, true, true] }));
  assert.deepEqual(again, [0, 0.5, 0.5]);
});

test("temperature flattens: softmax(ln 4 / 2, 0) = 2/3, 1/3", () => {
  const again = recomputedWeights(row("softmax(temperature=2)", [Math.log(4), 0], [0, 0]));
  near(again[0], 2 / 3);
});

test("sparsemax, raw, hard and uniform by their known answers", () => {
  assert.deepEqual(recomputedWeights(row("sparsemax", [3, 1, 0], [1, 0, 0])), [1, 0, 0]);
  const close = recomputedWeights(row("sparsemax", [0.5, 0.25, -2], [0, 0, 0]));
  near(close[0], 0.625);
  near(close[1], 0.375);
  assert.deepEqual(recomputedWeights(row("raw", [-2, 1], [0, 0])), [-2, 1]);
  assert.deepEqual(recomputedWeights(row("hard", [-2, 1], [0, 0])), [0, 1]);
  assert.deepEqual(recomputedWeights(row("uniform", null, [0, 0])), [0.5, 0.5]);
});

test("a row with no allowed key has no weight anywhere", () => {
  for (const name of ["softmax", "sparsemax", "raw", "hard", "uniform"]) {
    assert.deepEqual(recomputedWeights(row(name, [1, 2], [0, 0], { allowed: [false, false] })), [0, 0]);
  }
});

test("the check agrees, names the missing mass, and sees a foreign hand", () => {
  const right = checkWeights(row("softmax", [Math.log(3), 0], [0.75, 0.25]));
  assert.equal(right.agrees, true);
  assert.doesNotMatch(right.text, /sink/);
  const sunk = checkWeights(row("softmax", [Math.log(3), 0], [0.3, 0.1]));
  assert.equal(sunk.agrees, true);
  assert.match(sunk.text, /missing 0\.600 went to a sink/);
  assert.equal(checkWeights(row("softmax", [0, 0], [0.9, 0.1])).agrees, false);
});

test("a predicted window agrees whether it was renormalised or not", () => {
  const factor = Float32Array.of(1, 0.5);
  assert.equal(checkWeights(row("softmax", [0, 0], [0.5, 0.25], { factor })).agrees, true);
  assert.equal(checkWeights(row("softmax", [0, 0], [2 / 3, 1 / 3], { factor })).agrees, true);
});

test("without scores, the check says that they were not kept", () => {
  const unknown = checkWeights(row("softmax", null, [0.5, 0.5]));
  assert.equal(unknown.agrees, null);
  assert.match(unknown.text, /scores were not kept/);
});

test("losses of one word are not added up: the largest stands for it, whatever its sign", () => {
  const matrix = { rows: 1, cols: 2, rowMembers: [[0, 1]], colMembers: [[0, 1], [2]] };
  const merged = largestMerged(Float32Array.of(0.75, 0.5, -0.25, -1, 0.5, 0.25), 3, matrix);
  assert.deepEqual([...merged], [(0.75 - 1) / 2, 0]);
});
