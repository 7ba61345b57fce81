import assert from "node:assert/strict";
import { test } from "node:test";
import { readLevels, readOpen, shadeOf, strongestShades, weightText, writeOpen } from "../../../src/regard/view/page/record/levels.js";

/** @param {number[]} numbers */
const packed = (numbers) => ({ type: "float32", shape: [numbers.length], data: Buffer.from(new Float32Array(numbers).buffer).toString("base64") });

test("which sentences are open comes back from its text", () => {
  for (const open of [[], [false], [true], [true, true], [true, false, true, true, false], Array.from({ length: 1000 }, (_, n) => n % 2 === 0)]) {
    assert.deepEqual(readOpen(writeOpen(open), open.length), open);
    assert.ok(writeOpen(open).length <= 2000); // what a link keeps of one part
  }
  assert.equal(writeOpen([true, true, true, false, true]), "1-3.5");
  assert.equal(writeOpen([true, true]), "all");
  assert.equal(writeOpen([false]), "");
});

test("garbage opens nothing", () => {
  for (const text of ["", "x", "0", "9", "-3", "1e1", "9999999", undefined, null]) assert.deepEqual(readOpen(text, 2), [false, false]);
  assert.deepEqual(readOpen("2-99.x", 3), [false, true, true]);
  assert.deepEqual(readOpen("3-1", 3), [false, false, false]);
});

test("words of a sentence end with it, and their weights are summed", () => {
  const text = "Ab c.De";
  const words = {
    name: "document", title: "document", language: "", text, characters: Array.from(text), picture: null, rightToLeft: false,
    tokens: ["A", "b", "c", ".", "D", "e"], offsets: [[0, 1], [1, 2], [3, 4], [4, 5], [5, 6], [6, 7]],
    words: [0, 0, 1, 2, 2, 2], special: new Array(6).fill(false), groups: [[0, 1], [2], [3, 4, 5]], labels: ["A", "b", "c", ".", "D", "e"],
  };
  const sentences = { ...words, tokens: ["1 Ab c.", "2", "3 De"], offsets: [[0, 5], [5, 5], [5, 7]] };
  const given = { sentences: "s", words: "w", lengths: [4, 0, 2], sentence_weights: packed([0.25, 0.5, 0.25]), word_weights: packed([0.5, 0.25, 0.125, 0.125, 0.75, 0.25]) };
  const levels = readLevels(given, { s: sentences, w: words });
  const [first, empty, last] = levels.lines("words");
  assert.deepEqual(first.words.map((word) => [word.before, word.text, word.weight]), [["", "Ab", 0.75], [" ", "c", 0.125], ["", ".", 0.125]]);
  assert.equal(first.text, "Ab c.");
  assert.deepEqual([empty.text, empty.weight, empty.words], ["2", 0.5, []]);
  assert.deepEqual(last.words.map((word) => [word.text, word.weight]), [["De", 1]]);
  assert.equal(levels.lines("tokens")[0].words.length, 4);
  assert.equal(levels.lines("words"), levels.lines("words")); // made once
  assert.equal(shadeOf(first, first.words[0], "both"), 0.375);
  assert.equal(shadeOf(first, first.words[0], "word"), 0.75);
  assert.deepEqual(strongestShades([first, empty, last], "both"), [0.375, 0, 0.5]);
});

test("weights in a few characters", () => {
  assert.deepEqual([0, 1, 0.43, 0.0312, 0.0999, 0.0004, NaN].map(weightText), ["0.00", "1.00", "0.43", "0.031", "0.10", "<.001", "–"]);
});
