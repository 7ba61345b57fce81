// Something else to compare with: another sentence, or the same one by another model.
// A link may wish for it (compare-text, compare-model); once it is there, it is one of the records that the link asks for.

import { fill, h } from "../../elements/dom.js";
import { messageOf } from "../../host/questions.js";
import { keepingFocus, selectField } from "../panel_parts.js";
import { isPicture } from "../../stage/picture_line.js";
import { t } from "../../words/messages.js";

/** @typedef {import("../panel_parts.js").PanelContext} PanelContext */

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
    part.asked = "";
    context.set({ "compare-text": part.text.trim(), "compare-model": part.model });
    followWish(part);
  };
  return fill(
    el,
    h(
      "form",
      { class: "panel-controls", on: { submit: send } },
      h("label", { class: "panel-field is-wide", hidden: pictured }, h("span", null, t("Another sentence")), input),
      models.length ? selectField(t("by"), models.map((name) => [name, name]), part.model || context.state.model || models[0], (name) => (part.model = name)) : null,
      h("button", { type: "submit", class: "panel-button is-main", disabled: part.asking, "data-focus": "compare-send" }, t("Compare")),
    ),
    h("p", { role: "status", class: part.error ? "panel-error" : "panel-hint" }, part.error || (part.asking ? t("The model is at work…") : "")),
  );
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
    const { records } = part.context;
    if (part.place < 0 || part.place > records.length) part.place = records.length;
    part.context.addRecord(record, part.place, { "compare-record": part.place, "compare-text": undefined, "compare-model": undefined });
    part.asked = "";
  } catch (error) {
    Object.assign(part, { asking: false, error: messageOf(error) });
    draw(part);
  }
}
