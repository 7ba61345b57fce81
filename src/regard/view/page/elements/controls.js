// Native controls with labels: radio buttons in a row, a list to choose from, a switch.

import { t } from "../words/messages.js";
import { fill, h } from "./dom.js";

/** @typedef {[value: string|number, text: string]} Option */

/** Options whose values are places from 0. @param {string[]} names @returns {Option[]} */
export function placeOptions(names) {
  return names.map((name, place) => [place, name]);
}

/** What all layers or heads are put together by. @returns {Option[]} */
export const summaryOptions = () => [["mean", t("mean of all")], ["max", t("maximum of all")]];

let groupsMade = 0; // names of radio buttons are shared by a whole document

/**
 * Radio buttons that look like one bar.
 * @param {string} label
 * @param {(value: string) => void} choose
 */
export function segmented(label, choose) {
  const name = `regard-choice-${(groupsMade += 1)}`;
  const bar = h("div", { class: "segments" });
  const element = h(
    "div",
    { class: "control", role: "radiogroup", "aria-label": label },
    h("span", { class: "control-label", "aria-hidden": "true" }, label),
    bar,
  );
  let made = "";
  return {
    element,
    /** @param {Option[]} options @param {string} value */
    update(options, value) {
      const signature = JSON.stringify(options);
      if (signature !== made) {
        made = signature;
        fill(bar, options.map(([each, text]) =>
          h(
            "label",
            { class: "segment" },
            h("input", { type: "radio", name, value: each, on: { change: () => choose(String(each)) } }),
            h("span", null, text),
          )));
      }
      for (const input of bar.querySelectorAll("input")) input.checked = input.value === String(value);
    },
  };
}

/**
 * A native list to choose from.
 * @param {string} label
 * @param {(value: string) => void} choose
 */
export function chooser(label, choose) {
  const select = h("select", { on: { change: () => choose(select.value) } });
  const element = h("label", { class: "control" }, h("span", { class: "control-label" }, label), select);
  let made = "";
  return {
    element,
    select,
    /** @param {Option[]} options @param {string|number} value */
    update(options, value) {
      const signature = JSON.stringify(options);
      if (signature !== made) {
        made = signature;
        fill(select, options.map(([each, text]) => h("option", { value: each }, text)));
      }
      select.value = String(value);
    },
  };
}

/**
 * A check box that looks like a switch.
 * @param {string} label
 * @param {(value: boolean) => void} choose
 */
export function toggle(label, choose) {
  const input = h("input", { type: "checkbox", role: "switch", on: { change: () => choose(input.checked) } });
  const element = h(
    "label",
    { class: "control switch" },
    input,
    h("span", { class: "track", "aria-hidden": "true" }),
    h("span", null, label),
  );
  return { element, input, update: (/** @type {boolean} */ value) => { input.checked = value; } };
}
