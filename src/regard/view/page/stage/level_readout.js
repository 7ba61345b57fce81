// The numbers of a sentence or a word of a document, in one line of words.

import { t } from "../words/messages.js";
import { longWeight } from "./readout.js";

/** @typedef {import("../record/levels.js").LevelSentence} LevelSentence */

const NAMED = 3; // words of a sentence that are named

/** @param {LevelSentence[]} lines @param {number} n */
export function sentenceReadout(lines, n) {
  const { weight, words } = lines[n];
  const rank = 1 + lines.filter((other) => other.weight > weight).length;
  const main = t("sentence {n} weighs {weight} in the answer: number {rank} of {count}", { n: n + 1, weight: longWeight(weight), rank, count: lines.length });
  const heaviest = [...words].sort((a, b) => b.weight - a.weight).slice(0, NAMED);
  const named = heaviest.map((word) => `‘${word.text}’ ${longWeight(word.weight)}`).join(", ");
  return { main, more: words.length ? t("its heaviest words: {words}", { words: named }) : t("it has no words") };
}

/** @param {LevelSentence[]} lines @param {number} n @param {number} at */
export function wordReadout(lines, n, at) {
  const { weight, words } = lines[n];
  const word = words[at];
  const rank = 1 + words.filter((other) => other.weight > word.weight).length;
  return {
    main: t("‘{word}’ weighs {weight} in sentence {n}: number {rank} of {count}", { word: word.text, weight: longWeight(word.weight), n: n + 1, rank, count: words.length }),
    more: t("times {sentence}, the weight of its sentence, is {product} of the answer", { sentence: longWeight(weight), product: longWeight(weight * word.weight) }),
  };
}
