import assert from "node:assert/strict";
import { test } from "node:test";
import { entropies } from "../../../src/regard/view/page/record/aggregation.js";
import { orderOfHeads } from "../../../src/regard/view/page/stage/head_thumbnails.js";
import { readRecord } from "../../../src/regard/view/page/record/record.js";
import { speak } from "../../../src/regard/view/page/words/messages.js";

const close = (a, b, message) => assert.ok(Math.abs(a - b) < 1e-5, message ?? `${a} is not ${b}`);
const float32 = (shape, numbers) => ({ type: "float32", shape, data: Buffer.from(Float32Array.from(numbers).buffer).toString("base64") });

function side(tokens, words, special = tokens.map(() => 0)) {
  let end = 0;
  const offsets = tokens.map((token) => [end, (end += token.length)]);
  return { title: "", language: "", text: tokens.join(""), tokens, offsets, words, special, picture: null };
}

/** 2 layers, 2 heads, 3 queries, 4 keys; the last key is special. */
function sample({ allowed = null } = {}) {
  const random = (n) => ((Math.sin(n * 12.9898) * 43758.5453) % 1 + 1) % 1;
  const rows = Array.from({ length: 12 }, (_, row) => {
    const raw = Array.from({ length: 4 }, (_, key) => random(row * 4 + key + 1) + 0.01);
    const sum = raw.reduce((a, b) => a + b);
    return raw.map((weight) => weight / sum);
  });
  return {
    format: "regard.attention/1",
    sides: { source: side(["ab", "cd", "e", "(end)"], [0, 0, 1, 2], [0, 0, 0, 1]), target: side(["x", "y", "z"], [0, 0, 1]) },
    maps: [{ name: "cross", queries: "target", keys: "source", layers: ["1", "2"], weights: float32([2, 2, 3, 4], rows.flat()), allowed }],
  };
}
const tokens = { layer: 0, head: 0, units: "tokens", specials: true };

test("one head of one layer is the weights as they are", () => {
  const record = readRecord(sample());
  const matrix = record.matrix("cross", { ...tokens, layer: 1, head: 1 });
  assert.deepEqual([...matrix.data], [...record.maps[0].weights.slice(36, 48)]);
  assert.equal(matrix.title, "cross-attention · layer 2 · head 2");
});

test("attention of the answer, which is no text, is over the text", () => {
  const given = sample();
  given.sides.target.title = "label";
  given.sides.source.title = "review";
  const { title } = readRecord(given).matrix("cross", { ...tokens, layer: 1, head: 1 });
  assert.equal(title, "attention over the review · layer 2 · head 2");
});

test("words: the sum over keys, the mean over queries, and rows sum to what they did", () => {
  const record = readRecord(sample());
  const [plain, merged] = ["tokens", "words"].map((units) => record.matrix("cross", { ...tokens, units }));
  close(merged.data[0], (plain.data[0] + plain.data[1] + plain.data[4] + plain.data[5]) / 2);
  for (let row = 0; row < 2; row++) close(merged.data.slice(row * 3, row * 3 + 3).reduce((a, b) => a + b), 1);
  assert.deepEqual(merged.colTokens, ["abcd", "e", "(end)"]);
  assert.deepEqual(merged.rowMembers, [[0, 1], [2]]);
  assert.match(merged.title, /words: sum over keys, mean over queries/);
});

test("hidden special tokens take their weights with them, and the title says so", () => {
  const record = readRecord(sample());
  const [all, some] = [true, false].map((specials) => record.matrix("cross", { ...tokens, specials }));
  assert.equal(some.cols, 3);
  for (let row = 0; row < 3; row++) {
    for (let col = 0; col < 3; col++) assert.equal(some.data[row * 3 + col], all.data[row * 4 + col]);
    close(some.hidden[row], all.data[row * 4 + 3]);
    close(some.missing[row], 0);
  }
  assert.match(some.title, /special tokens hidden, weights as they were/);
  assert.doesNotMatch(all.title, /hidden/);
});

test("mean and maximum are over heads first, then over layers", () => {
  const record = readRecord(sample());
  const at = (layer, head) => record.matrix("cross", { ...tokens, layer, head }).data;
  close(at("mean", "mean")[5], (at(0, 0)[5] + at(0, 1)[5] + at(1, 0)[5] + at(1, 1)[5]) / 4);
  close(at("mean", "max")[5], (Math.max(at(0, 0)[5], at(0, 1)[5]) + Math.max(at(1, 0)[5], at(1, 1)[5])) / 2);
  const { title, missing } = record.matrix("cross", { ...tokens, layer: "mean", head: "max" });
  assert.equal(title, "cross-attention · mean over 2 layers · max over 2 heads");
  assert.equal(missing, null, "a maximum need not sum to 1");
});

test("a pair of words is forbidden only where all its tokens are", () => {
  const bits = Array.from({ length: 48 }, (_, n) => (n % 12 === 1 || n % 4 === 2 ? 1 : 0)); // key 1 for query 0; key 2
  const bytes = Array.from({ length: 6 }, (_, n) => parseInt(bits.slice(8 * n, 8 * n + 8).join(""), 2));
  const allowed = { type: "bits", shape: [2, 2, 3, 4], data: Buffer.from(bytes).toString("base64") };
  const record = readRecord(sample({ allowed }));
  assert.deepEqual([...record.matrix("cross", { ...tokens, units: "words" }).allowed], [1, 1, 0, 0, 1, 0]);
  assert.equal(record.maps[0].allowed(1, 1, 0, 1), true);
  assert.equal(record.maps[0].allowed(1, 1, 1, 1), false);
  assert.equal(readRecord(sample()).matrix("cross", tokens).allowed, undefined);
});

test("an unknown map is the first, an unknown format is refused", () => {
  assert.equal(readRecord(sample()).map("nosuch").name, "cross");
  for (const given of [{ ...sample(), format: "regard.attention/99" }, {}, null, "text"]) assert.throws(() => readRecord(given), /regard.attention\/1/);
});

test("heads sorted by entropy begin with the most focused", () => {
  const weights = Float32Array.from([0.5, 0.5, 1, 0, 0.9, 0.1]);
  const map = { L: 1, H: 3, Q: 1, K: 2, weights };
  assert.deepEqual(orderOfHeads(map, "entropy"), [1, 2, 0]);
  assert.deepEqual(orderOfHeads(map, "place"), [0, 1, 2]);
  close(entropies(map)[0], Math.log(2));
});

test("layers of other libraries are called in the reader’s language", () => {
  const given = sample();
  given.maps[0].layers = ["cross 2", "block 1"];
  speak({ "cross {n}": "交叉 {n}" }, "zh");
  const { layers } = readRecord(given).maps[0];
  speak(null);
  assert.deepEqual(layers, ["交叉 2", "block 1"]);
});
