// What is compared with what: the record, map, layer and head on the right, and whose output is drawn on both sides.

import { placeOptions, segmented, summaryOptions } from "../../elements/controls.js";
import { h } from "../../elements/dom.js";
import { shortened } from "../../elements/shortened_text.js";
import { headNames } from "../../record/record.js";
import { button, selectField } from "../panel_parts.js";
import { canBeScored } from "./scored_outputs.js";
import { t } from "../../words/messages.js";

/** @typedef {import("../../record/record.js").AttentionRecord} AttentionRecord */
/** @typedef {import("../../elements/controls.js").Option} Option */
/** @typedef {import("../panel_parts.js").PanelContext} PanelContext */

/** @typedef {"own"|"left"|"right"} Whose output is drawn on both sides; own: on each side what came out there */

/** Whether there is a second record, map, layer or head. @param {Pick<PanelContext, "records"|"record">} context */
export function hasOther({ records, record }) {
  return records.length > 1 || record.maps.reduce((count, map) => count + map.L * map.H, 0) > 1;
}

/**
 * With what the current map is compared: what the state says, else the nearest other thing.
 * @param {Pick<PanelContext, "records"|"record"|"state"> & {auto?: boolean}} context
 */
export function otherOf({ records, record, state, auto }) {
  const here = records.indexOf(record);
  const at = Number(state["compare-record"] ?? (records.length > 1 ? (here + 1) % records.length : here));
  const chosen = records[at] ?? record;
  const name = state["compare-map"] ?? state.map;
  const map = chosen.map(name);
  /** @returns {import("../../record/record.js").Chosen|"auto"} */
  const read = (/** @type {any} */ value) => (/^\d+$/.test(String(value)) ? Number(value) : value);
  const alone = chosen === record && map === record.map(state.map);
  // of the same map something else: one head beside the mean, the mean beside one head
  const [ownLayer, ownHead] = auto && chosen !== record ? map.shown : [state.layer, state.head]; // each as it is best shown
  const usualLayer = alone && map.L > 1 ? (state.layer === "mean" ? map.L - 1 : "mean") : ownLayer;
  const usualHead = alone && map.L === 1 ? (state.head === "mean" ? 0 : "mean") : ownHead;
  return {
    at: records.indexOf(chosen),
    record: chosen,
    map,
    layer: read(state["compare-layer"] ?? usualLayer),
    head: read(state["compare-head"] ?? usualHead),
  };
}

/** @typedef {ReturnType<typeof otherOf>} Other */

/** Whether one can be given the other’s output. @param {AttentionRecord} one @param {AttentionRecord} other */
export function haveTwoOutputs(one, other) {
  return one !== other && one.output !== other.output && one.question.text === other.question.text && canBeScored(one) && canBeScored(other);
}

/** Whose output both write; the left’s, until somebody says. @param {PanelContext} context @param {AttentionRecord} other @returns {Whose} */
export function whoseOutput({ record, state }, other) {
  if (!haveTwoOutputs(record, other)) return "own";
  const asked = state["compare-output"];
  return asked === "own" || asked === "right" ? asked : "left";
}

/** @typedef {{model: string, title: string, changes: string[]}} Named */

/**
 * What tells two records apart: their models, their sentences, what was changed, else only their sides.
 * @param {Named} one @param {Named} other
 */
export function recordNames(one, other) {
  if (one === other) return ["", ""];
  /** @type {((record: Named) => string)[]} */
  const names = [(record) => record.model, (record) => record.title, changesLine];
  const differing = names.find((name) => name(one) !== name(other));
  return [one, other].map((record, at) => `${(differing && differing(record)) || (at ? t("right") : t("left"))}: `);
}

/** @param {Named} record */
const changesLine = ({ changes }) => changes.join(" · ") || t("as the model does it");

/** @param {PanelContext} context @param {Other} other */
export function comparisonControls({ records, record, state, set }, other) {
  const { map } = other;
  const clear = { "compare-map": undefined, "compare-layer": undefined, "compare-head": undefined };
  const summary = summaryOptions();
  /** @param {string} label @param {Option[]} options @param {string|number} value @param {string} name */
  const select = (label, options, value, name) =>
    selectField(label, options, value, (chosen) => set(name === "compare-record" ? { ...clear, [name]: Number(chosen) } : { [name]: chosen }));
  const swapped = {
    record: other.at,
    map: map.name,
    layer: other.layer,
    head: other.head,
    query: null,
    key: null,
    "compare-record": records.indexOf(record),
    "compare-map": record.map(state.map).name,
    "compare-layer": state.layer,
    "compare-head": state.head,
  };
  return h(
    "div",
    { class: "panel-controls" },
    h("span", { class: "panel-hint" }, t("Compare with")),
    records.length > 1 ? select(t("Record"), records.map((each, at) => [at, `${at + 1}: ${[shortened(each.changes.join(" · "), 48), each.model, shortened(each.output || each.title, 36)].filter(Boolean).join(" · ")}`]), other.at, "compare-record") : null,
    other.record.maps.length > 1 ? select(t("Map"), other.record.maps.map((each) => [each.name, each.kind]), map.name, "compare-map") : null,
    map.L > 1 ? select(t("Layer"), [...summary, ...placeOptions(map.layers)], other.layer, "compare-layer") : null,
    map.H > 1 ? select(t("Head"), [...summary, ...placeOptions(headNames(map.H))], other.head, "compare-head") : null,
    button(t("Swap sides"), () => set(swapped), { class: "panel-button", "data-focus": "compare-swap" }),
  );
}

/** Whose output is drawn on both sides. @param {PanelContext} context @param {Whose} whose */
export function outputChoice({ set }, whose) {
  const choice = segmented(t("Output on both sides"), (value) => set({ "compare-output": value === "left" ? undefined : value }));
  choice.update([["left", t("the left’s")], ["right", t("the right’s")], ["own", t("each its own")]], whose);
  for (const input of choice.element.querySelectorAll("input")) input.setAttribute("data-focus", `compare-output-${input.value}`);
  return h("div", { class: "panel-controls" }, choice.element);
}
