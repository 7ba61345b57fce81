// The two levels of a document: sentences with their weights in the answer, words with theirs in their sentence;
// and which sentences are open, as a short text.

import { unpack } from "./packed_arrays.js";
import { groupLabel } from "./token_words.js";

/** @typedef {import("./record.js").Side} Side */
/** @typedef {import("./packed_arrays.js").Packed} Packed */

/**
 * @typedef {object} GivenLevels
 * @property {string} sentences the name of a side: its tokens are sentences
 * @property {string} words the name of a side
 * @property {number[]} lengths how many of the words each sentence has
 * @property {Packed} sentence_weights
 * @property {Packed} word_weights
 * @property {string} [mechanism]
 */

/** @typedef {{text: string, before: string, weight: number, tokens: number[]}} LevelWord before: the text between it and the last */
/** @typedef {{text: string, weight: number, words: LevelWord[]}} LevelSentence */
/** @typedef {"both"|"word"} Shade √p(sentence) · p(word), or p(word) alone */

/**
 * @typedef {object} Levels
 * @property {Side} sentences
 * @property {Side} words
 * @property {string} mechanism
 * @property {(units: "words"|"tokens") => LevelSentence[]} lines
 */

/** @param {GivenLevels} given @param {Record<string, Side>} sides @returns {Levels} */
export function readLevels(given, sides) {
  const [sentences, words] = [sides[given.sentences], sides[given.words]];
  /** @type {Map<string, LevelSentence[]>} */
  const made = new Map();
  return {
    sentences,
    words,
    mechanism: given.mechanism ?? "",
    lines(units) {
      const lines = made.get(units) ?? linesOf(given, sentences, words, units);
      made.set(units, lines);
      return lines;
    },
  };
}

/** @param {GivenLevels} given @param {Side} sentences @param {Side} words @param {"words"|"tokens"} units */
function linesOf(given, sentences, words, units) {
  const [upper, lower] = [unpack(given.sentence_weights), unpack(given.word_weights)];
  const groups = units === "words" ? words.groups : words.tokens.map((_, token) => [token]);
  const groupOf = new Int32Array(words.tokens.length);
  groups.forEach((members, group) => members.forEach((token) => (groupOf[token] = group)));
  let first = 0;
  return given.lengths.map((length, n) => {
    /** @type {number[][]} */
    const members = [];
    for (let token = first; token < first + length; token++) {
      if (token > first && groupOf[token] === groupOf[token - 1]) members[members.length - 1].push(token);
      else members.push([token]);
    }
    first += length;
    const [from, to] = sentences.offsets[n];
    const text = sentences.characters.slice(from, to).join("") || sentences.tokens[n];
    return { text, weight: upper[n], words: members.map((tokens, at) => wordOf(words, tokens, members[at - 1], lower)) };
  });
}

/**
 * Tokens of one word, their weights summed, and the text that parts it from the word before it.
 * @param {Side} side @param {number[]} tokens @param {number[]|undefined} previous @param {ArrayLike<number>} weights
 * @returns {LevelWord}
 */
function wordOf(side, tokens, previous, weights) {
  const end = previous ? side.offsets[previous[previous.length - 1]][1] : Infinity;
  return {
    text: groupLabel(side, tokens),
    before: side.characters.slice(end, side.offsets[tokens[0]][0]).join(""),
    weight: tokens.reduce((sum, token) => sum + weights[token], 0),
    tokens,
  };
}

/** What a word is coloured by. @param {LevelSentence} sentence @param {LevelWord} word @param {Shade} shade */
export function shadeOf(sentence, word, shade) {
  return shade === "word" ? word.weight : Math.sqrt(Math.max(sentence.weight, 0)) * word.weight;
}

/** @param {number[]} numbers */
export function largest(numbers) {
  return numbers.reduce((most, number) => Math.max(most, number || 0), 0);
}

/** The largest shade of each sentence; 0 where it has no words. @param {LevelSentence[]} lines @param {Shade} shade */
export function strongestShades(lines, shade) {
  return lines.map((line) => largest(line.words.map((word) => shadeOf(line, word, shade))));
}

/**
 * Which of `count` sentences are open: "all", "" for none, or "1.4-7", counted from 1; what is no number is passed over.
 * @param {unknown} text @param {number} count @returns {boolean[]}
 */
export function readOpen(text, count) {
  const open = new Array(count).fill(text === "all");
  for (const part of String(text ?? "").split(".")) {
    const found = /^(\d{1,6})(?:-(\d{1,6}))?$/.exec(part);
    if (!found) continue;
    const [from, to] = [Number(found[1]), Number(found[2] ?? found[1])];
    for (let n = Math.max(from, 1); n <= Math.min(to, count); n++) open[n - 1] = true;
  }
  return open;
}

/** The same as a text. @param {boolean[]} open */
export function writeOpen(open) {
  if (open.length && open.every(Boolean)) return "all";
  const parts = [];
  for (let n = 0; n < open.length; n++) {
    if (!open[n]) continue;
    const from = n;
    while (open[n + 1]) n++;
    parts.push(from === n ? `${n + 1}` : `${from + 1}-${n + 1}`);
  }
  return parts.join(".");
}

/** Which of the two a state asks for. @param {Record<string, any>} state @returns {Shade} */
export function shadeIn(state) {
  return state["levels-shade"] === "word" ? "word" : "both";
}

/** A weight in a few characters: “0.43”, “0.031”, “<.001”. @param {number} weight */
export function weightText(weight) {
  if (!Number.isFinite(weight)) return "–";
  if (weight > 0 && weight < 0.0005) return "<.001";
  return weight.toFixed(weight < 0.0995 && weight > 0 ? 3 : 2);
}
