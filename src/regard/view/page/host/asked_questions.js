// The questions that a page has asked, and the same as parts of its state: so a link asks them again.

/** @typedef {{step: number, keys: number[], weights?: number[]|null, layer?: number|null, head?: number|null}} Force layers and heads from 1 */
/** @typedef {{layer: number, head?: number|null, map: string}} HeadOff layers and heads from 1; head null: all of the layer */

/** @typedef {{text: string, step?: number|null}} Foil an answer that was not given */

/**
 * What is asked about a text; all but the text may be left out.
 * @typedef {object} Question
 * @property {string} text
 * @property {string} [name] of a picture
 * @property {string} [model]
 * @property {string} [prefix]
 * @property {string|null} [target]
 * @property {Force|null} [force]
 * @property {HeadOff[]} [off]
 * @property {boolean} [explain]
 * @property {Foil|null} [foil]
 */

/** @typedef {"text"|"name"|"model"|"prefix"|"target"|"force"|"off"|"explain"|"foil"} QuestionPart */

/** @type {QuestionPart[]} */
const PARTS = ["text", "name", "model", "prefix", "target", "force", "off", "explain", "foil"];
/** @type {QuestionPart[]} what a model does not do by itself */
export const CHANGES = ["prefix", "target", "force", "off"];
/** @type {QuestionPart[]} what questions of one page share, where they say nothing else */
const SHARED = ["text", "name", "model"];
const MOST_QUESTIONS = 12;

/** A question without what is usual, its parts in one order. @param {Record<string, any>} given @returns {Question} */
export function plainQuestion(given) {
  const said = PARTS.filter((part) => isSaid(given[part])).map((part) => [part, plainPart(given[part])]);
  return { text: "", ...Object.fromEntries(said) };
}

/** Questions with one key have one answer. @param {Question} question */
export const questionKey = (question) => JSON.stringify(plainQuestion(question));

/** Those that a state asks, the first by its own parts; none where it has no text. @param {Record<string, any>} state @returns {Question[]} */
export function questionsIn(state) {
  if (!state.text) return [];
  const first = plainQuestion({ ...state, force: parsed(state.force), off: parsed(state.off), foil: parsed(state.foil) });
  /** @type {any[]} */
  const also = parsed(state.also) ?? [];
  return [first, ...also.map((more) => plainQuestion({ ...only(first, SHARED), ...more }))];
}

/** The parts of a state that ask these. @param {Question[]} questions */
export function stateOfQuestions(questions) {
  const [first, ...others] = questions.slice(0, MOST_QUESTIONS).map(plainQuestion);
  /** @param {Question} other */
  const differing = (other) => only(other, PARTS.filter((part) => !SHARED.includes(part) || other[part] !== first[part]));
  return {
    text: first.text,
    name: first.name ?? "",
    model: first.model ?? "",
    prefix: first.prefix ?? "",
    target: first.target ?? "",
    force: written(first.force),
    off: written(first.off),
    explain: first.explain ?? false,
    foil: written(first.foil),
    also: others.length ? written(others.map(differing)) : "",
  };
}

/** Another text for the same models: what was forced or begun for the old one goes. @param {Question[]} questions @param {Question} first */
export function withNewText([before, ...others], first) {
  const kept = others.filter((other) => !CHANGES.some((part) => isSaid(other[part])));
  /** @param {Question} other */
  const moved = (other) => (other.text === before.text ? { ...other, ...only(first, ["text", "name"]) } : other);
  return [first, ...kept.map(moved).filter((other) => questionKey(other) !== questionKey(first))];
}

/** What of a link can be a list of questions. @param {any} value as JSON, or what JSON gives */
export function readQuestions(value) {
  const list = parsed(value);
  const isList = Array.isArray(list) && list.length < MOST_QUESTIONS && list.every((each) => each !== null && typeof each === "object");
  return isList ? list.map((each) => only(plainQuestion(each), PARTS.filter((part) => part in each))) : undefined;
}

/** @param {any} value */
export function readForce(value) {
  const force = parsed(value);
  const isForce = isPlace(force?.step) && Array.isArray(force.keys) && force.keys.every(isPlace);
  return isForce ? plainPart(force) : undefined;
}

/** @param {any} value */
export function readOff(value) {
  const off = parsed(value);
  return Array.isArray(off) && off.every((each) => isPlace(each?.layer) && typeof each.map === "string") ? plainPart(off) : undefined;
}

/** @param {any} value */
export function readFoil(value) {
  const foil = parsed(value);
  return typeof foil?.text === "string" && foil.text !== "" && (foil.step ?? null) !== "" ? plainPart(foil) : undefined;
}

/** @param {any} value */
const isPlace = (value) => Number.isInteger(value) && value >= 0;

/** @param {any} value */
const isSaid = (value) => !(value === undefined || value === null || value === "" || value === false || (Array.isArray(value) && value.length === 0));

/** Parts of parts that say nothing are left out, and all are in one order. @param {any} value @returns {any} */
function plainPart(value) {
  if (Array.isArray(value)) return value.map(plainPart);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).filter(([, each]) => isSaid(each)).sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, each]) => [name, plainPart(each)]));
}

/** @param {Record<string, any>} from @param {string[]} names */
const only = (from, names) => Object.fromEntries(names.filter((name) => from[name] !== undefined).map((name) => [name, from[name]]));

/** @param {any} value */
const written = (value) => (isSaid(value) ? JSON.stringify(value) : "");

/** @param {any} value */
function parsed(value) {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    return null;
  }
}
