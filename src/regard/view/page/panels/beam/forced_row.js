// A row of weights that is given by hand: a click on a word, or a slider for each.

import { h } from "../../elements/dom.js";
import { button, wordElement } from "../panel_parts.js";
import { numberText, sumOf } from "../row_numbers.js";
import { t } from "../../words/messages.js";

/** @typedef {import("../../record/record.js").Side} Side */

const STEPS = 100; // of a slider

/**
 * What a row of weights asks for: the keys that get any, and how much each where they differ.
 * @param {number[]} row @returns {{keys: number[], weights: number[]|null}}
 */
export function forcedKeys(row) {
  const keys = row.flatMap((weight, key) => (weight > 0 ? [key] : []));
  const weights = keys.map((key) => row[key]);
  return { keys, weights: weights.every((weight) => weight === weights[0]) ? null : weights };
}

/**
 * @param {object} given
 * @param {Side} given.source
 * @param {number[]} given.row from 0 to 1 for each key; only shares of the sum matter
 * @param {boolean} given.disabled
 * @param {(row: number[]) => void} given.change
 */
export function forcedRow({ source, row, disabled, change }) {
  /** @param {number} key */
  const toggle = (key) => change(row.map((old, at) => (at === key ? Number(old === 0) : old)));
  /** @param {number} key */
  const chip = (key) =>
    button(wordElement(source.labels[key], source), () => toggle(key), { class: "panel-chip", "aria-pressed": String(row[key] > 0), disabled, "data-focus": `beam-key-${key}` });
  const outputs = row.map(() => h("output", null));
  /** The share of each, also while a slider is being dragged. @param {number[]} now */
  const tell = (now) => {
    const total = sumOf(now);
    outputs.forEach((output, key) => (output.textContent = now[key] > 0 ? numberText(now[key] / total) : ""));
  };
  /** @param {number} key */
  const slider = (key) => {
    const input = h("input", {
      type: "range",
      class: "forced-slider",
      min: 0,
      max: STEPS,
      value: Math.round(STEPS * row[key]),
      disabled,
      "aria-label": t("weight of {token}", { token: source.labels[key] }),
      "data-focus": `beam-weight-${key}`,
    });
    const dragged = () => row.map((old, at) => (at === key ? Number(input.value) / STEPS : old));
    input.addEventListener("input", () => tell(dragged()));
    input.addEventListener("change", () => change(dragged())); // all is drawn anew when it is let go
    return input;
  };
  tell(row);
  return h(
    "div",
    { class: "forced-row", role: "group", "aria-label": t("Source tokens to attend to"), dir: source.rightToLeft ? "rtl" : null },
    row.map((_, key) => h("div", { class: "forced-key" }, chip(key), slider(key), outputs[key])),
  );
}
