// Two matrices in words that both have: one text may be cut into tokens in two ways, and two sentences share some words.
// Python does the same for pictures and terminals, in regard.view.sides.common_words.

import { groupLabel } from "../../record/token_words.js";
import { caption, captions } from "../../words/messages.js";

/** @typedef {import("../../record/record.js").Matrix} Matrix */
/** @typedef {import("../../record/record.js").Side} Side */
/** @typedef {import("../small_matrix.js").SmallMatrix} SmallMatrix */

/** @typedef {{side: Side, members: number[][], labels: string[]}} Axis the rows or the columns of a matrix */
/** @typedef {[number[], number[]]} Pair rows (or columns) of one matrix, and those of the other that say the same */

/**
 * @typedef {object} Common
 * @property {SmallMatrix} left
 * @property {SmallMatrix} right
 * @property {{rows: [number, number], cols: [number, number]}} alone how many only one of them has
 */

/** Both in common words; null where an axis has none. @param {Matrix} left @param {Matrix} right @returns {Common|null} */
export function inCommonWords(left, right) {
  const rows = pairsOf(rowsOf(left), rowsOf(right));
  const cols = pairsOf(colsOf(left), colsOf(right));
  if (!rows.length || !cols.length) return null;
  return {
    left: merged(left, rows.map(([one]) => one), cols.map(([one]) => one)),
    right: merged(right, rows.map(([, other]) => other), cols.map(([, other]) => other)),
    alone: { rows: aloneIn(rows, left.rows, right.rows), cols: aloneIn(cols, left.cols, right.cols) },
  };
}

/** How what is shown of a matrix was put together: its tokens may be words in common words alone. @param {SmallMatrix} shown @param {Matrix} matrix */
export function titleOf(shown, matrix) {
  const words = caption(captions.words);
  const said = matrix.title.split(" · ");
  const joined = (shown.rows !== matrix.rows || shown.cols !== matrix.cols) && !said.includes(words);
  return (joined ? [...said, words] : said).join(" · ");
}

/** @param {Matrix} matrix @returns {Axis} */
const rowsOf = (matrix) => ({ side: matrix.rowSide, members: matrix.rowMembers, labels: matrix.rowTokens });
/** @param {Matrix} matrix @returns {Axis} */
const colsOf = (matrix) => ({ side: matrix.colSide, members: matrix.colMembers, labels: matrix.colTokens });

/** @param {Pair[]} pairs @param {number} one @param {number} other @returns {[number, number]} */
function aloneIn(pairs, one, other) {
  const paired = pairs.reduce((sum, pair) => [sum[0] + pair[0].length, sum[1] + pair[1].length], [0, 0]);
  return [one - paired[0], other - paired[1]];
}

/** Which of one axis stand for which of the other, in their order. @param {Axis} one @param {Axis} other @returns {Pair[]} */
export function pairsOf(one, other) {
  if (sameList(one.labels, other.labels)) return one.labels.map((_, n) => [[n], [n]]);
  const [a, b] = [spansOf(one), spansOf(other)];
  return a.text === b.text ? pairsBySpans(a.spans, b.spans, one.labels, other.labels) : pairsByLabels(one.labels, other.labels);
}

/** @param {string[]} one @param {string[]} other */
const sameList = (one, other) => one.length === other.length && one.every((each, n) => each === other[n]);

/** @typedef {[start: number, end: number]} Span */

/** The text without white space, and where in it each group of tokens stands. @param {Axis} axis */
function spansOf({ side, members }) {
  const before = [0]; // of each character, how many that are no white space stand before it
  for (const character of side.characters) before.push(before[before.length - 1] + (character.trim() ? 1 : 0));
  /** @type {Span[]} */
  const spans = members.map((group) => [
    before[Math.min(...group.map((place) => side.offsets[place][0]))] ?? 0,
    before[Math.max(...group.map((place) => side.offsets[place][1]))] ?? 0,
  ]);
  return { text: side.characters.filter((character) => character.trim()).join(""), spans };
}

/**
 * The finest groups whose ends both have. What has no place in the text (an end, a start) is paired by its name.
 * @param {Span[]} one @param {Span[]} other @param {string[]} oneLabels @param {string[]} otherLabels @returns {Pair[]}
 */
function pairsBySpans(one, other, oneLabels, otherLabels) {
  /** @type {Pair[]} */
  const pairs = [];
  /** @param {Span} span */
  const isNowhere = ([start, end]) => end <= start;
  let [i, j] = [0, 0];
  while (i < one.length || j < other.length) {
    const [a, b] = [one[i], other[j]];
    if (a && isNowhere(a) && b && isNowhere(b) && oneLabels[i] === otherLabels[j]) pairs.push([[i++], [j++]]);
    else if (a && isNowhere(a)) i += 1;
    else if (b && isNowhere(b)) j += 1;
    else if (!a || !b) break;
    else {
      /** @type {Pair} */
      const pair = [[i++], [j++]];
      let [endOfOne, endOfOther] = [a[1], b[1]];
      /** Goes on while words are unfinished, or share characters with what is there. @param {Span[]} spans @param {number} at @param {number} end */
      const goesOn = (spans, at, end) => at < spans.length && !isNowhere(spans[at]) && spans[at][0] < end;
      while (goesOn(one, i, Math.max(endOfOne, endOfOther)) || goesOn(other, j, Math.max(endOfOne, endOfOther))) {
        if (goesOn(one, i, Math.max(endOfOne, endOfOther))) {
          endOfOne = Math.max(endOfOne, one[i][1]);
          pair[0].push(i++);
        } else {
          endOfOther = Math.max(endOfOther, other[j][1]);
          pair[1].push(j++);
        }
      }
      pairs.push(pair);
    }
  }
  return pairs;
}

/** The longest sequence of words that both have. @param {string[]} one @param {string[]} other @returns {Pair[]} */
function pairsByLabels(one, other) {
  const longest = Array.from({ length: one.length + 1 }, () => new Uint16Array(other.length + 1));
  for (let i = one.length - 1; i >= 0; i--) {
    for (let j = other.length - 1; j >= 0; j--) {
      longest[i][j] = one[i] === other[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
    }
  }
  /** @type {Pair[]} */
  const pairs = [];
  let [i, j] = [0, 0];
  while (i < one.length && j < other.length) {
    if (one[i] === other[j]) pairs.push([[i++], [j++]]);
    else if (longest[i + 1][j] >= longest[i][j + 1]) i += 1;
    else j += 1;
  }
  return pairs;
}

/**
 * Rows and columns put together as words are: sums over columns, means over the tokens of rows.
 * @param {Matrix} matrix @param {number[][]} rows @param {number[][]} cols @returns {SmallMatrix}
 */
function merged(matrix, rows, cols) {
  const data = new Float32Array(rows.length * cols.length);
  const allowed = matrix.allowed && new Uint8Array(data.length);
  rows.forEach((group, row) => {
    const tokens = group.reduce((sum, at) => sum + matrix.rowMembers[at].length, 0);
    cols.forEach((keys, col) => {
      let sum = 0;
      for (const at of group) {
        for (const key of keys) {
          sum += matrix.rowMembers[at].length * matrix.data[at * matrix.cols + key];
          if (allowed && matrix.allowed?.[at * matrix.cols + key]) allowed[row * cols.length + col] = 1;
        }
      }
      data[row * cols.length + col] = sum / tokens;
    });
  });
  /** @param {Axis} axis @param {number[]} group */
  const label = ({ side, members, labels }, group) => (group.length === 1 ? labels[group[0]] : groupLabel(side, group.flatMap((at) => members[at])));
  return {
    data,
    rows: rows.length,
    cols: cols.length,
    rowTokens: rows.map((group) => label(rowsOf(matrix), group)),
    colTokens: cols.map((group) => label(colsOf(matrix), group)),
    rowSide: matrix.rowSide,
    colSide: matrix.colSide,
    ...(allowed && { allowed }),
  };
}
