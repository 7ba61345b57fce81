// What the model would do: with another beginning, or reading elsewhere at one step.

import { messageOf } from "../../host/questions.js";
import { headNames } from "../../record/record.js";
import { textChanges } from "./text_changes.js";
import { placeOptions } from "../../elements/controls.js";
import { fill, h } from "../../elements/dom.js";
import { askAgain, button, keepingFocus, needsModel, selectField, tokenPicker, wordElement } from "../panel_parts.js";
import { t } from "../../words/messages.js";

/** @typedef {import("../../record/record.js").AttentionMap} AttentionMap */
/** @typedef {import("../../record/record.js").AttentionRecord} AttentionRecord */

/** @typedef {import("../panel_parts.js").PanelContext} PanelContext */
/** @typedef {import("../../elements/controls.js").Option} Option */
/** @typedef {import("../../record/record.js").Side} Side */

/**
 * @typedef {object} Part what was typed and chosen, and what came of it
 * @property {HTMLElement} el
 * @property {PanelContext} context
 * @property {import("../../record/record.js").AttentionRecord|null} record
 * @property {string} prefix
 * @property {number} step
 * @property {Set<number>} keys
 * @property {string} layer
 * @property {string} head
 * @property {string} asking
 * @property {string} error
 * @property {{how: "continued"|"forced", before: string, after: string}|null} result
 */

/**
 * @param {HTMLElement} el
 * @returns {{update: (context: PanelContext) => void, continueFrom: (prefix: string) => void}}
 */
export function beamQuestions(el) {
  /** @type {Part} context: its first comes before anything is drawn */
  const part = { el, context: /** @type {any} */ (null), record: null, prefix: "", step: 0, keys: new Set(), layer: "", head: "", asking: "", error: "", result: null };
  return {
    update(context) {
      if (context.record !== part.record) reset(part, context);
      part.context = context;
      keepingFocus(el, () => draw(part));
    },
    continueFrom(prefix) {
      part.prefix = prefix;
      continueOutput(part);
    },
  };
}

/**
 * Another record: its own beginning, nothing forced; the last result stays while its answer is shown.
 * @param {Part} part @param {PanelContext} context
 */
function reset(part, context) {
  const { question, sides } = context.record;
  const mine = part.result && context.record.output === part.result.after;
  Object.assign(part, { record: context.record, prefix: question.prefix ?? "", error: "", keys: new Set(), result: mine ? part.result : null });
  part.step = Math.min(part.step, Math.max((sides.target?.tokens.length ?? 1) - 1, 0));
}

/** @param {Part} part */
function draw(part) {
  const { context, el } = part;
  const cross = context.record.maps.find((map) => map.name === "cross");
  const target = context.record.sides.target;
  const live = context.abilities.has("ask");
  if (!cross || !target) return fill(el);
  const why = live ? "" : needsModel();
  return fill(
    el,
    h("section", { class: "beam-ask" }, h("h3", null, t("Edit the beginning")), prefixForm(part, target, why)),
    h("section", { class: "beam-ask" }, h("h3", null, t("Force the attention")), forceForm(part, cross, target, why)),
    h("div", { role: "status", class: "beam-status" }, part.error ? h("p", { class: "panel-error" }, part.error) : part.asking, part.result ? resultElement(part, part.result) : null),
  );
}

/** @param {Part} part @param {Side} target @param {string} why */
function prefixForm(part, target, why) {
  const input = h("input", { type: "text", dir: "auto", lang: target.language || null, autocomplete: "off", spellcheck: "false", disabled: why !== "", "data-focus": "beam-prefix", maxlength: 2000 });
  input.value = part.prefix;
  input.addEventListener("input", () => (part.prefix = input.value));
  /** @param {Event} event */
  const send = (event) => {
    event.preventDefault();
    continueOutput(part);
  };
  return h(
    "form",
    { class: "panel-controls", on: { submit: send } },
    h("label", { class: "panel-field is-wide" }, h("span", null, t("The output begins with")), input),
    h("button", { type: "submit", class: "panel-button is-main", disabled: why !== "" || part.asking !== "", "data-focus": "beam-send" }, t("Continue")),
    why ? h("span", { class: "panel-hint" }, why) : null,
  );
}

/** @param {Part} part @param {AttentionMap} cross @param {Side} target @param {string} why */
function forceForm(part, cross, target, why) {
  const redraw = () => keepingFocus(part.el, () => draw(part));
  /** @param {number} place */
  const chosenStep = (place) => {
    part.step = place;
    redraw();
  };
  const source = cross.keys;
  /** @param {number} key */
  const toggle = (key) => {
    if (!part.keys.delete(key)) part.keys.add(key);
    redraw();
  };
  /** @param {number} key */
  const chip = (key) => button(wordElement(source.labels[key], source), () => toggle(key), { class: "panel-chip", "aria-pressed": String(part.keys.has(key)), disabled: why !== "", "data-focus": `beam-key-${key}` });
  /** @type {Option[]} */
  const all = [["", t("all")]];
  const ready = part.keys.size > 0 && why === "" && part.asking === "";
  return h(
    "div",
    null,
    h("p", { class: "panel-hint" }, t("At the step that wrote:")),
    h("div", { "data-focus": "beam-step" }, tokenPicker({ side: target, chosen: part.step, label: t("Step"), choose: chosenStep })),
    h("p", { class: "panel-hint" }, t("attend evenly to:")),
    h("div", { class: "panel-chips", role: "group", "aria-label": t("Source tokens to attend to") }, source.tokens.map((_, key) => chip(key))),
    h(
      "div",
      { class: "panel-controls" },
      cross.L > 1 ? selectField(t("Layer"), [...all, ...placeOptions(cross.layers)], part.layer, (value) => (part.layer = value)) : null,
      cross.H > 1 ? selectField(t("Head"), [...all, ...placeOptions(headNames(cross.H))], part.head, (value) => (part.head = value)) : null,
      button(t("Force and translate again"), () => forceAttention(part), { class: "panel-button is-main", disabled: !ready, "data-focus": "beam-force" }),
      h("span", { class: "panel-hint" }, why || (part.keys.size ? "" : t("Choose one source token or more."))),
    ),
  );
}

/** What is written before the word of a step: it stays as it is. @param {Side} target @param {number} step */
export function textBefore(target, step) {
  const group = target.groups.find((members) => members.includes(step)) ?? [step];
  return target.characters.slice(0, target.offsets[group[0]][0]).join("").trimEnd();
}

/** @param {Part} part */
function continueOutput(part) {
  return askModel(part, { prefix: part.prefix, force: null, target: null, explain: false }, t("Continuing…"), part.context.replaceRecord, "continued");
}

/** @param {Part} part */
function forceAttention(part) {
  const { target } = part.context.record.sides;
  /** @param {string} text */
  const number = (text) => (text === "" ? null : Number(text));
  const force = { step: part.step, keys: [...part.keys].sort((a, b) => a - b), layer: number(part.layer), head: number(part.head) };
  return askModel(part, { prefix: textBefore(target, part.step), force, target: null, explain: false }, t("Translating with forced attention…"), part.context.addRecord, "forced");
}

/** @param {Part} part @param {object} patch @param {string} saying @param {(record: AttentionRecord) => void} take @param {"continued"|"forced"} how */
async function askModel(part, patch, saying, take, how) {
  const before = part.context.record.output;
  Object.assign(part, { asking: saying, error: "" });
  draw(part);
  try {
    const answer = await askAgain(part.context, patch);
    Object.assign(part, { asking: "", result: { how, before, after: answer.output } });
    take(answer);
  } catch (error) {
    Object.assign(part, { asking: "", error: messageOf(error) });
  }
  draw(part);
}

/** The output of before and the new one, words that changed marked. @param {Part} part @param {NonNullable<Part["result"]>} result */
function resultElement(part, { before, after, how }) {
  const { was, is, same } = textChanges(before, after);
  const language = part.context.record.sides.target?.language || null;
  /** @type {(name: string, pieces: import("./text_changes.js").Piece[], tag: "del"|"ins") => HTMLElement} */
  const line = (name, pieces, tag) =>
    h("div", null, h("dt", null, name), h("dd", { dir: "auto", lang: language }, pieces.map(({ text, changed }) => (changed ? h(tag, null, text) : text))));
  const compare = button(t("Compare the two"), () => part.context.set({ panel: "compare", "compare-record": part.context.records.length - 1 }), { class: "panel-button", "data-focus": "beam-compare" });
  return h(
    "div",
    { class: "beam-result" },
    h("dl", null, line(t("before"), was, "del"), line(how === "forced" ? t("forced") : t("continued"), is, "ins")),
    same ? h("p", { class: "panel-hint" }, how === "forced" ? t("The output is the same: reading elsewhere did not change it.") : t("The output is the same.")) : null,
    how === "forced" ? compare : null,
  );
}
