// The head of the page: a sentence to type, what came out, and what exactly is shown.

import { chooser } from "../elements/controls.js";
import { fill, h } from "../elements/dom.js";
import { placeholderName } from "../drawing/view.js";
import { messageOf } from "../host/questions.js";
import { t } from "../words/messages.js";
import { isPicture, PictureLine } from "./picture_line.js";

/** @typedef {import("../drawing/view.js").View} View */
/** @typedef {import("../record/record.js").AttentionMap} AttentionMap */

const PAUSE = 450; // milliseconds without a key before a sentence is asked

/**
 * @typedef {object} Given
 * @property {boolean} canAsk
 * @property {string[]} models
 * @property {string[]} pictures those models that are asked about a picture
 * @property {{text: string, model: string}} linked what a link asks for
 * @property {(text: string, model: string, isNewest: () => boolean, name?: string) => Promise<void>} askText
 * @property {HTMLElement[]} tools
 */

/** @param {HTMLElement} element @param {Given} given */
export function mountHeader(element, given) {
  const output = h("p", { class: "output", dir: "auto", "aria-live": "polite" });
  const source = h("p", { class: "source-text", dir: "auto" });
  const caption = h("p", { class: "caption" });
  const mechanism = h("p", { class: "mechanism" });
  const notes = h("ul", { class: "notes" });
  const headline = h("div", { class: "headline" }, source, output, caption, mechanism, notes);
  const question = given.canAsk ? questionLine(given) : null;
  fill(
    element,
    h(
      "div",
      { class: "masthead" },
      h("span", { class: "wordmark" }, "regard"),
      h("div", { class: "tools" }, given.tools),
    ),
    question?.element,
    headline,
  );
  return {
    /** Asks what the link asks for, where the page has not come with its answer. */
    start: () => question?.start(),
    /** @param {View|null} view */
    update(view) {
      question?.offer(view?.record.question.text ?? "", view?.record.question.name ?? "");
      headline.hidden = !view;
      if (!view) return;
      const { record, matrix, levels } = view;
      const instead = placeholderName(view);
      const sourceSide = record.sides.source ?? null;
      source.hidden = given.canAsk || levels !== null || !(record.title || sourceSide); // a document is shown below
      source.textContent = record.title || sourceSide?.text || "";
      source.lang = sourceSide?.language ?? "";
      output.hidden = !record.output;
      output.textContent = record.output;
      output.lang = record.sides.target?.language ?? "";
      fill(caption, record.model ? h("b", null, record.model) : null, record.model ? " · " : null, instead || matrix.title);
      mechanism.textContent = levels ? levels.mechanism : mechanismLine(view.map);
      mechanism.hidden = mechanism.textContent === "";
      notes.hidden = record.notes.length === 0;
      fill(notes, record.notes.map((note) => h("li", null, note)));
    },
  };
}

/**
 * “score: additive · region: everywhere · normalize: softmax” and what the model itself reports.
 * @param {AttentionMap} map
 */
export function mechanismLine(map) {
  const reported = map.reported && map.L * map.H > 1 ? t("the model reports {what}", { what: map.reported }) : "";
  return [map.mechanism, reported].filter(Boolean).join(" · ");
}

/**
 * A line to type in; it asks after a short pause and at Enter, never in the middle of composing a character.
 * @param {Given} given
 */
function questionLine({ askText, models, pictures, linked }) {
  const input = h("input", {
    type: "text",
    class: "question",
    dir: "auto",
    placeholder: t("Type a sentence …"),
    "aria-label": t("a sentence for the model"),
    autocomplete: "off",
    spellcheck: "false",
  });
  const trouble = h("p", { class: "trouble", role: "alert", hidden: true });
  const work = h("span", { class: "unseen" });
  const busy = h("div", { class: "busy", role: "status" }, work);
  const picker = chooser(t("model"), () => changeModel());
  const picture = new PictureLine(() => ask(), (error) => complain(error));
  picker.element.hidden = models.length < 2;
  picker.update(models.map((name) => [name, name]), models.includes(linked.model) ? linked.model : models[0] ?? "");
  let timer = 0;
  let asked = "";
  let hasRecord = false;
  let newest = 0;

  const takesPictures = () => pictures.includes(models.length ? picker.select.value : "");

  /** What is asked about goes with the kind of model. */
  function changeModel() {
    input.hidden = takesPictures();
    picture.element.hidden = !takesPictures();
    ask();
  }

  /** @param {unknown} error */
  function complain(error) {
    trouble.hidden = false;
    trouble.textContent = messageOf(error);
  }

  async function ask() {
    clearTimeout(timer);
    const { text, name } = takesPictures() ? picture.asked : { text: input.value.trim(), name: "" };
    const model = models.length ? picker.select.value : "";
    if (text === "" || `${model}\n${text}` === asked) return;
    asked = `${model}\n${text}`;
    const mine = (newest += 1);
    busy.classList.add("on");
    work.textContent = t("The model is at work…");
    try {
      await askText(text, model, () => mine === newest, name);
      if (mine === newest) trouble.hidden = true;
    } catch (error) {
      asked = "";
      if (mine === newest) complain(error);
    } finally {
      if (mine === newest) {
        busy.classList.remove("on");
        work.textContent = "";
      }
    }
  }

  input.addEventListener("input", (event) => {
    clearTimeout(timer);
    if (!(/** @type {InputEvent} */ (event).isComposing)) timer = setTimeout(ask, PAUSE);
  });
  input.addEventListener("compositionend", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, PAUSE);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.isComposing) ask();
  });
  [input.hidden, picture.element.hidden] = [takesPictures(), !takesPictures()];
  const element = h("div", { class: "asking" }, h("div", { class: "asking-line" }, input, picture.element, picker.element), busy, trouble);
  picture.listen(element, takesPictures);
  return {
    element,
    start() {
      if (hasRecord) return;
      if (takesPictures()) {
        picture.show(linked.text, "");
      } else {
        input.focus({ preventScroll: true });
        input.value = linked.text;
      }
      ask();
    },
    /** Shows the sentence or the picture of a record, unless somebody is typing. @param {string} text @param {string} name */
    offer(text, name) {
      hasRecord ||= text !== "";
      if (isPicture(text)) picture.show(text, name);
      else if (text && /** @type {Document|ShadowRoot} */ (input.getRootNode()).activeElement !== input) input.value = text;
    },
  };
}
