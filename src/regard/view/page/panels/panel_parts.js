// Small pieces that several panels are made of.

import { matrixImage } from "../drawing/painted_cells.js";
import { cssColour, diverging, effectiveTheme, sequential } from "../drawing/colours.js";
import { chooser } from "../elements/controls.js";
import { h, penOf } from "../elements/dom.js";
import { t } from "../words/messages.js";

/** @typedef {import("../record/record.js").AttentionRecord} AttentionRecord */
/** @typedef {import("../record/record.js").Side} Side */
/** @typedef {import("../host/view_state.js").State} State */

/**
 * @typedef {object} PanelContext
 * @property {AttentionRecord[]} records
 * @property {AttentionRecord} record the current one
 * @property {State} state
 * @property {boolean} auto whether nobody has chosen a layer and a head: maps are shown as they are best shown
 * @property {(patch: object) => void} set
 * @property {(patch: object, fresh?: boolean) => Promise<AttentionRecord>} look asks the question of the record once more, with something changed
 * @property {(record: AttentionRecord) => import("../host/asked_questions.js").Question} questionOf what was asked for a record
 * @property {AttentionRecord[]} scored outputs of one record that another was given, where they came with the page
 * @property {Set<string>} abilities
 * @property {string[]} models that can be asked, by name
 * @property {(record: AttentionRecord) => void} replaceRecord
 * @property {(record: AttentionRecord, place?: number, patch?: object) => void} addRecord at the end, or in the place of another; patch: what else changes in the state
 */

/**
 * What the painters of cells need to know of a matrix.
 * @typedef {object} PlainMatrix
 * @property {ArrayLike<number>} data
 * @property {number} rows
 * @property {number} cols
 * @property {Uint8Array} [allowed]
 * @property {Side} [colSide]
 */

/** Why something cannot be asked here. */
export const needsModel = () => t("Needs a running model: regard look");

/** The map that is looked at. @param {Pick<PanelContext, "record"|"state">} context */
export function currentMap({ record, state }) {
  return record.map(state.map);
}

/** The matrix that is looked at. @param {Pick<PanelContext, "record"|"state">} context */
export function currentMatrix({ record, state }) {
  return record.matrix(currentMap({ record, state }).name, state);
}

/** Text of a side, with its language and direction. @param {string} text @param {Side|undefined} side */
export function wordElement(text, side) {
  return h("bdi", { lang: side?.language || null, dir: "auto" }, text);
}

/** @param {string | Node} text @param {() => void} click @param {Record<string, any>} more */
export function button(text, click, more = {}) {
  return h("button", { type: "button", ...more, on: { click } }, text);
}

/**
 * A select with its label, as it stands now.
 * @param {string} label @param {import("../elements/controls.js").Option[]} options
 * @param {string | number} value @param {(value: string) => void} change
 */
export function selectField(label, options, value, change) {
  const { element, select, update } = chooser(label, change);
  update(options, value);
  select.setAttribute("data-focus", `select-${label}`);
  return element;
}

/**
 * One token of a side, chosen with a click or the arrow keys.
 * @param {{side: Side, chosen: number, label: string, choose: (place: number) => void, shown?: number[]}} given
 */
export function tokenPicker({ side, chosen, label, choose, shown }) {
  const places = shown ?? side.tokens.map((_, place) => place);
  /** @param {number} place */
  const option = (place) =>
    h(
      "div",
      {
        role: "option",
        class: "panel-chip",
        "aria-selected": String(place === chosen),
        tabindex: place === chosen ? 0 : -1,
        "data-place": place,
        on: { click: () => choose(place) },
      },
      wordElement(side.labels[place], side),
    );
  /** @type {Record<string, number>} */
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };
  const list = h("div", { role: "listbox", class: "panel-chips", "aria-label": label, "aria-orientation": "horizontal" }, places.map(option));
  list.addEventListener("keydown", (event) => {
    if (!(event.key in steps)) return;
    event.preventDefault();
    const at = Math.min(Math.max(places.indexOf(chosen) + steps[event.key], 0), places.length - 1);
    choose(places[at]);
  });
  return list;
}

/**
 * Draws again without losing the place of the keyboard: what had the focus is found by its key.
 * @param {HTMLElement} el @param {() => void} draw
 */
export function keepingFocus(el, draw) {
  const active = el.contains(document.activeElement) ? document.activeElement : null;
  const keyed = active?.closest("[data-focus]")?.getAttribute("data-focus");
  const inList = active?.getAttribute("role") === "option";
  draw();
  if (!keyed) return;
  const found = el.querySelector(`[data-focus="${CSS.escape(keyed)}"]`);
  const target = inList ? found?.querySelector('[aria-selected="true"]') : found;
  /** @type {HTMLElement | null} */ (target)?.focus({ preventScroll: true });
}

/**
 * Numbers as a strip of colours, one beside the other.
 * @param {ArrayLike<number>} numbers @param {number} most what the strongest colour stands for
 * @param {Pick<State, "reverse"|"theme">} state @param {{signed?: boolean, label: string}} how
 */
export function colourStrip(numbers, most, state, { signed = false, label }) {
  const canvas = h("canvas", { class: "panel-strip", width: Math.max(numbers.length, 1), height: 1, role: "img", "aria-label": label });
  const matrix = { data: numbers, rows: 1, cols: numbers.length };
  penOf(canvas).putImageData(matrixImage(viewOfMatrix(matrix, most, signed, state)), 0, 0);
  return canvas;
}

/**
 * What the core's painters want to know of a matrix, with one scale for all its rows.
 * @param {PlainMatrix} matrix @param {number} most @param {boolean} signed
 * @param {Pick<State, "reverse"|"theme">} state
 * @returns {import("../drawing/view.js").Painted}
 */
export function viewOfMatrix(matrix, most, signed, state) {
  const rightToLeft = state.reverse === "on" || (state.reverse !== "off" && matrix.colSide?.rightToLeft === true);
  return { matrix, signed, theme: effectiveTheme(state.theme), full: new Float32Array(matrix.rows).fill(most || 1), reversed: rightToLeft };
}

/** A weight as a bar and a number. @param {number} weight @param {number} most @param {string} text */
export function weightBar(weight, most, text) {
  const share = Math.min(Math.max(weight / (most || 1), 0), 1);
  return h("span", { class: "panel-bar" }, h("i", { style: { width: `${100 * share}%` }, class: share === 0 ? "is-nothing" : null }), h("b", null, text));
}

/** The biggest size among numbers. @param {ArrayLike<number>[]} lists */
export function largestSize(...lists) {
  let most = 0;
  for (const list of lists) for (let at = 0; at < list.length; at++) most = Math.max(most, Math.abs(list[at]) || 0);
  return most;
}

/** The colours between two ends, as a legend. @param {string} low @param {string} high @param {boolean} signed @param {Pick<State, "theme">} state */
export function rampLegend(low, high, signed, state) {
  const theme = effectiveTheme(state.theme);
  const stops = Array.from({ length: 9 }, (_, n) => {
    const share = n / 8;
    return cssColour(signed ? diverging(2 * share - 1, theme) : sequential(share, theme));
  });
  return h(
    "div",
    { class: "panel-legend", "aria-hidden": "true" },
    h("span", null, low),
    h("i", { style: { background: `linear-gradient(to right, ${stops.join(",")})` } }),
    h("span", null, high),
  );
}
