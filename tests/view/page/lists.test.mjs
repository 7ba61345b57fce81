import assert from "node:assert/strict";
import { test } from "node:test";

import { shortened } from "../../../src/regard/view/page/elements/shortened_text.js";
import { beforeChange } from "../../../src/regard/view/page/panels/beam/what_changed.js";
import { marksOf } from "../../../src/regard/view/page/record/token_words.js";
import { recordName } from "../../../src/regard/view/page/stage/toolbar.js";

test("what is cut ends in …, after a whole word where one is near", () => {
  assert.equal(shortened("short", 8), "short");
  assert.equal(shortened("He is working in this store", 20), "He is working in…");
  assert.equal(shortened("他在这家商店工作", 5), "他在这家…");
  assert.equal(shortened("a unbelievablylongword", 12), "a unbelieva…");
});

const record = (changes, question = {}) => ({ title: "他在这家商店工作，没去图书馆。", model: "zh-en (embedded)", changes, question: { text: "他", ...question }, output: "" });

test("a record in the list has its changes and its sentence, whole or cut with …", () => {
  const changed = record(["forced: library → 图书馆", "begins with “He is working in this”"]);
  const other = { ...record([]), title: "你好。" };
  const records = [record([]), changed, other];
  assert.equal(recordName(changed, 1, records), "2 · forced: library → 图书馆 · begins with “He is… · 他在这家商店工作，没去图书馆。");
  assert.equal(recordName(other, 2, records), "3 · 你好。");
  const beside = { ...record([]), model: "rnn" };
  assert.equal(recordName(beside, 1, [record([]), beside]), "2 · rnn");
});

test("a record was, before it was changed, the one with the most of its other changes", () => {
  const plain = record([]);
  const begun = record(["begins with “He”"], { prefix: "He" });
  const forced = record(["begins with “He”", "forced"], { prefix: "He", force: { step: 1, keys: [0] } });
  const without = record(["without cross 1"], { off: [{ map: "cross", layer: 1 }] });
  assert.deepEqual(beforeChange([plain, begun, forced], forced), { how: "forced", record: begun });
  assert.deepEqual(beforeChange([plain, without], without), { how: "without", record: plain });
  assert.deepEqual(beforeChange([plain, begun], begun), { how: "continued", record: plain });
  assert.equal(beforeChange([plain, begun], plain), null);
  assert.equal(beforeChange([{ ...plain, model: "rnn" }, forced], forced), null);
});

test("the marks of a side are named once each", () => {
  assert.equal(marksOf({ tokens: ["[CLS]", "a", "[SEP]", "b", "[SEP]"], special: [true, false, true, false, true] }), "[CLS], [SEP]");
  assert.equal(marksOf({ tokens: ["a", "(end)"], special: [false, true] }), "(start), (end)");
});
