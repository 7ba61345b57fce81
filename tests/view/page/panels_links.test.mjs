import assert from "node:assert/strict";
import test from "node:test";

import { recordNames, otherOf, comparePanel, whyNoDifference } from "../../../src/regard/view/page/panels/compare/compare_panel.js";
import { linkedWish } from "../../../src/regard/view/page/panels/compare/compare_question.js";
import { rolloutExplanation } from "../../../src/regard/view/page/panels/explain/rollout.js";
import { matrixSize } from "../../../src/regard/view/page/panels/small_matrix.js";
import { cellWeights } from "../../../src/regard/view/page/panels/picture_panel.js";
import { queryRow } from "../../../src/regard/view/page/panels/steps/steps_panel.js";
import { csvText, strongestLinks, sortedLinks } from "../../../src/regard/view/page/panels/table_panel.js";

const matrix = { data: Float32Array.of(0.125, 0.5, 0.375, 0.75, 0, 0.25), rows: 2, cols: 3 };

test("the table has the strongest keys of each query, and no empty links", () => {
  const links = strongestLinks(matrix, 2).map(({ row, col }) => [row, col]);
  assert.deepEqual(links, [[0, 1], [0, 2], [1, 0], [1, 2]]);
  assert.equal(strongestLinks(matrix, 3).length, 5, "a weight of 0 is no link");
});

test("links sort by each column, both ways", () => {
  const links = strongestLinks(matrix, 3);
  assert.deepEqual(sortedLinks(links, "weight", true).map((link) => link.weight), [0.75, 0.5, 0.375, 0.25, 0.125]);
  assert.deepEqual(sortedLinks(links, "col", false).map((link) => link.col), [0, 0, 1, 2, 2]);
});

test("CSV quotes what has to be quoted, and disarms formulas", () => {
  assert.equal(csvText([["a", 0.5]]), "a,0.5\r\n");
  assert.equal(csvText([['say "hi", you']]), '"say ""hi"", you"\r\n');
  assert.equal(csvText([["=HYPERLINK(1)", "-", -1]]), "'=HYPERLINK(1),-,-1\r\n");
  assert.equal(csvText([["=\n1+1"]]), "\"'=\n1+1\"\r\n");
});

test("two matrices have a difference only on the same axes, and the reason names the first that is not", () => {
  const axes = { rowTokens: ["I", "am"], colTokens: ["我"] };
  assert.equal(whyNoDifference(axes, { ...axes }), null);
  assert.match(whyNoDifference(axes, { ...axes, rowTokens: ["I"] }), /queries are 2 on the left and 1/);
  assert.match(whyNoDifference(axes, { ...axes, colTokens: ["你"] }), /keys differ: “我” on the left, “你”/);
});

const recordWith = (...maps) => ({ maps, map: (name) => maps.find((map) => map.name === name) ?? maps[0] });
const mapOf = (name, L, H) => ({ name, L, H });

test("alone, a mean is compared with the last layer, and one layer with the mean", () => {
  const record = recordWith(mapOf("cross", 3, 4));
  const other = (state) => otherOf({ records: [record], record, state: { map: "", layer: "mean", head: "mean", ...state } });
  assert.deepEqual([other({}).layer, other({}).head], [2, "mean"]);
  assert.equal(other({ layer: 1 }).layer, "mean");
  assert.equal(other({ "compare-layer": "0" }).layer, 0, "what a link says is a text");
});

test("beside another record, the same map, layer and head", () => {
  const records = [recordWith(mapOf("cross", 3, 4)), recordWith(mapOf("cross", 3, 4))];
  const other = otherOf({ records, record: records[1], state: { map: "cross", layer: 1, head: 2 } });
  assert.deepEqual([other.at, other.layer, other.head], [0, 1, 2]);
  assert.equal(comparePanel.available({ records, record: records[0] }), true);
});

test("two records are called by what tells them apart", () => {
  const record = { model: "rnn", title: "我", changes: [] };
  assert.deepEqual(recordNames(record, { ...record, model: "transformer" }), ["rnn: ", "transformer: "]);
  assert.deepEqual(recordNames(record, { ...record, title: "你" }), ["我: ", "你: "]);
  assert.deepEqual(recordNames(record, { ...record, changes: ["forced: a → b"] }), ["as the model does it: ", "forced: a → b: "]);
  assert.deepEqual(recordNames(record, { ...record }), ["left: ", "right: "]);
  assert.deepEqual(recordNames(record, record), ["", ""]);
});

test("one record of one head has nothing to be compared with", () => {
  const record = recordWith(mapOf("cross", 1, 1));
  const context = { records: [record], record, abilities: new Set() };
  assert.match(comparePanel.available(context), /nothing to compare/);
  assert.equal(comparePanel.available({ ...context, abilities: new Set(["ask"]) }), true);
});

test("a link may wish for another sentence, another model or both", () => {
  const record = { question: { text: "我" } };
  assert.equal(linkedWish({ state: { model: "a" }, record }), null);
  assert.deepEqual(linkedWish({ state: { model: "a", "compare-text": "你" }, record }), { text: "你", model: "a" });
  assert.deepEqual(linkedWish({ state: { model: "a", "compare-model": "b" }, record }), { text: "我", model: "b" });
});

test("marks among the keys are no cells of the picture", () => {
  const cells = cellWeights([0.5, 0.25, 0.125, 0.125], [true, false, false, false], 4);
  assert.deepEqual([...cells], [0.25, 0.125, 0.125, 0]);
});

test("a row of the steps is that of its layer, head and query", () => {
  const numbers = (count) => Float32Array.from({ length: count }, (_, at) => at);
  const map = { L: 2, H: 2, Q: 3, K: 2, D: 2, weights: numbers(24), scores: numbers(24), factor: null, values: numbers(16), allowed: (l, n, q, k) => k <= q - 1, normalizer: "softmax" };
  const row = queryRow(map, 1, 0, 2);
  assert.deepEqual([...row.weights], [16, 17]);
  assert.deepEqual(row.values.map((value) => [...value]), [[8, 9], [10, 11]]);
  assert.deepEqual(queryRow(map, 0, 0, 1).allowed, [true, false]);
});

test("rollout is for stacks of self-attention that bring none", () => {
  const side = {};
  const stack = { name: "encoder", queries: side, keys: side, L: 2, H: 1, Q: 1, K: 1, weights: Float32Array.of(1, 1) };
  assert.deepEqual([...rolloutExplanation({ explanations: [] }, stack).matrix], [1]);
  assert.equal(rolloutExplanation({ explanations: [{ name: "rollout", map: "encoder" }] }, stack), null);
  assert.equal(rolloutExplanation({ explanations: [] }, { ...stack, keys: {} }), null);
  assert.equal(rolloutExplanation({ explanations: [] }, { ...stack, L: 1 }), null);
});

test("a matrix fits its space, and drops its words where there is no room for them", () => {
  const words = (count) => Array.from({ length: count }, () => "word");
  for (const count of [3, 30, 300]) {
    const size = matrixSize({ rows: count, cols: count, rowTokens: words(count), colTokens: words(count) }, 400);
    assert.ok(size.left + size.width <= 400.001, `${count}: ${size.left + size.width}`);
    assert.equal(size.labelled, count < 300);
  }
});
