// Which tokens make up one word, and what is written on a word or a token.

/** @typedef {import("./record.js").Side} Side */

import { t } from "../words/messages.js";
import { isSpaceless } from "./scripts.js";

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
/** @typedef {Pick<import("./record.js").Side, "text"|"offsets"|"words"|"special"|"language"|"corrected">} TokenText */

/** @type {Record<string, string>} */
const SIGNS = { "\n": "↵", "\r": "↵", "\t": "⇥" };

/**
 * The tokens of each word. In scripts without spaces, words are those of the browser's own
 * segmenter where it has one: 学|生 are two tokens and one word. Words that were corrected by hand stay as they are.
 * @param {TokenText} side
 * @returns {number[][]} for each word the places of its tokens
 */
export function wordGroups(side) {
  const segments = !side.corrected && isSpaceless(side.text) ? segmentOfEachCharacter(side.text, side.language) : null;
  const groups = [];
  for (let place = 0; place < side.words.length; place++) {
    const joins =
      place > 0 &&
      (side.words[place] === side.words[place - 1] || (segments !== null && inOneSegment(side, place, segments)));
    if (joins) groups[groups.length - 1].push(place);
    else groups.push([place]);
  }
  return groups;
}

/** @param {TokenText} side @param {number} place @param {number[]} segments */
function inOneSegment(side, place, segments) {
  if (side.special[place] || side.special[place - 1]) return false;
  const [start, end] = side.offsets[place];
  const [startBefore, endBefore] = side.offsets[place - 1];
  return end > start && endBefore > startBefore && segments[endBefore - 1] === segments[start];
}

/**
 * For each character (code point) of a text the number of its segment, or null without a segmenter.
 * @param {string} text @param {string} language
 */
export function segmentOfEachCharacter(text, language) {
  if (typeof Intl === "undefined" || !Intl.Segmenter) return null;
  const numbers = [];
  let count = 0;
  for (const { segment } of segmenterOf(language).segment(text)) {
    for (const _ of segment) numbers.push(count); // a string is walked by code points
    count += 1;
  }
  return numbers;
}

/** @param {string} language */
function segmenterOf(language) {
  try {
    return new Intl.Segmenter(language || undefined, { granularity: "word" });
  } catch {
    return new Intl.Segmenter(undefined, { granularity: "word" }); // a language tag nobody knows
  }
}

/**
 * What is written on a group of tokens: the text from the first to the last.
 * @param {{characters: string[], tokens: string[], offsets: number[][]}} side
 * @param {number[]} members
 */
export function groupLabel(side, members) {
  if (members.length === 1) return tokenLabel(side, members[0]);
  const start = side.offsets[members[0]][0];
  const end = Math.max(...members.map((place) => side.offsets[place][1]));
  const slice = side.characters.slice(start, end).join("");
  return visibleText(slice || members.map((n) => side.tokens[n]).join(""));
}

/**
 * Bytes of one character say which they are: “🎉 2/4”.
 * @param {Pick<Side, "tokens"|"offsets">} side @param {number} place
 */
function tokenLabel(side, place) {
  /** @param {number} other */
  const same = (other) =>
    side.offsets[other] !== undefined &&
    side.offsets[other][1] > side.offsets[other][0] &&
    side.offsets[other][0] === side.offsets[place][0] &&
    side.offsets[other][1] === side.offsets[place][1];
  let first = place;
  let last = place;
  while (same(first - 1) && same(place)) first -= 1;
  while (same(last + 1) && same(place)) last += 1;
  const text = visibleText(side.tokens[place]);
  const part = ` ${place - first + 1}/${last - first + 1}`;
  return first === last || text.endsWith(part) ? text : text + part; // a record may say it itself
}

/** White space that can be seen; a token of nothing is an empty set. @param {string} text */
export function visibleText(text) {
  if (text === "") return "∅";
  if (text.trim() === "") return Array.from(text, (character) => SIGNS[character] ?? "␣").join("");
  return text.replace(/[\n\r\t]/g, (character) => SIGNS[character]).trim();
}

/** Whether a text is written from right to left: its first strong letter decides. @param {string} text */
export function isRightToLeft(text) {
  const strong = text.match(/\p{L}/u);
  return strong !== null && RIGHT_TO_LEFT.test(strong[0]);
}

const OWN_MARKS = ["(start)", "(end)"];

/** The marks of a side that stand for no text, each once: “[CLS], [SEP]”; our own together, whichever there are. @param {{tokens: string[], special: boolean[]}} side */
export function marksOf({ tokens, special }) {
  const found = [...new Set(tokens.filter((_, place) => special[place]))];
  return (found.every((mark) => OWN_MARKS.includes(mark)) ? OWN_MARKS : found).join(t(", "));
}
