// Scripts that write no spaces between words, from the list that Python reads too.

import scripts from "../../../scripts.json" with { type: "json" };

/** @typedef {{languages: string[], ranges: string[], upright?: boolean}} Script */

/** @type {Script[]} */
const ALL = Object.values(scripts);
const { "wide signs": WIDE_SIGNS, ...OF_LETTERS } = scripts;
const HANGUL = "ac00-d7af";

/** ["3040-309f"] -> "\u{3040}-\u{309f}", for a class of characters. @param {string[]} ranges */
const inClass = (ranges) => ranges.map((range) => `\\u{${range.replace("-", "}-\\u{")}}`).join("");

/** Letters of such scripts, as they stand in a class of characters: 学, カ, ก. */
export const SPACELESS = inClass(Object.values(OF_LETTERS).flatMap((script) => script.ranges));

/** The same with the signs that go with them: 。「」，！ */
export const SPACELESS_OR_SIGN = SPACELESS + inClass(WIDE_SIGNS.ranges);

const LETTER = new RegExp(`[${SPACELESS}]`, "u");
const STANDS = new RegExp(`[${inClass([...ALL.filter((script) => script.upright).flatMap((script) => script.ranges), HANGUL])}]`, "u");

/** Whether a text has a letter of a script without spaces. @param {string} text */
export function isSpaceless(text) {
  return LETTER.test(text);
}

/** Whether all letters are of a script whose characters stand upright in a column. @param {string} text */
export function standsUpright(text) {
  return STANDS.test(text) && !/\p{Script=Latin}/u.test(text);
}
