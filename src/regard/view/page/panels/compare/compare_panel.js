// Two maps side by side on one colour scale, and what lies between them.

import { compareQuestion } from "./compare_question.js";
import { placeOptions } from "../../elements/controls.js";
import { fill, h } from "../../elements/dom.js";
import { headNames } from "../../record/record.js";
import { meanOf, numberText, rowOf, totalVariation } from "../row_numbers.js";
import { matrixFigure } from "../small_matrix.js";
import { keepingFocus, rampLegend, currentMatrix, largestSize, selectField } from "../panel_parts.js";
import { t } from "../../words/messages.js";

/** @typedef {import("../../record/record.js").AttentionRecord} AttentionRecord */
/** @typedef {import("../../record/record.js").Matrix} Matrix */
/** @typedef {import("../../host/view_state.js").State} State */
/** @typedef {import("../../elements/controls.js").Option} Option */

/** @typedef {import("../panel_parts.js").PanelContext} PanelContext */

export const comparePanel = {
  name: "compare",
  get title() {
    return t("Compare");
  },

  /** @param {PanelContext} context @returns {true | string} */
  available({ records, record, abilities }) {
    return hasOther({ records, record }) || abilities.has("ask") || t("There is one record with one map: nothing to compare it with.");
  },

  /** @param {HTMLElement} el @param {PanelContext} context */
  mount(el, context) {
    const [asking, drawn] = [h("div", null), h("div", null)];
    const ask = compareQuestion(asking);
    fill(el, asking, drawn);
    /** @param {PanelContext} next */
    const update = (next) => {
      keepingFocus(drawn, () => (hasOther(next) ? draw(drawn, next) : fill(drawn)));
      ask.update(next);
    };
    update(context);
    return { update };
  },
};

/** Whether there is a second record, map, layer or head. @param {Pick<PanelContext, "records"|"record">} context */
function hasOther({ records, record }) {
  return records.length > 1 || record.maps.reduce((count, map) => count + map.L * map.H, 0) > 1;
}

/**
 * With what the current map is compared: what the state says, else the nearest other thing.
 * @param {PanelContext} context
 */
export function otherOf({ records, record, state }) {
  const here = records.indexOf(record);
  const at = Number(state["compare-record"] ?? (records.length > 1 ? (here + 1) % records.length : here));
  const chosen = records[at] ?? record;
  const name = state["compare-map"] ?? state.map;
  const map = chosen.map(name);
  /** @returns {import("../../record/record.js").Chosen|"auto"} */
  const read = (/** @type {any} */ value) => (/^\d+$/.test(String(value)) ? Number(value) : value);
  const alone = chosen === record && map === record.map(state.map);
  // of the same map something else: one head beside the mean, the mean beside one head
  const usualLayer = alone && map.L > 1 ? (state.layer === "mean" ? map.L - 1 : "mean") : state.layer;
  const usualHead = alone && map.L === 1 ? (state.head === "mean" ? 0 : "mean") : state.head;
  return {
    at: records.indexOf(chosen),
    record: chosen,
    map,
    layer: read(state["compare-layer"] ?? usualLayer),
    head: read(state["compare-head"] ?? usualHead),
  };
}

/**
 * Why two matrices have no difference; null where they have one.
 * @param {{rowTokens: string[], colTokens: string[]}} one @param {{rowTokens: string[], colTokens: string[]}} other
 */
export function whyNoDifference(one, other) {
  /** @type {[string[], string[], string][]} */
  const axes = [
    [one.rowTokens, other.rowTokens, t("queries")],
    [one.colTokens, other.colTokens, t("keys")],
  ];
  for (const [a, b, name] of axes) {
    if (a.length !== b.length) return t("the {axis} are {left} on the left and {right} on the right", { axis: name, left: a.length, right: b.length });
    const at = a.findIndex((token, place) => token !== b[place]);
    if (at >= 0) return t("the {axis} differ: “{left}” on the left, “{right}” on the right", { axis: name, left: a[at], right: b[at] });
  }
  return null;
}

/** @param {HTMLElement} el @param {PanelContext} context */
function draw(el, context) {
  const { record, state } = context;
  const other = otherOf(context);
  const left = currentMatrix(context);
  const right = other.record.matrix(other.map.name, { ...state, layer: other.layer, head: other.head });
  const most = largestSize(left.data, right.data);
  const why = whyNoDifference(left, right);
  const wide = el.clientWidth || 900;
  const across = wide >= 1080 && !why ? 3 : wide >= 620 ? 2 : 1;
  const space = wide / across - 44;
  /** @param {string} title @param {Matrix} matrix */
  const figure = (title, matrix) => matrixFigure({ title, matrix, most, state, space, below: [rampLegend("0", numberText(most), false, state)] });
  const names = recordNames(record, other.record);
  fill(
    el,
    comparisonControls(context, other),
    outputsOf(names, record, other.record),
    h("div", { class: `panel-figures${why ? "" : " is-level"}` }, figure(`${names[0]}${left.title}`, left), figure(`${names[1]}${right.title}`, right), why ? null : differenceFigure(left, right, state, space)),
    h("p", { class: "panel-result", role: "status" }, why ? t("No difference map: {why}.", { why }) : summaryOf(left, right)),
  );
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

/**
 * What came out on either side, when these are two records.
 * @param {string[]} names @param {AttentionRecord} one @param {AttentionRecord} other
 */
function outputsOf(names, one, other) {
  if (one === other || (!one.output && !other.output)) return null;
  /** @param {AttentionRecord} record @param {number} at */
  const line = (record, at) => h("div", null, h("p", null, h("span", null, names[at]), h("bdi", { dir: "auto" }, record.output || "–")), record.notes.map((note) => h("p", null, h("span", null, note))));
  return h("div", { class: "compare-outputs" }, line(one, 0), line(other, 1));
}

/** @param {PanelContext} context @param {ReturnType<typeof otherOf>} other */
function comparisonControls({ records, set }, other) {
  const { map } = other;
  const clear = { "compare-map": undefined, "compare-layer": undefined, "compare-head": undefined };
  /** @type {Option[]} */
  const summary = [["mean", t("mean")], ["max", t("maximum")]];
  /** @param {string} label @param {Option[]} options @param {string|number} value @param {string} name */
  const select = (label, options, value, name) =>
    selectField(label, options, value, (chosen) => set(name === "compare-record" ? { ...clear, [name]: Number(chosen) } : { [name]: chosen }));
  return h(
    "div",
    { class: "panel-controls" },
    h("span", { class: "panel-hint" }, t("Compare with")),
    records.length > 1 ? select(t("Record"), records.map((each, at) => [at, `${at + 1}: ${[...each.changes, each.model, each.output || each.title].filter(Boolean).join(" · ")}`.slice(0, 80)]), other.at, "compare-record") : null,
    other.record.maps.length > 1 ? select(t("Map"), other.record.maps.map((each) => [each.name, each.kind]), map.name, "compare-map") : null,
    map.L > 1 ? select(t("Layer"), [...summary, ...placeOptions(map.layers)], other.layer, "compare-layer") : null,
    map.H > 1 ? select(t("Head"), [...summary, ...placeOptions(headNames(map.H))], other.head, "compare-head") : null,
  );
}

/** @param {Matrix} left @param {Matrix} right @param {State} state @param {number} space */
function differenceFigure(left, right, state, space) {
  const data = Float32Array.from(right.data, (x, at) => x - left.data[at]);
  const most = largestSize(data);
  return matrixFigure({
    title: t("difference: right − left"),
    matrix: { ...right, data },
    most,
    signed: true,
    state,
    space,
    below: [rampLegend(numberText(-most), `+${numberText(most)}`, true, state)],
  });
}

/** @param {Matrix} left @param {Matrix} right */
function summaryOf(left, right) {
  const rows = Array.from({ length: left.rows }, (_, row) => totalVariation(rowOf(left, row), rowOf(right, row)));
  const mean = meanOf(rows);
  const worst = rows.indexOf(Math.max(...rows));
  if (mean === 0) return t("They are the same: each row has a total variation of 0.");
  return t.parts("Mean total variation of a row: {mean} (0: the same, 1: nothing in common). They differ most at “{word}”: {most}.", {
    mean: h("b", null, numberText(mean, 3)),
    word: h("bdi", { dir: "auto" }, left.rowTokens[worst] ?? ""),
    most: numberText(rows[worst], 3),
  });
}
