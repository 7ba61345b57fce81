// The head of the page: a sentence to type, what came out, and what exactly is shown.

import { chooser } from "../elements/controls.js";
import { fill, h } from "../elements/dom.js";
import { placeholderName, viewTitle } from "../drawing/view.js";
import { messageOf } from "../host/questions.js";
import { t } from "../words/messages.js";
import { pythonOf } from "./first_page.js";
import { isPicture, PictureLine } from "./picture_line.js";

/** @typedef {import("../drawing/view.js").View} View */
/** @typedef {import("../record/record.js").AttentionMap} AttentionMap */

const PAUSE = 450; // milliseconds without a key before a sentence is asked

/** @typedef {import("../host/view_state.js").State} State */

/**
 * @typedef {object} Given
 * @property {boolean} canAsk
 * @property {string[]} models
 * @property {string[]} pictures those models that are asked about a picture
 * @property {Record<string, import("./first_page.js").About>} about what a server says of each
 * @property {(question: import("../host/asked_questions.js").Question) => void} ask
 * @property {() => void} choose another model would be asked
 * @property {() => void} asIs asks without what was given or forced
 * @property {HTMLElement[]} tools
 */

/** @param {HTMLElement} element @param {Given} given */
export function mountHeader(element, given) {
  const output = h("p", { class: "output", dir: "auto", "aria-live": "polite" });
  const source = h("p", { class: "source-text", dir: "auto" });
  const caption = h("p", { class: "caption" });
  const mechanism = h("p", { class: "mechanism" });
  const notes = h("ul", { class: "notes" });
  const changes = h("p", { class: "changes", hidden: true });
  const headline = h("div", { class: "headline" }, source, changes, output, caption, mechanism, notes);
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
    /** What a link asks for stands in the line from the beginning. @param {State} state */
    start: (state) => question?.start(state),
    /** Who would be asked. */
    model: () => question?.model() ?? "",
    /** The model is at work. */
    begin: () => question?.begin(),
    /** It has answered, or something went wrong. @param {unknown} [error] */
    end: (error) => question?.end(error),
    /** @param {View|null} view @param {State} state */
    update(view, state) {
      question?.offer(view?.record.question.text ?? state.text, view?.record.question.name ?? state.name, state.model);
      headline.hidden = !view;
      if (!view) return;
      const { record, levels } = view;
      const instead = placeholderName(view);
      const sourceSide = record.sides.source ?? null;
      source.hidden = given.canAsk || levels !== null || !(record.title || sourceSide); // a document is shown below
      source.textContent = record.title || sourceSide?.text || "";
      source.lang = sourceSide?.language ?? "";
      changes.hidden = record.changes.length === 0;
      fill(changes, h("b", null, t("what if:")), " ", record.changes.join(" · "), given.canAsk ? h("button", { type: "button", class: "panel-button", on: { click: given.asIs } }, t("As the model does it")) : null);
      output.hidden = !record.output;
      output.textContent = record.output;
      output.lang = record.sides.target?.language ?? "";
      fill(caption, record.model ? h("b", null, record.model) : null, record.model ? " · " : null, instead || viewTitle(view));
      mechanism.textContent = levels ? levels.mechanism : mechanismLine(view.map);
      mechanism.hidden = mechanism.textContent === "";
      notes.hidden = record.notes.length === 0;
      fill(notes, record.notes.map((note) => h("li", null, note)));
    },
  };
}

/**
 * “score: additive · region: everywhere · normalize: softmax” and what alignments are read from.
 * @param {AttentionMap} map
 */
export function mechanismLine(map) {
  const reported = map.reported && map.L * map.H > 1 ? t("used for alignment: {what}", { what: map.reported }) : "";
  return [map.mechanism, reported].filter(Boolean).join(" · ");
}

/**
 * A line to type in; it asks after a short pause and at Enter, never in the middle of composing a character.
 * @param {Given} given
 */
function questionLine({ ask, choose, models, pictures, about }) {
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
  const picture = new PictureLine(() => send(), (error) => end(error));
  const unasked = h("p", { class: "question unasked" });
  picker.element.hidden = models.length < 2;
  picker.update(models.map((name) => [name, name]), models[0] ?? "");
  let timer = 0;
  let asked = ""; // what the line said when it was last sent or shown
  let shownModel = "";

  const model = () => (models.length ? picker.select.value : "");
  const takesPictures = () => pictures.includes(model());

  /** What is asked about goes with the kind of model. */
  function showKind() {
    const python = pythonOf(about[model()]);
    input.hidden = takesPictures() || python !== "";
    picture.element.hidden = !takesPictures();
    unasked.hidden = python === "";
    if (python) fill(unasked, t.parts("This model reads {what}, which this page cannot take. In Python: {command}", { what: about[model()].reads, command: h("code", null, python) }));
  }

  function changeModel() {
    showKind();
    choose();
    asked = ""; // by another model the same text is another question
    send();
  }

  function send() {
    clearTimeout(timer);
    if (!unasked.hidden) return;
    const { text, name } = takesPictures() ? picture.asked : { text: input.value.trim(), name: "" };
    if (text === "" || text === asked) return;
    asked = text;
    ask({ text, name, model: model() });
  }

  function begin() {
    busy.classList.add("on");
    work.textContent = t("The model is at work…");
  }

  /** @param {unknown} [error] */
  function end(error) {
    busy.classList.remove("on");
    work.textContent = "";
    trouble.hidden = error === undefined;
    trouble.textContent = error === undefined ? "" : messageOf(error);
    if (error !== undefined) asked = ""; // it may be sent once more
  }

  const sendSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(send, PAUSE);
  };
  input.addEventListener("input", (event) => {
    clearTimeout(timer);
    if (!(/** @type {InputEvent} */ (event).isComposing)) sendSoon();
  });
  input.addEventListener("compositionend", sendSoon);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.isComposing) send();
  });
  showKind();
  const element = h("div", { class: "asking" }, h("div", { class: "asking-line" }, input, picture.element, unasked, picker.element), busy, trouble);
  picture.listen(element, takesPictures);

  const isFocused = () => /** @type {Document|ShadowRoot} */ (input.getRootNode()).activeElement === input;
  return {
    element,
    model,
    begin,
    end,
    /** @param {State} state */
    start(state) {
      if (!input.hidden && state.text === "") input.focus({ preventScroll: true });
    },
    /** Shows the sentence or the picture that was asked about, unless somebody is typing another. @param {string} text @param {string} name @param {string} chosen */
    offer(text, name, chosen) {
      if (chosen !== shownModel && models.includes(chosen)) picker.select.value = chosen; // what is chosen by hand stays
      shownModel = chosen;
      showKind();
      if (isPicture(text)) picture.show(text, name);
      else if (text && !(isFocused() && input.value.trim() !== asked)) input.value = text;
      if (text && (isPicture(text) || input.value === text)) asked = text;
    },
  };
}
