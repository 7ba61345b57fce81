// What is looked at: a small store, and the same as the fragment of a link.

import { readHeads } from "../drawing/chosen_heads.js";
import { readCorrections } from "../record/word_correction.js";
import { readFoil, readForce, readOff, readQuestions } from "./asked_questions.js";

const MOST_JSON = 60_000; // characters of a part that is JSON
const COUNTED_FROM_1 = ["layer", "head", "compare-layer", "compare-head"]; // in a link, as on the page

/**
 * @typedef {object} ViewState
 * @property {number} record which of the records
 * @property {string} map "" is the first
 * @property {number|"mean"|"max"|"auto"} layer "auto" is what the map says it is best shown by
 * @property {number|"mean"|"max"|"auto"} head
 * @property {string} heads several at once, each in a colour: "1.2,3.1", from 1; "" is none
 * @property {"words"|"tokens"} units
 * @property {string} words as JSON: which tokens are words, where somebody corrected that
 * @property {boolean} specials whether special tokens are shown
 * @property {"matrix"|"row"|"one"} scale what the strongest colour stands for: the most of the map, of a row, or 1
 * @property {"auto"|"on"|"off"} reverse the axis of the keys from right to left
 * @property {"place"|"entropy"} order of the heads
 * @property {number|null} query the pinned token of the queries, counted in tokens of its side
 * @property {number|null} key the pinned token of the keys
 * @property {string} panel the open panel; "" is none
 * @property {"auto"|"light"|"dark"} theme
 * @property {string} language "zh"; "" is what the browser prefers
 * @property {string} text the sentence that was asked
 * @property {string} name of a picture that was asked about
 * @property {string} model who was asked; "" is the first
 * @property {string} prefix what the output had to begin with
 * @property {string} target the output that was given
 * @property {string} force as JSON: what one step had to attend to
 * @property {string} off as JSON: heads that are switched off
 * @property {string} foil as JSON: an answer that was not given
 * @property {boolean} explain whether measures were asked for
 * @property {string} also as JSON: the questions of the other records
 * @property {number|null} walk the step of the guided walk; null: there is none
 */

/** @typedef {ViewState & Record<string, any>} State with what the panels keep for themselves: "step", "beam-node", "levels-open" */

/** @type {ViewState} */
export const INITIAL_STATE = Object.freeze({
  record: 0,
  map: "",
  layer: "auto",
  head: "auto",
  heads: "",
  units: "words",
  words: "",
  specials: true,
  scale: "matrix",
  reverse: "auto",
  order: "place",
  query: null,
  key: null,
  panel: "",
  theme: "auto",
  language: "",
  text: "",
  name: "",
  model: "",
  prefix: "",
  target: "",
  force: "",
  off: "",
  foil: "",
  explain: false,
  also: "",
  walk: null,
});

/** @typedef {(value: any) => any} Read of a value what it stands for; undefined: garbage */

/** @type {Read} */
const readPlace = (value) => (/^\d{1,6}$/.test(String(value)) ? Number(value) : undefined);
/** @type {Read} */
const readPlaceOrNone = (value) => (value === null || value === "none" ? null : readPlace(value));
/** @type {(...choices: string[]) => Read} */
const readOneOf = (...choices) => (value) => (choices.includes(value) ? value : undefined);
/** @type {Read} */
const readPlaceOrWord = (value) => (["mean", "max", "auto"].includes(value) ? value : readPlace(value));
/** @type {(most: number) => Read} */
const readText = (most) => (value) => (typeof value === "string" && value.length <= most ? value : undefined);
/** @type {Read} */
const readFlag = (value) => /** @type {Record<string, boolean>} */ ({ true: true, false: false, 1: true, 0: false })[String(value)];

/** JSON that stays a text. @type {(read: Read) => Read} */
const readJson = (read) => (value) => {
  if (value === "") return "";
  const found = typeof value === "string" && value.length <= MOST_JSON ? read(value) : undefined;
  return found === undefined ? undefined : JSON.stringify(found);
};

/**
 * What each part of the state may be; undefined is garbage, and the part stays as it was.
 * @type {Record<string, Read>}
 */
const READ_STATE = {
  record: readPlace,
  map: readText(200),
  layer: readPlaceOrWord,
  head: readPlaceOrWord,
  heads: readHeads,
  units: readOneOf("words", "tokens"),
  words: readJson(readCorrections),
  specials: readFlag,
  scale: readOneOf("matrix", "row", "one"),
  reverse: readOneOf("auto", "on", "off"),
  order: readOneOf("place", "entropy"),
  query: readPlaceOrNone,
  key: readPlaceOrNone,
  panel: readText(200),
  theme: readOneOf("auto", "light", "dark"),
  language: (value) => (/^([a-z]{2,3})?$/.test(value) ? String(value) : undefined),
  text: readText(50_000), // a document
  name: readText(200),
  model: readText(200),
  prefix: readText(5_000),
  target: readText(5_000),
  force: readJson(readForce),
  off: readJson(readOff),
  foil: readJson(readFoil),
  explain: readFlag,
  also: readJson(readQuestions),
  walk: readPlaceOrNone,
};

/** What a part of the page keeps for itself: "step", "beam-node", "compare-layer", "levels-open". */
const PANEL_PART = /^(step|(beam|compare|levels|picture|sight)-[a-z]{1,20})$/;
/** Words that are pinned, steps that are walked through, looks: Back goes over them. */
const PASSING = /^(query|key|theme|language|step|beam-node|(levels|picture|sight)-[a-z]+)$/;
/** @type {Read} */
const readPanelPart = (value) => (["number", "string"].includes(typeof value) ? readText(2000)(String(value)) : undefined);

/** The parts of anything that are parts of a state; what is not understood is left out. @param {any} given */
export function cleanState(given) {
  /** @type {Record<string, any>} */
  const clean = {};
  if (given === null || typeof given !== "object") return clean;
  for (const [name, read] of Object.entries(READ_STATE)) {
    if (!Object.hasOwn(given, name)) continue;
    const value = read(given[name]);
    if (value !== undefined) clean[name] = value;
  }
  for (const name of Object.keys(given).filter((each) => PANEL_PART.test(each))) {
    const value = readPanelPart(given[name]);
    if (value !== undefined) clean[name] = value;
  }
  return clean;
}

/**
 * "#map=cross&layer=2": what differs from the state that the page begins with.
 * @param {object} state @param {Record<string, any>} [beginning]
 */
export function stateToHash(state, beginning = INITIAL_STATE) {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(cleanState(state))) {
    if (value !== beginning[name]) parts.set(name, String(counted(name, value, 1) ?? "none"));
  }
  return `#${parts}`;
}

/** @param {string} hash */
export function stateFromHash(hash) {
  const parts = [...new URLSearchParams(hash.replace(/^#/, ""))];
  return cleanState(Object.fromEntries(parts.map(([name, value]) => [name, counted(name, value, -1)])));
}

/** @param {string} name @param {any} value @param {1|-1} by */
function counted(name, value, by) {
  return COUNTED_FROM_1.includes(name) && /^\d{1,6}$/.test(String(value)) ? Number(value) + by : value;
}

/** Whether a state is a step that Back leads away from, and no mere move of a pointer. @param {State} state @param {State} before */
export function isStep(state, before) {
  /** @param {State} each */
  const lasting = (each) => stateToHash(Object.fromEntries(Object.entries(each).filter(([name]) => !PASSING.test(name))));
  return lasting(state) !== lasting(before);
}

/**
 * @template {Record<string, any>} T
 * @param {T} initial
 * @returns {{get(): T, set(patch: Partial<T>): void, subscribe(listener: (state: T, before: T) => void): () => void}}
 */
export function createStore(initial) {
  let state = Object.freeze({ ...initial });
  const listeners = new Set();
  return {
    get: () => state,
    set(patch) {
      const before = state;
      if (Object.keys(patch).every((name) => Object.is(before[name], patch[name]))) return;
      state = Object.freeze({ ...before, ...patch });
      for (const listener of [...listeners]) listener(state, before);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
