// Words that somebody put together by hand: tokens joined or split, kept in the record and in the address.

/** @typedef {import("./record.js").Side} Side */
/** @typedef {import("./record.js").GivenRecord} GivenRecord */
/** @typedef {Record<string, {of: string, starts: number[]}>} Corrections by the name of a side: of which tokens, and those that words begin with */

/** What tells the tokens of a side from those of another text. @param {Pick<Side, "text"|"tokens">} side */
export function signOf({ text, tokens }) {
  let sum = 0;
  for (const character of text) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 1_000_003;
  return `${tokens.length}.${sum}`;
}

/** The tokens that words begin with. @param {number[][]} groups */
const startsOf = (groups) => groups.map(([first]) => first);

/**
 * The word of a token and the one after it are one word; null where there is none to join. A mark is no word.
 * @param {Side} side @param {number} place of a token
 */
export function joinedAfter(side, place) {
  const n = side.groups.findIndex((members) => members.includes(place));
  const next = side.groups[n + 1];
  if (!next || side.special[place] || side.special[next[0]]) return null;
  return startsOf(side.groups).filter((start) => start !== next[0]);
}

/** Each token of its word is a word; null where it is one already. @param {Side} side @param {number} place */
export function splitAt(side, place) {
  const members = side.groups.find((each) => each.includes(place)) ?? [];
  return members.length < 2 ? null : startsOf(side.groups.flatMap((each) => (each === members ? each.map((one) => [one]) : [each])));
}

/** What was corrected before, and this side. @param {Corrections} before @param {Side} side @param {number[]|null} starts null: as it was found */
export function withWords(before, side, starts) {
  const others = Object.fromEntries(Object.entries(before).filter(([name]) => name !== side.name));
  return starts === null ? others : { ...others, [side.name]: { of: signOf(side), starts } };
}

/**
 * The record with these words; itself where they are of other tokens.
 * @param {GivenRecord} given @param {Corrections} corrections
 */
export function correctedRecord(given, corrections) {
  const fitting = Object.entries(corrections).filter(([name, { of }]) => given.sides[name] && signOf(given.sides[name]) === of);
  if (fitting.length === 0) return given;
  const sides = fitting.map(([name, { starts }]) => [name, { ...given.sides[name], words: wordsOf(starts, given.sides[name].tokens.length), corrected: true }]);
  return { ...given, sides: { ...given.sides, ...Object.fromEntries(sides) } };
}

/** @param {number[]} starts @param {number} count */
function wordsOf(starts, count) {
  const begins = new Set(starts);
  let word = -1;
  return Array.from({ length: count }, (_, place) => (word += Number(place === 0 || begins.has(place))));
}

/** What of a link are corrections. @param {any} value as JSON, or what JSON gives @returns {Corrections|undefined} */
export function readCorrections(value) {
  try {
    const given = typeof value === "string" ? JSON.parse(value) : value;
    const sides = Object.values(given);
    /** @param {any} each */
    const isOne = (each) => typeof each.of === "string" && Array.isArray(each.starts) && each.starts.every((/** @type {any} */ at) => Number.isInteger(at) && at >= 0);
    return !Array.isArray(given) && sides.length > 0 && sides.every(isOne) ? given : undefined;
  } catch {
    return undefined;
  }
}
