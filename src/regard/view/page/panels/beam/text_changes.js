// Which words of two texts differ: those outside their longest common subsequence.

import { SPACELESS } from "../../record/scripts.js";

const WORDS = new RegExp(`\\s+|[${SPACELESS}]|(?:(?![${SPACELESS}])[\\p{L}\\p{M}\\p{N}'’-])+|.`, "gsu");

/** @typedef {{text: string, changed: boolean}} Piece */

/**
 * @param {string} before @param {string} after
 * @returns {{was: Piece[], is: Piece[], same: boolean}}
 */
export function textChanges(before, after) {
  const [a, b] = [before.match(WORDS) ?? [], after.match(WORDS) ?? []];
  const kept = commonPlaces(a, b);
  /** @type {(words: string[], side: 0|1) => Piece[]} */
  const pieces = (words, side) =>
    words.map((text, at) => ({ text, changed: !kept.some((pair) => pair[side] === at) && text.trim() !== "" }));
  return { was: pieces(a, 0), is: pieces(b, 1), same: before === after };
}

/** Pairs of places of the longest common subsequence. @param {string[]} a @param {string[]} b */
function commonPlaces(a, b) {
  const length = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      length[i][j] = a[i] === b[j] ? length[i + 1][j + 1] + 1 : Math.max(length[i + 1][j], length[i][j + 1]);
    }
  }
  const pairs = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if (length[i + 1][j] >= length[i][j + 1]) i++;
    else j++;
  }
  return pairs;
}
