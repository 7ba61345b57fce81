// The empty page: who can be asked, what it reads and writes, and examples to begin with.

import { fill, h } from "../elements/dom.js";
import { t } from "../words/messages.js";
import { isPicture } from "./picture_line.js";

/**
 * What a server says of a model.
 * @typedef {object} About
 * @property {string} name
 * @property {string} task
 * @property {boolean} [pictures]
 * @property {string} [source] its languages
 * @property {string} [target]
 * @property {string} [verb] what it was trained to do
 * @property {string} [reads]
 * @property {string} [writes]
 * @property {string} [hint] how several inputs are given; of a model that a page cannot ask, what asks it in Python
 * @property {string[]} [examples]
 * @property {Story|null} [story]
 */

/**
 * @typedef {object} Story
 * @property {string} text
 * @property {string} prefix
 * @property {import("../host/asked_questions.js").Force} force
 * @property {string} word
 * @property {string} read what the word comes from
 * @property {string} instead what it is made to look at
 */

/**
 * @param {HTMLElement} element
 * @param {{about: Record<string, About>, ask: (text: string) => void, walk: (model: string) => void}} given
 */
export function mountFirstPage(element, { about, ask, walk }) {
  let shown = "";
  return {
    /** @param {string} model that would be asked */
    update(model) {
      const said = about[model];
      if (!said || model === shown || element.hidden) return;
      shown = model;
      fill(
        element,
        h("h1", { class: "first-title" }, said.name),
        h("p", { class: "first-about" }, aboutLine(said)),
        pythonOf(said) ? null : h("p", { class: "first-hint" }, hintLine(said)),
        h("ul", { class: "first-examples" }, (said.examples ?? []).map((text) => h("li", null, exampleButton(text, said, ask)))),
        said.story ? storyButton(said.story, () => walk(said.name)) : null,
      );
    },
  };
}

/** “reads 中文, writes English”; of other tasks what they were trained to do as well. @param {About} said */
export function aboutLine({ source, target, verb, reads, writes, task }) {
  const [from, to] = [languageName(source), languageName(target)];
  if (task === "translate" && from && to) return t("reads {from}, writes {to}", { from, to });
  const read = from && !reads?.includes("(") ? t("{what} ({language})", { what: reads, language: from }) : (reads ?? "");
  const does = t("trained to {verb}", { verb: verb || task });
  return [does, read && t("reads {what}", { what: read }), writes && t("writes {what}", { what: writes })].filter(Boolean).join(" · ");
}

/** What asks a model that reads what no page can send, a sound; "" of others. @param {About|undefined} said */
export const pythonOf = (said) => (said?.hint?.startsWith("regard.") ? said.hint : "");

/** @param {About} said */
function hintLine({ pictures, hint, examples, story }) {
  const begin = examples?.length || story ? t("Or begin with one of these:") : "";
  if (pictures) return [t("Choose a picture above: what the model says of it and where it looked appear here."), begin].join(" ");
  const alone = examples?.some((text) => !text.startsWith("{")); // one input can be typed as it is
  const typed = !hint
    ? t("Type a text above: the answer and what the model looked at appear here.")
    : alone
      ? t("Type a text above, or two as {hint}: the answer and what the model looked at appear here.", { hint })
      : t("Type its inputs above as {hint}: the answer and what the model looked at appear here.", { hint });
  return [typed, begin].join(" ");
}

/** @param {string} text @param {About} said @param {(text: string) => void} ask */
function exampleButton(text, { source }, ask) {
  const picture = isPicture(text);
  const shown = picture ? h("img", { src: text, alt: t("an example"), draggable: "false" }) : text;
  return h("button", { type: "button", class: `first-example${picture ? " is-picture" : ""}`, dir: "auto", lang: source || null, on: { click: () => ask(text) } }, shown);
}

/** @param {Story} story @param {() => void} begin */
function storyButton({ text, word, instead }, begin) {
  return h(
    "button",
    { type: "button", class: "first-story", on: { click: begin } },
    h("b", null, t("A walk: what if “{word}” had looked at {instead}?", { word, instead })),
    h("span", { dir: "auto" }, text),
  );
}

/** A language by its own name: 中文, English; "" of none. @param {string|undefined} code */
export function languageName(code) {
  if (!code || code === "und") return "";
  try {
    return new Intl.DisplayNames([code], { type: "language" }).of(code) ?? code;
  } catch {
    return code; // no code that a browser knows
  }
}
