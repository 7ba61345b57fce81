import assert from "node:assert/strict";
import { test } from "node:test";
import { standsUpright } from "../../../src/regard/view/page/record/scripts.js";
import { groupLabel, isRightToLeft, visibleText, wordGroups } from "../../../src/regard/view/page/record/token_words.js";

/** A side whose tokens are all characters of a text, each a word of its own as far as the record knows. */
function ofCharacters(text, language = "") {
  const characters = Array.from(text);
  return {
    text,
    characters,
    language,
    tokens: characters,
    offsets: characters.map((_, n) => [n, n + 1]),
    words: characters.map((_, n) => n),
    special: characters.map(() => false),
  };
}

test("words that the record names are kept", () => {
  const side = { ...ofCharacters("abcd"), words: [0, 0, 1, 1] };
  assert.deepEqual(wordGroups(side), [[0, 1], [2, 3]]);
});

test("Chinese characters become the words of the segmenter, also after a character of two code units", () => {
  const plain = wordGroups(ofCharacters("学生图书", "zh"));
  assert.ok(plain.length < 4, "学生 is one word");
  const shifted = wordGroups(ofCharacters("🎉学生图书", "zh"));
  assert.deepEqual(shifted.slice(1), plain.map((group) => group.map((place) => place + 1)));
});

test("every token is in one word, in order", () => {
  for (const text of ["我是一个学生，今天去。", "ภาษาไทยง่าย", "これは本です", "a学b生"]) {
    const side = ofCharacters(text);
    assert.deepEqual(wordGroups(side).flat(), side.tokens.map((_, n) => n));
  }
});

test("a special token never joins a word", () => {
  const side = ofCharacters("学生");
  side.special = [false, true];
  assert.deepEqual(wordGroups(side), [[0], [1]]);
});

test("a language tag that nobody knows is no obstacle", () => {
  assert.equal(wordGroups(ofCharacters("学生", "not a tag!")).flat().length, 2);
});

test("a word is labelled with its text, bytes of one character with their number", () => {
  const side = ofCharacters("🎉学生");
  assert.equal(groupLabel(side, [1, 2]), "学生");
  const bytes = { ...side, tokens: ["🎉", "🎉", "🎉"], offsets: [[0, 1], [0, 1], [0, 1]] };
  assert.deepEqual([0, 1, 2].map((n) => groupLabel(bytes, [n])), ["🎉 1/3", "🎉 2/3", "🎉 3/3"]);
  const ends = { ...side, tokens: ["(start)", "(end)"], offsets: [[0, 0], [0, 0]] };
  assert.equal(groupLabel(ends, [0]), "(start)", "what stands for no text is not counted as bytes of it");
});

test("white space can be seen", () => {
  assert.deepEqual(["", " ", "\n ", " the", "a\tb"].map(visibleText), ["∅", "␣", "↵␣", "the", "a⇥b"]);
});

test("the first letter says the direction", () => {
  assert.deepEqual(["שלום world", "“العالم”", "hello שלום", "42", "学生"].map(isRightToLeft), [true, true, false, false, false]);
  assert.deepEqual(["学生", "abc", "学a", "カナ"].map(standsUpright), [true, false, false, true]);
});
