import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { inCommonWords, pairsOf } from "../../../src/regard/view/page/panels/compare/common_words.js";
import { isBefore } from "../../../src/regard/view/page/panels/compare/compare_question.js";
import { haveTwoOutputs, otherOf, whoseOutput } from "../../../src/regard/view/page/panels/compare/compare_sides.js";
import { ScoredOutputs, logProbability } from "../../../src/regard/view/page/panels/compare/scored_outputs.js";

/** An axis of tokens as they stand in a text, one after the other; a token in parentheses has no place in it. */
function axisOf(text, ...labels) {
  const characters = Array.from(text);
  let at = 0;
  const offsets = labels.map((label) => {
    if (/^\(.+\)$/.test(label)) return [0, 0];
    while (characters[at] === " ") at += 1;
    const start = at;
    at += Array.from(label).length;
    return [start, at];
  });
  const side = { text, characters, offsets, tokens: labels, special: labels.map(() => false) };
  return { side, members: labels.map((_, n) => [n]), labels };
}

/** @param {[string, string[], number[][]]} given */
function givenAxis([text, labels, offsets]) {
  const side = { text, characters: Array.from(text), offsets, tokens: labels, special: labels.map(() => false) };
  return { side, members: labels.map((_, n) => [n]), labels };
}

/** @param {ReturnType<typeof axisOf>} rows @param {ReturnType<typeof axisOf>} cols @param {number[][]} weights */
function matrixOf(rows, cols, weights) {
  return {
    data: Float32Array.from(weights.flat()),
    rows: rows.labels.length,
    cols: cols.labels.length,
    rowTokens: rows.labels,
    colTokens: cols.labels,
    rowMembers: rows.members,
    colMembers: cols.members,
    rowSide: rows.side,
    colSide: cols.side,
  };
}

const CASES = JSON.parse(readFileSync(new URL("common_words.json", import.meta.url), "utf8")); // Python is held to them as well

for (const { what, one, other, pairs } of CASES) {
  test(what, () => assert.deepEqual(pairsOf(givenAxis(one), givenAxis(other)), pairs));
}

test("weights of pieces are sums over keys and means over the tokens of queries", () => {
  const left = matrixOf(axisOf("ab", "a", "b"), axisOf("xy", "x", "y"), [[0.25, 0.75], [0.75, 0.25]]);
  const right = matrixOf(axisOf("ab", "ab"), axisOf("xy", "xy"), [[1]]);
  const common = inCommonWords(left, right);
  assert.deepEqual([...common.left.data], [1]);
  assert.deepEqual(common.left.rowTokens, ["ab"]);
  assert.deepEqual(common.alone, { rows: [0, 0], cols: [0, 0] });
  const wide = matrixOf(axisOf("ab", "a", "b"), axisOf("xy", "xy"), [[0.5], [1]]);
  assert.deepEqual([...inCommonWords(wide, right).left.data], [0.75]);
});

test("what only one has is counted, and nothing in common is no difference", () => {
  const left = matrixOf(axisOf("a b", "a", "b"), axisOf("x", "x"), [[1], [0.5]]);
  const right = matrixOf(axisOf("b c d", "b", "c", "d"), axisOf("x", "x"), [[0.25], [1], [1]]);
  const common = inCommonWords(left, right);
  assert.deepEqual(common.alone, { rows: [1, 2], cols: [0, 0] });
  assert.deepEqual([...common.left.data, ...common.right.data], [0.5, 0.25]);
  assert.equal(inCommonWords(left, matrixOf(axisOf("c", "c"), axisOf("x", "x"), [[1]])), null);
});

const translation = (model, output, question = {}) => ({
  model,
  output,
  title: "我",
  changes: [],
  question: { text: "我", ...question },
  sides: { target: {} },
  maps: [{ name: "cross", keys: { picture: null } }],
});

test("outputs are given to the other where they differ, the left’s until somebody says", () => {
  const [one, other] = [translation("a", "I"), translation("b", "Me")];
  assert.equal(haveTwoOutputs(one, other), true);
  assert.equal(haveTwoOutputs(one, { ...other, output: "I" }), false);
  assert.equal(haveTwoOutputs(one, translation("b", "Me", { text: "你" })), false);
  const whose = (state) => whoseOutput({ record: one, state }, other);
  assert.deepEqual([{}, { "compare-output": "right" }, { "compare-output": "own" }, { "compare-output": "garbage" }].map(whose), ["left", "right", "own", "left"]);
});

test("an output is asked for once, and taken from the page where it is", async () => {
  const [one, other] = [translation("a", "I"), translation("b", "Me")];
  const asked = [];
  let heard = 0;
  const scored = new ScoredOutputs(() => (heard += 1));
  const context = {
    records: [one, other],
    scored: [],
    abilities: new Set(["ask"]),
    questionOf: (record) => ({ text: "我", model: record.model, prefix: "M" }),
    look: (question) => {
      asked.push(question);
      return Promise.resolve(translation("b", "I", { target: "I" }));
    },
  };
  assert.deepEqual(scored.of(context, other, "I"), { waiting: true });
  assert.deepEqual(scored.of(context, other, "I"), { waiting: true });
  await Promise.resolve();
  await Promise.resolve();
  assert.deepEqual([asked.length, heard], [1, 1]);
  assert.deepEqual([asked[0].model, asked[0].target, asked[0].prefix], ["b", "I", ""], "a beginning goes with its own output");
  assert.equal(scored.of(context, other, "I").record.output, "I");
  const kept = translation("b", "I", { target: "I" });
  const still = new ScoredOutputs(() => {});
  assert.equal(still.of({ ...context, abilities: new Set(), scored: [kept] }, other, "I").record, kept);
  assert.deepEqual(still.of({ ...context, abilities: new Set() }, one, "Me"), {});
});

test("where nobody has chosen, each record is shown as it is best shown", () => {
  const record = (shown) => ({ maps: [], map: () => ({ name: "cross", L: 2, H: 2, shown }) });
  const records = [record(["mean", "mean"]), record([1, "mean"])];
  const context = { records, record: records[0], state: { map: "", layer: "mean", head: "mean" } };
  const { layer, head } = otherOf({ ...context, auto: true });
  assert.deepEqual([layer, head], [1, "mean"]);
  assert.equal(otherOf({ ...context, auto: false }).layer, "mean");
});

test("what the model does by itself comes before what was changed", () => {
  const plain = translation("a", "I");
  const changed = { ...plain, changes: ["forced: I → 你"] };
  assert.deepEqual([isBefore(plain, changed), isBefore(changed, plain), isBefore(plain, plain)], [true, false, false]);
  assert.equal(isBefore({ ...plain, model: "b" }, changed), false);
});

test("log p is that of the best hypothesis", () => {
  assert.equal(logProbability({ beam: { nodes: [{ rank: 1, total: -9 }, { rank: 0, total: -2 }] } }), -2);
  assert.equal(logProbability({ beam: null }), null);
  assert.equal(logProbability(undefined), null);
});
