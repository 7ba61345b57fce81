// A walk through one what-if, step by step: each step is a state of the page, so that a link leads to it.

import { stateOfQuestions } from "../host/asked_questions.js";
import { fill, h } from "../elements/dom.js";
import { t } from "../words/messages.js";

/** @typedef {import("./first_page.js").Story} Story */
/** @typedef {import("./first_page.js").About} About */
/** @typedef {import("../record/record.js").AttentionRecord} AttentionRecord */

/**
 * @param {HTMLElement} element
 * @param {{about: Record<string, About>, set: (patch: object) => void, model: () => string}} given
 */
export function mountWalk(element, { about, set, model }) {
  const said = h("p", { class: "walk-said", "aria-live": "polite" });
  const place = h("span", { class: "walk-place-number" });
  /** @param {string} text @param {() => void} click */
  const button = (text, click) => h("button", { type: "button", class: "panel-button", on: { click } }, text);
  let step = 0;
  /** @type {Story|null} */
  let story = null;
  const back = button(t("Back"), () => go(step - 1));
  const next = button(t("Next"), () => go(step + 1));
  const close = button(t("Close"), () => set({ walk: null }));
  fill(element, h("div", { class: "walk" }, said, h("div", { class: "walk-ways" }, place, back, next, close)));

  /** @param {number} to */
  function go(to) {
    if (story) set({ ...walkSteps(story, model())[to].state, walk: to });
  }
  return {
    /** @param {string} name of a model with a story */
    start(name) {
      const told = about[name]?.story;
      if (told) set({ ...walkSteps(told, name)[0].state, walk: 0 });
    },
    /** @param {import("../host/view_state.js").State} state @param {AttentionRecord[]} records */
    update(state, records) {
      story = state.walk === null ? null : (about[model()]?.story ?? null);
      element.hidden = !story;
      if (!story) return;
      const steps = walkSteps(story, model());
      step = Math.min(state.walk ?? 0, steps.length - 1);
      said.textContent = steps[step].said(records);
      place.textContent = t("{n} of {count}", { n: step + 1, count: steps.length });
      back.disabled = step === 0;
      next.disabled = step === steps.length - 1;
    },
  };
}

/**
 * @param {Story} story @param {string} model
 * @returns {{state: object, said: (records: AttentionRecord[]) => string}[]}
 */
export function walkSteps({ text, prefix, force, word, read, instead }, model) {
  const asked = { text, model };
  const plain = stateOfQuestions([asked]);
  const both = stateOfQuestions([asked, { ...asked, prefix, force }]);
  /** @param {AttentionRecord[]} records @param {number} at */
  const output = (records, at) => records[at]?.output ?? "…";
  return [
    {
      state: { ...plain, record: 0, map: "", query: force.step, key: null },
      said: (records) => t("The model writes: {output} While it wrote “{word}”, it looked at {read}: the darker a character, the more.", { output: output(records, 0), word, read }),
    },
    {
      state: { ...both, record: 1, map: "", query: force.step, key: null, panel: "beam" },
      said: (records) => t("Now that one step must look at {instead} instead. What was written before it stays, and the model goes on by itself: {output}", { instead, output: output(records, 1) }),
    },
    {
      state: { ...both, record: 0, map: "", query: null, key: null, panel: "compare", "compare-record": 1 },
      said: () => t("Both side by side: they differ where the one step was told to look. Under “Beam · what if?” any step can be told, by a click or by weight, and heads can be switched off."),
    },
  ];
}
