// What people read, in their language. The English text is the key, as in gettext:
// t("{n} of {count} keys", { n, count }). Python has the same in regard.words, and one list of all messages.

import captions from "../../captions.json" with { type: "json" };

/** @typedef {Record<string, string|{one?: string, other: string}>} Translations */

/** @type {Translations} none: English */
let translations = {};
let language = "en";

/** From here on, the page says what these translations say. @param {Translations|null|undefined} given @param {string} [named] */
export function speak(given, named = "en") {
  translations = given ?? {};
  language = named;
}

/** The language that the page speaks; questions are asked in it. */
export const spoken = () => language;

/**
 * The message in the reader's language; {name} stands for a value.
 * @param {string} message @param {Record<string, any>} [values]
 */
export function t(message, values) {
  return partsOf(translated(message), values).join("");
}

/**
 * `one` where n is 1, else `other`, which is the key of both; {n} stands for n.
 * @param {number} n @param {string} one @param {string} other @param {Record<string, any>} [values]
 */
t.plural = (n, one, other, values) => {
  const text = found(other, n === 1) || (n === 1 ? one : other);
  return partsOf(text, { n, ...values }).join("");
};

/**
 * The message as children of an element, so that values may be elements.
 * @param {string} message @param {Record<string, any>} [values]
 * @returns {any[]}
 */
t.parts = (message, values) => partsOf(translated(message), values);

/** What pictures call it as well: a text of captions.json. @param {string} text @param {Record<string, any>} [values] */
export function caption(text, values) {
  return partsOf(translated(text), values).join("");
}

/** What the numbers of an explanation are called; those without a word of their own as they are: JSD, τ. @param {string} name */
export function measureName(name) {
  /** @type {Record<string, string>} */
  const names = captions.measures;
  return Object.hasOwn(names, name) ? caption(names[name]) : name;
}

/** What the colours of a map stand for. @param {string} name */
export function shadeName(name) {
  /** @type {Record<string, string>} */
  const names = captions.shades;
  return Object.hasOwn(names, name) ? caption(names[name]) : t("weight");
}

export { captions };

/** @param {string} message */
const translated = (message) => found(message) || message;

/** The translation; empty where there is none that is a text. @param {string} message @param {boolean} [one] @returns {string} */
function found(message, one = false) {
  const given = Object.hasOwn(translations, message) ? translations[message] : "";
  const text = typeof given === "object" && given !== null ? (one && given.one) || given.other : given;
  return typeof text === "string" ? text : "";
}

/** @param {string} text @param {Record<string, any>} [values] */
function partsOf(text, values = {}) {
  const pieces = text.split(/\{(\w+)\}/); // text, name, text, name, text
  return pieces.map((piece, at) => (at % 2 ? (values[piece] ?? `{${piece}}`) : piece));
}
