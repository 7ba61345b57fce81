// Which language the page speaks: what its reader chose, what whoever made it asked for, what the browser prefers.

/** @typedef {import("./messages.js").Translations} Translations */

/** @type {Record<string, string>} each by its own name */
const NAMES = { en: "English", zh: "中文" };
const KEPT = "regard-language"; // in the browser's storage

/** Those that a page can speak. @param {Record<string, Translations>|null|undefined} given @returns {string[]} */
export const spokenBy = (given) => ["en", ...Object.keys(given ?? {}).filter((each) => each !== "en")];

/** @param {string} language */
export const nameOfLanguage = (language) => NAMES[language] ?? language;

/**
 * The first that the page can speak: of its address, of the last choice in this browser, of who made the page, of the browser.
 * @param {object} given
 * @param {string} [given.chosen] by the address
 * @param {string} [given.made] asked for by who made the page
 * @param {Record<string, Translations>|null} [given.languages]
 */
export function languageOf({ chosen, made, languages }) {
  const spoken = spokenBy(languages);
  const wishes = [chosen, keptLanguage(), made, ...(globalThis.navigator?.languages ?? [])];
  return wishes.map((wish) => String(wish ?? "").toLowerCase().split(/[-_]/)[0]).find((wish) => spoken.includes(wish)) ?? "en";
}

/** For the next time. @param {string} language */
export function keepLanguage(language) {
  try {
    localStorage.setItem(KEPT, language);
  } catch {
    // a page without storage, as in a sandbox, keeps it in its address alone
  }
}

function keptLanguage() {
  try {
    return localStorage.getItem(KEPT) ?? "";
  } catch {
    return "";
  }
}
