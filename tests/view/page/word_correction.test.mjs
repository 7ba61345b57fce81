import assert from "node:assert/strict";
import { test } from "node:test";

import { readRecord } from "../../../src/regard/view/page/record/record.js";
import { correctedRecord, joinedAfter, readCorrections, signOf, splitAt, withWords } from "../../../src/regard/view/page/record/word_correction.js";

const weights = { type: "float32", shape: [1, 1, 5, 5], data: Buffer.from(new Float32Array(25).fill(0.2).buffer).toString("base64") };
const source = {
  text: "他去图书",
  language: "zh",
  tokens: ["他", "去", "图", "书", "(end)"],
  offsets: [[0, 1], [1, 2], [2, 3], [3, 4], [4, 4]],
  words: [0, 1, 2, 3, 4],
  special: [0, 0, 0, 0, 1],
};
const given = { format: "regard.attention/1", sides: { source }, maps: [{ name: "encoder", queries: "source", keys: "source", weights }] };

/** @param {number[]} starts */
const corrected = (starts) => readRecord(correctedRecord(given, { source: { of: signOf(source), starts } })).sides.source;

test("words that were corrected are taken as they are", () => {
  assert.deepEqual(corrected([0, 1, 2, 3, 4]).groups, [[0], [1], [2], [3], [4]]); // no segmenter joins them
  assert.deepEqual(corrected([0, 2, 4]).groups, [[0, 1], [2, 3], [4]]);
  assert.equal(corrected([0, 2, 4]).corrected, true);
});

test("a word is joined with the next, but not with a mark", () => {
  const side = corrected([0, 1, 2, 3, 4]);
  assert.deepEqual(joinedAfter(side, 2), [0, 1, 2, 4]);
  assert.equal(joinedAfter(side, 3), null);
  assert.equal(joinedAfter(side, 4), null);
  assert.deepEqual(joinedAfter(corrected([0, 1, 2, 4]), 0), [0, 2, 4]);
});

test("a word is split into its tokens", () => {
  assert.deepEqual(splitAt(corrected([0, 2, 4]), 3), [0, 2, 3, 4]);
  assert.equal(splitAt(corrected([0, 1, 2, 3, 4]), 3), null);
});

test("corrections of other tokens change nothing", () => {
  assert.equal(correctedRecord(given, {}), given);
  assert.equal(correctedRecord(given, { source: { of: "5.1", starts: [0] } }), given);
  assert.equal(correctedRecord(given, { target: { of: signOf(source), starts: [0] } }), given);
});

test("the record that is exported has the corrected words, and the old one keeps its own", () => {
  const made = correctedRecord(given, { source: { of: signOf(source), starts: [0, 1, 2, 4] } });
  assert.deepEqual(made.sides.source.words, [0, 1, 2, 2, 3]);
  assert.deepEqual(given.sides.source.words, [0, 1, 2, 3, 4]);
});

test("corrections go and come with a link, and garbage does not", () => {
  const side = corrected([0, 2, 4]);
  const all = withWords({}, side, [0, 2, 4]);
  assert.deepEqual(readCorrections(JSON.stringify(all)), all);
  assert.deepEqual(withWords(all, side, null), {});
  for (const garbage of ["", "{", "[]", "{}", "null", '{"source":1}', '{"source":{"of":1,"starts":[]}}', '{"source":{"of":"","starts":[-1]}}']) {
    assert.equal(readCorrections(garbage), undefined);
  }
});
