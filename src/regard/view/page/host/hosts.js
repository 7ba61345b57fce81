// Where the page lives: a file, a server or a notebook. Each gives it a model in the shape of anywidget:
// get, set, on, off, save_changes, send. The notebook's is anywidget's own.

import { messageOf } from "./questions.js";
import { cleanState, INITIAL_STATE, isStep, stateFromHash, stateToHash } from "./view_state.js";
import { languageOf } from "../words/languages.js";
import { speak, spoken, t } from "../words/messages.js";

const SOON = 800; // ms after which somebody may want to know how long it takes
const WATCHED = 400; // ms from one answer about that to the next question

/** @typedef {{records?: any, scored?: any, state?: object, abilities?: string[], models?: string[], pictures?: string[],
 *   about?: Record<string, import("../stage/first_page.js").About>, assets?: any, lang?: string,
 *   languages?: Record<string, import("../words/messages.js").Translations>, describe?: () => Promise<void>}} Given
 *   pictures: the models that are asked about a picture; about: what a server says of each; lang: the language that was asked for, if any;
 *   languages: the words of each but English */

/**
 * A page that is a file: everything lies in it, nothing can be asked.
 * @param {Given} given
 */
export function staticModel(given) {
  const model = pageModel({ ...given, abilities: [], assets: inlineAssets() });
  return { ...model, send: (/** @type {{id: number}} */ { id }) => model.hear({ id, error: t("Needs a running model: regard look") }) };
}

/**
 * A page whose server answers questions.
 * @param {string|URL} baseUrl of the server
 * @param {Given} given what the server has put into the page
 */
export async function servedModel(baseUrl, given = {}) {
  const language = languageOf({ chosen: stateFromHash(location.hash).language, made: given.lang, languages: given.languages });
  speak(given.languages?.[language], language);
  /** @param {string} path */
  const under = (path) => new URL(path, new URL(baseUrl, document.baseURI)).href;
  /** @returns {Promise<any[]>} */
  const described = async () => JSON.parse(await textOf(under("models"))).models;
  /** @param {import("../stage/first_page.js").About[]} all */
  const byName = (all) => Object.fromEntries(all.map((each) => [each.name, each]));
  const models = await described();
  const assets = async () => ({
    module: await textOf(under("viewer.js")),
    stylesheet: await textOf(under("viewer.css")),
  });
  const model = pageModel({
    records: [],
    abilities: ["ask", "models", "stop"],
    models: models.map((/** @type {{name: string}} */ each) => each.name),
    about: byName(models),
    describe: async () => model.set("about", byName(await described())), // in another language
    pictures: models.flatMap((/** @type {{name: string, pictures?: boolean}} */ each) => (each.pictures ? [each.name] : [])),
    assets,
    ...given,
  });
  /** @type {Map<number, AbortController>} */
  const running = new Map();
  return {
    ...model,
    /** @param {{id: number, kind: string, payload: object}} message */
    async send({ id, kind, payload }) {
      if (kind === "stop") return running.get(id)?.abort(); // the connection closes, and the server stops
      const ending = new AbortController();
      running.set(id, ending);
      const ticket = ticketOf(id);
      const watching = watch(() => textOf(under(`progress?ticket=${ticket}`)), (progress) => model.hear({ id, progress }));
      try {
        if (kind !== "look") throw new Error(t("This server cannot be asked for “{kind}”.", { kind }));
        const answer = await posted(under("attention"), { ...payload, ticket }, ending.signal);
        model.hear({ id, answer });
      } catch (error) {
        model.hear({ id, error: ending.signal.aborted ? t("Stopped: this is the answer before.") : messageOf(error) });
      } finally {
        watching.end();
        running.delete(id);
      }
    },
  };
}

/** A name that no other page has given. @param {number} id */
const ticketOf = (id) => `${id}-${Math.random().toString(36).slice(2)}`;

/**
 * How far something is, now and then, as long as it takes.
 * @param {() => Promise<string>} look @param {(progress: import("./questions.js").Progress) => void} tell
 */
function watch(look, tell) {
  let over = false;
  /** @type {ReturnType<typeof setTimeout>} */
  let next;
  const again = async () => {
    const answer = await look().then(JSON.parse).catch(() => null); // no answer is no progress
    if (over) return;
    if (answer?.state === "working") tell({ share: answer.share, left: answer.left });
    next = setTimeout(again, WATCHED);
  };
  next = setTimeout(again, SOON);
  return {
    end() {
      over = true;
      clearTimeout(next);
    },
  };
}

/** What a whole page is given; the state is kept in the fragment of its address. @param {Given} given */
function pageModel(given) {
  /** @type {Record<string, any>} */
  const values = { ...given };
  const beginning = { ...INITIAL_STATE, ...cleanState(given.state) };
  /** @type {Map<string, Set<(message?: any) => void>>} */
  const listeners = new Map();
  /** @type {(event: string, message?: any) => void} */
  const tell = (event, message) => {
    for (const listener of listeners.get(event) ?? []) listener(message);
  };
  const stateInAddress = () => ({ ...beginning, ...stateFromHash(location.hash) });
  let following = false; // a link was pasted, or Back was pressed: that is no new step
  globalThis.addEventListener?.("hashchange", () => {
    following = true;
    tell("change:state");
    following = false;
  });
  return {
    /** @param {string} name */
    get(name) {
      if (name === "state") return stateInAddress();
      return typeof values[name] === "function" ? values[name]() : values[name];
    },
    /** @param {string} name @param {any} value */
    set(name, value) {
      if (name !== "state") values[name] = value;
      else rememberInAddress(stateToHash(value, beginning), !following && isStep(value, stateInAddress()));
    },
    /** @type {import("./questions.js").Model["on"]} */
    on(event, listener) {
      listeners.set(event, (listeners.get(event) ?? new Set()).add(listener));
    },
    /** @param {string} event @param {(message?: any) => void} [listener] */
    off(event, listener) {
      if (listener) listeners.get(event)?.delete(listener);
      else listeners.delete(event);
    },
    save_changes() {},
    hear: (/** @type {any} */ message) => tell("msg:custom", message),
  };
}

/** @param {string} hash @param {boolean} step Back leads to what was before */
function rememberInAddress(hash, step) {
  try {
    const address = hash === "#" ? location.pathname + location.search : hash;
    if (hash === (location.hash || "#")) return;
    if (step) history.pushState(null, "", address);
    else history.replaceState(null, "", address);
  } catch {
    // a document without an address (srcdoc) has nowhere to keep it
  }
}

/** The module and the stylesheet as they lie in the file. */
function inlineAssets() {
  /** @param {string} selector */
  const text = (selector) => document.querySelector(selector)?.textContent ?? "";
  return { module: text('script[type="module"]:not([src])'), stylesheet: text("style") };
}

/** @param {string} address */
async function textOf(address) {
  const answer = await fetch(address, { headers: { "accept-language": spoken() } });
  if (!answer.ok) throw new Error(t("{address} answered {status}.", { address, status: answer.status }));
  return answer.text();
}

/** @param {string} address @param {object} payload @param {AbortSignal} signal */
async function posted(address, payload, signal) {
  let answer;
  try {
    answer = await fetch(
      address,
      { method: "POST", headers: { "content-type": "application/json", "accept-language": spoken() }, body: JSON.stringify(payload), signal },
    );
  } catch {
    throw new Error(t("The server does not answer: is it still running?"));
  }
  const body = await answer.json().catch(() => null);
  if (!answer.ok) throw new Error(troubleOf(body) ?? t("The server answered {status}.", { status: answer.status }));
  return body;
}

/** The words of an error as FastAPI writes it: detail is a text, or a list with messages. @param {any} body */
export function troubleOf(body) {
  const detail = body?.detail ?? body?.error;
  if (typeof detail === "string") return detail;
  if (Array.isArray(detail)) return detail.map((each) => each.msg ?? String(each)).join("; ");
  return typeof detail?.message === "string" ? detail.message : null;
}
