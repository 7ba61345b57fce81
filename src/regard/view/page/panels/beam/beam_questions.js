// What the model would do: with another beginning, reading elsewhere at one step, or without some heads.

import { messageOf } from "../../host/questions.js";
import { headNames } from "../../record/record.js";
import { forcedKeys, forcedRow } from "./forced_row.js";
import { headGrid, headsOff, mapsWithHeads, switchedOff } from "./heads_off.js";
import { textChanges } from "./text_changes.js";
import { beforeChange } from "./what_changed.js";
import { placeOptions } from "../../elements/controls.js";
import { fill, h } from "../../elements/dom.js";
import { button, keepingFocus, needsModel, selectField, tokenPicker } from "../panel_parts.js";
import { t } from "../../words/messages.js";

/** @typedef {import("../../record/record.js").AttentionMap} AttentionMap */
/** @typedef {import("../../record/record.js").AttentionRecord} AttentionRecord */

/** @typedef {import("../panel_parts.js").PanelContext} PanelContext */
/** @typedef {import("../../elements/controls.js").Option} Option */
/** @typedef {import("../../record/record.js").Side} Side */

/** @typedef {import("./what_changed.js").How} How */

/**
 * @typedef {object} Part what was typed and chosen, and what came of it
 * @property {HTMLElement} el
 * @property {PanelContext} context
 * @property {import("../../record/record.js").AttentionRecord|null} record
 * @property {string} prefix
 * @property {number} step
 * @property {number[]} row what each source token is to get
 * @property {Set<string>} off heads that are to be switched off
 * @property {string} layer
 * @property {string} head
 * @property {string} asking
 * @property {string} error
 * @property {{before: string, after: string}|null} result of another beginning, whose record took the place of the one before
 */

/**
 * @param {HTMLElement} el
 * @returns {{update: (context: PanelContext) => void, continueFrom: (prefix: string) => void}}
 */
export function beamQuestions(el) {
  /** @type {Part} context: its first comes before anything is drawn */
  const part = { el, context: /** @type {any} */ (null), record: null, prefix: "", step: 0, row: [], off: new Set(), layer: "", head: "", asking: "", error: "", result: null };
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
 * Another record: what it was asked with; the last result stays while its answer is shown.
 * @param {Part} part @param {PanelContext} context
 */
function reset(part, context) {
  const { question, sides, maps } = context.record;
  const { prefix, force, off } = question;
  const forced = maps.find((map) => map.name === context.record.steerable);
  const mine = part.result && [part.result.before, part.result.after].includes(context.record.output);
  const row = new Array(forced?.K ?? 0).fill(0);
  /** @type {number[]} */
  const weights = force?.weights ?? [];
  force?.keys.forEach((/** @type {number} */ key, /** @type {number} */ at) => (row[key] = weights.length ? weights[at] / Math.max(...weights) : 1));
  /** @param {number|null|undefined} number from 1 */
  const chosen = (number) => (number ? String(number - 1) : "");
  Object.assign(part, { record: context.record, prefix: prefix ?? "", error: "", row, off: switchedOff(off ?? [], maps), result: mine ? part.result : null });
  if (force) Object.assign(part, { step: force.step, layer: chosen(force.layer), head: chosen(force.head) });
  part.step = Math.min(part.step, Math.max((sides.target?.tokens.length ?? forced?.Q ?? 1) - 1, 0));
}

/** Whether a row of weights can be given: of what was written, or of a model that says so. @param {AttentionRecord} record */
export const canForce = (record) => Boolean(record.sides.target) || record.steerable !== "cross";

/** @param {Part} part */
function draw(part) {
  const { context, el } = part;
  const { record } = context;
  const cross = record.maps.find((map) => map.name === record.steerable);
  const target = record.sides.target ?? cross?.queries; // what only reads is told where it reads
  const live = context.abilities.has("ask");
  if (!cross || !target || cross.keys.picture || !canForce(record)) return fill(el); // what looks at a picture is not told where
  const why = live ? "" : needsModel(record);
  return fill(
    el,
    record.sides.target ? h("section", { class: "beam-ask" }, h("h3", null, t("Edit the beginning")), prefixForm(part, target, why)) : null,
    h("section", { class: "beam-ask" }, h("h3", null, t("Force the attention")), forceForm(part, cross, target, why)),
    h("section", { class: "beam-ask" }, h("h3", null, t("Switch heads off")), offForm(part, why)),
    h("div", { role: "status", class: "beam-status" }, part.error ? h("p", { class: "panel-error" }, part.error) : part.asking, resultElement(part)),
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
  const writes = Boolean(part.context.record.sides.target);
  /** @param {number[]} row */
  const changedRow = (row) => {
    part.row = row;
    redraw();
  };
  const any = part.row.some((weight) => weight > 0);
  /** @type {Option[]} */
  const all = [["", t("all")]];
  const ready = any && why === "" && part.asking === "";
  return h(
    "div",
    null,
    h("p", { class: "panel-hint" }, writes ? t("At the step that wrote:") : t("At the token:")),
    h("div", { "data-focus": "beam-step" }, tokenPicker({ side: target, chosen: part.step, label: t("Step"), choose: chosenStep })),
    h("p", { class: "panel-hint" }, t("attend to these: a click gives a token its share, a slider more or less of it")),
    forcedRow({ source, row: part.row, disabled: why !== "", change: changedRow }),
    h(
      "div",
      { class: "panel-controls" },
      cross.L > 1 ? selectField(t("Layer"), [...all, ...placeOptions(cross.layers)], part.layer, (value) => (part.layer = value)) : null,
      cross.H > 1 ? selectField(t("Head"), [...all, ...placeOptions(headNames(cross.H))], part.head, (value) => (part.head = value)) : null,
      button(writes ? t("Force and translate again") : t("Force and read again"), () => forceAttention(part), { class: "panel-button is-main", disabled: !ready, "data-focus": "beam-force" }),
      h("span", { class: "panel-hint" }, why || (any ? "" : t("Choose one source token or more."))),
    ),
  );
}

/** @param {Part} part @param {string} why */
function offForm(part, why) {
  const maps = mapsWithHeads(part.context.record.maps);
  const redraw = () => keepingFocus(part.el, () => draw(part));
  const was = switchedOff(part.context.record.question.off ?? [], maps);
  const writes = Boolean(part.context.record.sides.target);
  const without = writes ? t("Translate without them") : t("Read without them");
  const whole = writes ? t("Translate with all heads") : t("Read with all heads");
  const same = was.size === part.off.size && [...was].every((key) => part.off.has(key));
  /** @param {Set<string>} off */
  const change = (off) => {
    part.off = off;
    redraw();
  };
  return h(
    "div",
    null,
    h("p", { class: "panel-hint" }, t("Heads of each layer, counted from 1. A head that is switched off adds nothing, throughout the output.")),
    headGrid({ maps, off: part.off, disabled: why !== "", change }),
    h(
      "div",
      { class: "panel-controls" },
      button(part.off.size || !was.size ? without : whole, () => switchOff(part), { class: "panel-button is-main", disabled: same || why !== "" || part.asking !== "", "data-focus": "beam-off" }),
      h("span", { class: "panel-hint" }, why || (same && !part.off.size ? t("Choose one head or more.") : "")),
    ),
  );
}

/** What is written before the word of a step: it stays as it is. @param {Side} target @param {number} step */
export function textBefore(target, step) {
  const group = target.groups.find((members) => members.includes(step)) ?? [step];
  return target.characters.slice(0, target.offsets[group[0]][0]).join("").trimEnd();
}

/** Another beginning; what is forced and switched off stays. @param {Part} part */
function continueOutput(part) {
  return askModel(part, { prefix: part.prefix, target: null, explain: false }, t("Continuing…"), "continued");
}

/** A beginning that was given stays, and what is written before the step. @param {Part} part */
function forceAttention(part) {
  const { sides, question } = part.context.record;
  /** @param {string} text */
  const number = (text) => (text === "" ? null : Number(text) + 1);
  const before = sides.target ? textBefore(sides.target, part.step) : "";
  const given = question.prefix ?? "";
  const force = { step: part.step, ...forcedKeys(part.row), layer: number(part.layer), head: number(part.head) };
  return askModel(part, { prefix: given.length > before.length ? given : before, force, target: null, explain: false }, sides.target ? t("Translating with forced attention…") : t("Reading with forced attention…"), "forced");
}

/** @param {Part} part */
function switchOff(part) {
  const off = headsOff(part.off, mapsWithHeads(part.context.record.maps));
  return askModel(part, { off, target: null, explain: false }, part.context.record.sides.target ? t("Translating without these heads…") : t("Reading without these heads…"), "without");
}

/** @param {Part} part @param {object} patch @param {string} saying @param {How} how */
async function askModel(part, patch, saying, how) {
  const before = part.context.record.output;
  Object.assign(part, { asking: saying, error: "" });
  draw(part);
  try {
    const answer = await part.context.look(patch);
    Object.assign(part, { asking: "", result: how === "continued" ? { before, after: answer.output } : null });
    if (how === "continued") part.context.replaceRecord(answer);
    else showBeside(part.context, answer);
  } catch (error) {
    Object.assign(part, { asking: "", error: messageOf(error) });
  }
  draw(part);
}

/** The answer is what is looked at from now on; what was before stays among the records. @param {PanelContext} context @param {AttentionRecord} answer */
function showBeside({ records, addRecord }, answer) {
  const known = records.indexOf(answer);
  const place = known < 0 ? records.length : known;
  addRecord(answer, place, { record: place, query: null, key: null, "beam-node": undefined });
}

/** The output of before and the new one, words that changed marked; null where nothing was changed. @param {Part} part */
function resultElement(part) {
  const { records, record, set } = part.context;
  const found = part.result ? null : beforeChange(records, record);
  if (!part.result && !found) return null;
  const how = found?.how ?? "continued";
  const { before, after } = part.result ?? { before: found?.record.output ?? "", after: record.output };
  const { was, is, same } = textChanges(before, after);
  const writes = Boolean(record.sides.target);
  const language = record.sides.target?.language || null;
  /** @type {(name: string, pieces: import("./text_changes.js").Piece[], tag: "del"|"ins") => HTMLElement} */
  const line = (name, pieces, tag) =>
    h("div", null, h("dt", null, name), h("dd", { dir: "auto", lang: language }, pieces.map(({ text, changed }) => (changed ? h(tag, null, text) : text))));
  const compare = () => found && set({ panel: "compare", record: records.indexOf(found.record), "compare-record": records.indexOf(record), query: null, key: null });
  return h(
    "div",
    { class: "beam-result" },
    before || after ? h("dl", null, line(t("before"), was, "del"), line({ forced: t("forced"), continued: t("continued"), without: t("without heads") }[how], is, "ins")) : h("p", { class: "panel-hint" }, t("The record that is shown now was read this way.")),
    same && writes ? h("p", { class: "panel-hint" }, how === "forced" ? t("The output is the same: reading elsewhere did not change it.") : t("The output is the same.")) : null,
    found ? button(t("Compare the two"), compare, { class: "panel-button", "data-focus": "beam-compare" }) : null,
  );
}
