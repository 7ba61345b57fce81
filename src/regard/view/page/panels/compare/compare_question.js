// Something else to compare with: another sentence, or the same one by another model.
// A link may wish for it (compare-text, compare-model); once it is there, it is one of the records that the link asks for.

import { fill, h } from "../../elements/dom.js";
import { messageOf } from "../../host/questions.js";
import { button, keepingFocus, selectField } from "../panel_parts.js";
import { isPicture } from "../../stage/picture_line.js";
import { t } from "../../words/messages.js";

/** @typedef {import("../panel_parts.js").PanelContext} PanelContext */
/** @typedef {import("../../record/record.js").AttentionRecord} AttentionRecord */

const AS_IT_IS = { prefix: "", target: null, force: null, off: [], explain: false };

/**
 * @typedef {object} Part
 * @property {HTMLElement} el
 * @property {PanelContext} context
 * @property {string} asked
 * @property {string} text
 * @property {string} model
 * @property {number} place of the record that was asked for; −1: none yet
 * @property {boolean} asking
 * @property {string} error
 */

/** @param {HTMLElement} el @returns {{update: (context: PanelContext) => void}} */
export function compareQuestion(el) {
  /** @type {Part} context: its first comes before anything is drawn */
  const part = { el, context: /** @type {any} */ (null), asked: "", text: "", model: "", place: -1, asking: false, error: "" };
  return {
    update(context) {
      const first = part.context === null;
      part.context = context;
      if (first) Object.assign(part, linkedWish(context) ?? {});
      if (first) part.text = typed(part.text || context.record.question.text);
      keepingFocus(el, () => draw(part));
      followWish(part);
    },
  };
}

/**
 * What the link asks for beside the current record; null where it asks for nothing.
 * @param {Pick<PanelContext, "state"|"record">} context
 */
export function linkedWish({ state, record }) {
  const { "compare-text": text, "compare-model": model } = state;
  if (!text && !model) return null;
  return { text: text || record.question.text || "", model: model || state.model || "" };
}

/** What can be shown on a line: a picture is compared by other models alone. @param {unknown} text */
const typed = (text) => (typeof text === "string" && !isPicture(text) ? text : "");

/** @param {Part} part */
function draw(part) {
  const { el, context } = part;
  const pictured = isPicture(context.record.question.text);
  if (!context.abilities.has("ask") || (pictured && context.models.length < 2)) return fill(el);
  const models = context.models.length > 1 ? context.models : [];
  const input = h("input", { type: "text", dir: "auto", autocomplete: "off", spellcheck: "false", maxlength: 2000, "data-focus": "compare-text" });
  input.value = part.text;
  input.addEventListener("input", () => (part.text = input.value));
  /** @param {Event} event */
  const send = (event) => {
    event.preventDefault();
    wish(part, { text: part.text.trim(), model: part.model });
  };
  const { record } = context;
  const before = record.changes.length > 0 && !context.records.some((each) => isBefore(each, record));
  const asItIs = { text: record.question.text, model: context.questionOf(record).model ?? "" };
  return fill(
    el,
    h(
      "form",
      { class: "panel-controls", on: { submit: send } },
      h("label", { class: "panel-field is-wide", hidden: pictured }, h("span", null, t("Another sentence")), input),
      models.length ? selectField(t("by"), models.map((name) => [name, name]), part.model || context.state.model || models[0], (name) => (part.model = name)) : null,
      h("button", { type: "submit", class: "panel-button is-main", disabled: part.asking, "data-focus": "compare-send" }, t("Compare")),
      before ? button(t("Before and after"), () => wish(part, asItIs), { class: "panel-button", disabled: part.asking, title: t("beside what the model does without the change"), "data-focus": "compare-before" }) : null,
    ),
    h("p", { role: "status", class: part.error ? "panel-error" : "panel-hint" }, part.error || (part.asking ? t("The model is at work…") : "")),
  );
}

/** Puts it into the address, and asks. @param {Part} part @param {{text: string, model: string}} wished */
function wish(part, { text, model }) {
  part.asked = "";
  part.context.set({ "compare-text": text, "compare-model": model });
  followWish(part);
}

/** Asks what the link wishes for, once. @param {Part} part */
async function followWish(part) {
  const { context } = part;
  const wish = linkedWish(context);
  const name = wish ? `${wish.model}\n${wish.text}` : "";
  if (!wish || !wish.text || name === part.asked || !context.abilities.has("ask")) return;
  Object.assign(part, { asked: name, asking: true, error: "" });
  draw(part);
  try {
    const record = await context.look({ ...AS_IT_IS, text: wish.text, ...(wish.model && { model: wish.model }) });
    part.asking = false;
    part.asked = "";
    const now = part.context;
    if (part.place < 0 || part.place > now.records.length) part.place = now.records.length;
    const here = now.records.indexOf(now.record);
    // before a change stands on the left, what came of it on the right
    const places = isBefore(record, now.record) ? { record: part.place, "compare-record": here } : { "compare-record": part.place };
    now.addRecord(record, part.place, { ...places, "compare-text": undefined, "compare-model": undefined });
  } catch (error) {
    Object.assign(part, { asking: false, error: messageOf(error) });
    draw(part);
  }
}

/**
 * Whether a record is what the model does without the changes of another.
 * @param {Pick<AttentionRecord, "model"|"title"|"changes">} record @param {Pick<AttentionRecord, "model"|"title"|"changes">} other
 */
export function isBefore(record, other) {
  return other.changes.length > 0 && record.changes.length === 0 && record.model === other.model && record.title === other.title;
}
