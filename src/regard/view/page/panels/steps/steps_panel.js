// Step through one query: scores → region → normalisation → weighted sum, with the numbers.

import { placeOptions, summaryOptions } from "../../elements/controls.js";
import { fill, h } from "../../elements/dom.js";
import { headNames } from "../../record/record.js";
import { numberText, sumOf } from "../row_numbers.js";
import { button, keepingFocus, currentMap, tokenPicker, selectField } from "../panel_parts.js";
import { checkWeights, parseNormalizer } from "./recomputed_weights.js";
import { neuronView } from "./neuron_view.js";
import { stepTable } from "./step_table.js";
import { t } from "../../words/messages.js";

/** @typedef {import("../../record/record.js").AttentionMap} AttentionMap */

const STEPS = 4;
const stepNames = () => [t("Scores"), t("Region"), t("Normalisation"), t("Weighted sum")];
const MOST_KEYS = 48; // rows of the table until all are asked for
const PAUSE = 1600; // milliseconds between two steps when they run by themselves

/** @typedef {import("../panel_parts.js").PanelContext} PanelContext */
/** @typedef {import("./recomputed_weights.js").QueryRow} QueryRow */

/**
 * @typedef {object} Panel
 * @property {HTMLElement} el
 * @property {PanelContext} context
 * @property {boolean} wholeTable
 * @property {number} timer 0: the steps do not run by themselves
 * @property {number} shown the step that was drawn last
 */


export const stepsPanel = {
  name: "steps",
  get title() {
    return t("Step by step");
  },

  /** @returns {true | string} */
  available: () => true,

  /** @param {HTMLElement} el @param {PanelContext} context */
  mount(el, context) {
    const panel = { el, context, wholeTable: false, timer: 0, shown: 4 };
    draw(panel);
    return {
      /** @param {PanelContext} next */
      update(next) {
        panel.context = next;
        keepingFocus(el, () => draw(panel));
      },
    };
  },
};

/** @param {Panel} panel */
function draw(panel) {
  const { el, context } = panel;
  const map = currentMap(context);
  const layer = map.L === 1 ? 0 : context.state.layer;
  const head = map.H === 1 ? 0 : context.state.head;
  const query = Math.min(context.state.query ?? 0, map.Q - 1);
  const where = placeControls(context, map);
  const controls = where.length ? h("div", { class: "panel-controls" }, where) : null;
  if (typeof layer !== "number" || typeof head !== "number") {
    stopPlaying(panel);
    fill(el, controls, askForOneHead(context, map));
    return;
  }
  const row = queryRow(map, Math.min(layer, map.L - 1), Math.min(head, map.H - 1), query);
  const step = currentStep(context.state);
  const isNew = step !== panel.shown;
  panel.shown = step;
  fill(
    el,
    controls,
    h("p", { class: "panel-hint" }, t("The query, which asks:")),
    h("div", { "data-focus": "query" }, tokenPicker({ side: map.queries, chosen: query, label: t("Query"), choose: (place) => context.set({ query: place }) })),
    stepTrack(panel, step),
    h("p", { class: "steps-caption", "aria-live": "polite" }, stepCaption(step, row, map)),
    h("div", { class: "panel-scroll", tabindex: 0, role: "region", "aria-label": t("The numbers of this query") }, stepTable(map, row, shownKeys(panel, row), { step, isNew, state: context.state })),
    step === 1 || step === STEPS ? neuronView(map, row, shownKeys(panel, row), context.state) : null,
    otherKeys(panel, row),
    step >= 3 ? verdict(row) : null,
    notKept(map),
  );
}

/** Which step is open, 1 to 4; all of them when none was chosen. @param {any} state */
function currentStep(state) {
  const step = Number(state.step);
  return step >= 1 && step <= STEPS ? Math.floor(step) : STEPS;
}

/** @param {PanelContext} context @param {AttentionMap} map */
function placeControls({ state, set }, map) {
  const made = [];
  const summary = summaryOptions();
  /** @param {string} text */
  const read = (text) => (/^\d+$/.test(text) ? Number(text) : text);
  if (map.L > 1) {
    const options = [...summary, ...placeOptions(map.layers)];
    made.push(selectField(t("Layer"), options, state.layer, (value) => set({ layer: read(value) })));
  }
  if (map.H > 1) {
    const options = [...summary, ...placeOptions(headNames(map.H))];
    made.push(selectField(t("Head"), options, state.head, (value) => set({ head: read(value) })));
  }
  return made;
}

/** A mean of weights has no scores of its own. @param {PanelContext} context @param {AttentionMap} map */
function askForOneHead({ state, set }, map) {
  const layer = typeof state.layer === "number" ? state.layer : map.L - 1;
  const heads = Array.from({ length: Math.min(map.H, 16) }, (_, at) => at);
  return h(
    "div",
    { class: "panel-empty" },
    h("p", null, t("A mean or a maximum was put together afterwards: only one head of one layer has steps. Choose one:")),
    h(
      "div",
      { class: "panel-row" },
      heads.map((head) => {
        const name = [map.L > 1 && map.layers[layer], map.H > 1 && t("head {n}", { n: head + 1 })].filter(Boolean).join(", ");
        return button(name, () => set({ layer, head }), { class: "panel-button" });
      }),
    ),
  );
}

/**
 * Everything that the record has of one query of one head.
 * @param {AttentionMap} map @param {number} layer @param {number} head @param {number} query
 */
export function queryRow(map, layer, head, query) {
  const { H, Q, K, D, E, values, queryVectors, keyVectors, scoreVector } = map;
  const from = ((layer * H + head) * Q + query) * K;
  /** @param {Float32Array|null} numbers */
  const line = (numbers) => (numbers ? numbers.subarray(from, from + K) : null);
  /** @type {(values: Float32Array, key: number) => Float32Array} */
  const value = (values, key) => {
    const start = ((layer * H + head) * K + key) * D;
    return values.subarray(start, start + D);
  };
  return {
    scores: line(map.scores),
    factor: line(map.factor),
    weights: map.weights.subarray(from, from + K),
    allowed: Array.from({ length: K }, (_, key) => map.allowed(layer, head, query, key)),
    values: values ? Array.from({ length: K }, (_, key) => value(values, key)) : null,
    asking: queryVectors && keyVectors ? queryVectors.subarray(((layer * H + head) * Q + query) * E, ((layer * H + head) * Q + query + 1) * E) : null,
    keys: queryVectors && keyVectors ? Array.from({ length: K }, (_, key) => keyVectors.subarray(((layer * H + head) * K + key) * E, ((layer * H + head) * K + key + 1) * E)) : null,
    vector: scoreVector ? scoreVector.subarray((layer * H + head) * E, (layer * H + head + 1) * E) : null,
    normalizer: map.normalizer,
    query,
  };
}

/** @param {Panel} panel @param {number} step */
function stepTrack(panel, step) {
  /** @param {number} to */
  const go = (to) => {
    stopPlaying(panel);
    goTo(panel, to);
  };
  const buttons = stepNames().map((name, at) =>
    button(name, () => go(at + 1), {
      class: `steps-button${at < step ? " is-reached" : ""}`,
      "aria-pressed": String(at + 1 === step),
      "data-focus": `step-${at + 1}`,
      "data-number": at + 1,
    }),
  );
  const playing = panel.timer !== 0;
  const play = button(playing ? t("Stop") : t("Play the steps"), () => (playing ? go(step) : playSteps(panel)), { class: "panel-button", "data-focus": "step-play" });
  return h("div", { class: "steps-track", role: "group", "aria-label": t("Steps") }, buttons, prefersStill() ? null : play);
}

/** People who want no motion step by hand. */
function prefersStill() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** @param {Panel} panel */
function playSteps(panel) {
  const next = () => {
    // a panel that is no longer on the page has nothing to play
    const step = panel.el.isConnected ? currentStep(panel.context.state) + 1 : STEPS;
    panel.timer = step < STEPS ? window.setTimeout(next, PAUSE) : 0;
    goTo(panel, step);
  };
  panel.timer = window.setTimeout(next, PAUSE);
  goTo(panel, 1);
}

/** Draws even where the step stays: whether it plays may have changed. @param {Panel} panel @param {number} step */
function goTo(panel, step) {
  const before = panel.context.state;
  panel.context.set({ step });
  if (panel.context.state === before) keepingFocus(panel.el, () => draw(panel));
}

/** @param {Panel} panel */
function stopPlaying(panel) {
  window.clearTimeout(panel.timer);
  panel.timer = 0;
}

/** @param {number} step @param {QueryRow} row @param {AttentionMap} map */
function stepCaption(step, row, map) {
  /** @param {string} name */
  const part = (name) => (new RegExp(`${name}: ([^·]+)`).exec(map.mechanism) || ["", ""])[1].trim();
  /** @param {string} name */
  const said = (name) => (part(name) ? ` (${part(name)})` : "");
  const outside = row.allowed.filter((open) => !open).length;
  if (step === 1) return t("Each key is compared with the query{how}: the higher the score, the better they match.", { how: said("score") });
  if (step === 2) {
    return outside
      ? t("The region{which} leaves out {n} of {count} keys: whatever their score, they cannot be read.", { which: said("region"), n: outside, count: map.K })
      : t("The region{which} says which keys may be read. Here, all {count} of them.", { which: said("region"), count: map.K });
  }
  if (step === 3) return normalisationCaption(row);
  return t("Each value is taken as much as its weight says, and all are added up: the sum is what the attention hands on for this query.");
}

/** @param {QueryRow} row */
function normalisationCaption(row) {
  const { name, temperature } = parseNormalizer(row.normalizer);
  const factor = row.factor ? ` ${t("Then each is multiplied by its factor, which falls with the distance from the predicted place.")}` : "";
  /** @type {Record<string, string>} */
  const texts = {
    softmax: temperature === 1
      ? t("The softmax makes shares of the scores: exp of each, less the highest so that nothing overflows, divided by their sum.")
      : t("The softmax makes shares of the scores: exp of each over the temperature {temperature}, less the highest so that nothing overflows, divided by their sum.", { temperature }),
    sparsemax: t("The sparsemax takes the nearest point whose shares sum to 1: what lies below a threshold gets exactly 0."),
    raw: t("Nothing is normalised: the scores themselves are the weights, and may sum to anything."),
    uniform: t("Every allowed key gets the same share, whatever its score."),
    hard: t("The best key gets all, the others nothing."),
  };
  const other = row.normalizer ? t("Scores become weights by {normalizer}.", { normalizer: row.normalizer }) : t("Scores become weights.");
  return (texts[name] ?? other) + factor;
}

/**
 * The keys of the table in their order: all, or the heaviest of very many.
 * @param {Panel} panel @param {QueryRow} row
 */
function shownKeys(panel, row) {
  const keys = Array.from(row.weights, (_, key) => key);
  if (panel.wholeTable || keys.length <= MOST_KEYS) return keys;
  const heaviest = [...keys].sort((a, b) => row.weights[b] - row.weights[a]).slice(0, MOST_KEYS);
  return heaviest.sort((a, b) => a - b);
}

/** @param {Panel} panel @param {QueryRow} row */
function otherKeys(panel, row) {
  if (panel.wholeTable || row.weights.length <= MOST_KEYS) return null;
  const shown = sumOf(shownKeys(panel, row).map((key) => row.weights[key]));
  const show = () => {
    panel.wholeTable = true;
    draw(panel);
  };
  return h(
    "p",
    { class: "panel-hint" },
    t("The {n} heaviest keys; the other {others} have {weight} together.", { n: MOST_KEYS, others: row.weights.length - MOST_KEYS, weight: numberText(sumOf(row.weights) - shown, 3) }),
    " ",
    button(t("Show all keys"), show, { class: "panel-link" }),
  );
}

/** @param {QueryRow} row */
function verdict(row) {
  const { agrees, text } = checkWeights(row);
  const sign = agrees === null ? "○" : agrees ? "✓" : "≠";
  return h("p", { class: `steps-check ${agrees === false ? "is-off" : agrees ? "is-right" : ""}`, role: "status" }, h("b", { "aria-hidden": "true" }, sign), " ", text);
}

/** @param {AttentionMap} map */
function notKept(map) {
  if (map.scores && map.values) return null;
  const said = map.values
    ? t("This record was made without scores: that column is missing, not zero.")
    : map.scores
      ? t("This record was made without values: those columns are missing, not zero.")
      : t("This record was made without scores and values: those columns are missing, not zero.");
  return h("p", { class: "panel-hint" }, said);
}
