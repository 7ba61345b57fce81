// The button that goes to the next language; it says which that is, in that language.

import { h } from "../elements/dom.js";
import { nameOfLanguage } from "../words/languages.js";

/**
 * @param {string[]} spoken all that the page speaks
 * @param {string} language what it speaks now
 * @param {(language: string) => void} choose
 */
export function languageButton(spoken, language, choose) {
  const next = spoken[(spoken.indexOf(language) + 1) % spoken.length];
  return h(
    "button",
    { type: "button", class: "tool language", lang: next, hidden: spoken.length < 2, on: { click: () => choose(next) } },
    nameOfLanguage(next),
  );
}
