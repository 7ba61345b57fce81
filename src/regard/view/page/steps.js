// Step through one query: scores → region → normalisation → weighted sum, with the numbers.

import { fill, h } from "./dom.js";
import { panelNumber, panelSum } from "./panel_numbers.js";
import { panelButton, panelKeepingFocus, panelMap, panelPicker, panelSelect } from "./panel_parts.js";
import { stepsCheck, stepsNormalizer } from "./steps_numbers.js";
import { stepsTable } from "./steps_table.js";

const STEPS_NAMES = ["Scores", "Region", "Normalisation", "Weighted sum"];
const STEPS_MOST_KEYS = 48; // rows of the table until all are asked for
const STEPS_PAUSE = 1600; // milliseconds between two steps when they run by themselves

/** @typedef {import("./panel_parts.js").PanelContext} PanelContext */

export const stepsPanel = {
  name: "steps",
  title: "Step by step",

  /** @returns {true | string} */
  available: () => true,

  /** @param {HTMLElement} el @param {PanelContext} context */
  mount(el, context) {
    const panel = { el, context, wholeTable: false, timer: 0, shown: 4 };
    stepsDraw(panel);
    return {
      update(next) {
        panel.context = next;
        panelKeepingFocus(el, () => stepsDraw(panel));
      },
    };
  },
};

function stepsDraw(panel) {
  const { el, context } = panel;
  const map = panelMap(context);
  const layer = map.L === 1 ? 0 : context.state.layer;
  const head = map.H === 1 ? 0 : context.state.head;
  const query = Math.min(context.state.query ?? 0, map.Q - 1);
  const where = stepsWhere(context, map);
  const controls = where.length ? h("div", { class: "panel-controls" }, where) : null;
  if (typeof layer !== "number" || typeof head !== "number") {
    stepsStop(panel);
    fill(el, controls, stepsAskForOne(context, map));
    return;
  }
  const row = stepsRow(map, Math.min(layer, map.L - 1), Math.min(head, map.H - 1), query);
  const step = stepsCurrent(context.state);
  const isNew = step !== panel.shown;
  panel.shown = step;
  fill(
    el,
    controls,
    h("p", { class: "panel-hint" }, "The query, which asks:"),
    h("div", { "data-focus": "query" }, panelPicker({ side: map.queries, chosen: query, label: "Query", choose: (place) => context.set({ query: place }) })),
    stepsTrack(panel, step),
    h("p", { class: "steps-caption", "aria-live": "polite" }, stepsCaption(step, row, map)),
    h("div", { class: "panel-scroll", tabindex: 0, role: "region", "aria-label": "The numbers of this query" }, stepsTable(map, row, stepsShown(panel, row), { step, isNew, state: context.state })),
    stepsRest(panel, row),
    step >= 3 ? stepsVerdict(row) : null,
    stepsNotKept(map),
  );
}

/** Which step is open, 1 to 4; all of them when none was chosen. @param {any} state */
function stepsCurrent(state) {
  const step = Number(state.step);
  return step >= 1 && step <= STEPS_NAMES.length ? Math.floor(step) : STEPS_NAMES.length;
}

/** @param {PanelContext} context */
function stepsWhere({ state, set }, map) {
  const made = [];
  const summary = /** @type {[string, string][]} */ ([["mean", "mean of all"], ["max", "maximum of all"]]);
  const read = (text) => (/^\d+$/.test(text) ? Number(text) : text);
  if (map.L > 1) {
    const options = [...summary, ...map.layers.map((name, at) => [at, name])];
    made.push(panelSelect("Layer", options, state.layer, (value) => set({ layer: read(value) })));
  }
  if (map.H > 1) {
    const options = [...summary, ...Array.from({ length: map.H }, (_, at) => [at, `head ${at + 1}`])];
    made.push(panelSelect("Head", options, state.head, (value) => set({ head: read(value) })));
  }
  return made;
}

/** A mean of weights has no scores of its own. @param {PanelContext} context */
function stepsAskForOne({ state, set }, map) {
  const layer = typeof state.layer === "number" ? state.layer : map.L - 1;
  const heads = Array.from({ length: Math.min(map.H, 16) }, (_, at) => at);
  return h(
    "div",
    { class: "panel-empty" },
    h("p", null, "A mean or a maximum was put together afterwards: only one head of one layer has steps. Choose one:"),
    h(
      "div",
      { class: "panel-row" },
      heads.map((head) => {
        const name = [map.L > 1 && map.layers[layer], map.H > 1 && `head ${head + 1}`].filter(Boolean).join(", ");
        return panelButton(name, () => set({ layer, head }), { class: "panel-button" });
      }),
    ),
  );
}

/** Everything that the record has of one query of one head. */
export function stepsRow(map, layer, head, query) {
  const { H, Q, K, D } = map;
  const from = ((layer * H + head) * Q + query) * K;
  const line = (numbers) => (numbers ? numbers.subarray(from, from + K) : null);
  const value = (key) => {
    const start = ((layer * H + head) * K + key) * D;
    return map.values.subarray(start, start + D);
  };
  return {
    scores: line(map.scores),
    factor: line(map.factor),
    weights: line(map.weights),
    allowed: Array.from({ length: K }, (_, key) => map.allowed(layer, head, query, key)),
    values: map.values ? Array.from({ length: K }, (_, key) => value(key)) : null,
    normalizer: map.normalizer,
    query,
  };
}

function stepsTrack(panel, step) {
  const go = (to) => {
    stepsStop(panel);
    stepsGo(panel, to);
  };
  const buttons = STEPS_NAMES.map((name, at) =>
    panelButton(name, () => go(at + 1), {
      class: `steps-button${at < step ? " is-reached" : ""}`,
      "aria-pressed": String(at + 1 === step),
      "data-focus": `step-${at + 1}`,
      "data-number": at + 1,
    }),
  );
  const playing = panel.timer !== 0;
  const play = panelButton(playing ? "Stop" : "Play the steps", () => (playing ? go(step) : stepsPlay(panel)), { class: "panel-button", "data-focus": "step-play" });
  return h("div", { class: "steps-track", role: "group", "aria-label": "Steps" }, buttons, stepsIsStill() ? null : play);
}

/** People who want no motion step by hand. */
function stepsIsStill() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

function stepsPlay(panel) {
  const next = () => {
    // a panel that is no longer on the page has nothing to play
    const step = panel.el.isConnected ? stepsCurrent(panel.context.state) + 1 : STEPS_NAMES.length;
    panel.timer = step < STEPS_NAMES.length ? window.setTimeout(next, STEPS_PAUSE) : 0;
    stepsGo(panel, step);
  };
  panel.timer = window.setTimeout(next, STEPS_PAUSE);
  stepsGo(panel, 1);
}

/** Draws even where the step stays: whether it plays may have changed. */
function stepsGo(panel, step) {
  const before = panel.context.state;
  panel.context.set({ step });
  if (panel.context.state === before) panelKeepingFocus(panel.el, () => stepsDraw(panel));
}

function stepsStop(panel) {
  window.clearTimeout(panel.timer);
  panel.timer = 0;
}

function stepsCaption(step, row, map) {
  const part = (name) => (new RegExp(`${name}: ([^·]+)`).exec(map.mechanism) || ["", ""])[1].trim();
  const said = (name) => (part(name) ? ` (${part(name)})` : "");
  const outside = row.allowed.filter((open) => !open).length;
  if (step === 1) return `Each key is compared with the query${said("score")}: the higher the score, the better they match.`;
  if (step === 2) {
    return outside
      ? `The region${said("region")} leaves out ${outside} of ${map.K} keys: whatever their score, they cannot be read.`
      : `The region${said("region")} says which keys may be read. Here, all ${map.K} of them.`;
  }
  if (step === 3) return stepsNormalisation(row);
  return "Each value is taken as much as its weight says, and all are added up: the sum is what the attention hands on for this query.";
}

function stepsNormalisation(row) {
  const { name, temperature } = stepsNormalizer(row.normalizer);
  const factor = row.factor ? " Then each is multiplied by its factor, which falls with the distance from the predicted place." : "";
  const texts = {
    softmax: `The softmax makes shares of the scores: exp of each${temperature === 1 ? "" : ` over the temperature ${temperature}`}, less the highest so that nothing overflows, divided by their sum.`,
    sparsemax: "The sparsemax takes the nearest point whose shares sum to 1: what lies below a threshold gets exactly 0.",
    raw: "Nothing is normalised: the scores themselves are the weights, and may sum to anything.",
    uniform: "Every allowed key gets the same share, whatever its score.",
    hard: "The best key gets all, the others nothing.",
  };
  return (texts[name] ?? `Scores become weights${row.normalizer ? ` by ${row.normalizer}` : ""}.`) + factor;
}

/** The keys of the table in their order: all, or the heaviest of very many. */
function stepsShown(panel, row) {
  const keys = Array.from(row.weights, (_, key) => key);
  if (panel.wholeTable || keys.length <= STEPS_MOST_KEYS) return keys;
  const heaviest = [...keys].sort((a, b) => row.weights[b] - row.weights[a]).slice(0, STEPS_MOST_KEYS);
  return heaviest.sort((a, b) => a - b);
}

function stepsRest(panel, row) {
  if (panel.wholeTable || row.weights.length <= STEPS_MOST_KEYS) return null;
  const shown = panelSum(stepsShown(panel, row).map((key) => row.weights[key]));
  const show = () => {
    panel.wholeTable = true;
    stepsDraw(panel);
  };
  return h(
    "p",
    { class: "panel-hint" },
    `The ${STEPS_MOST_KEYS} heaviest keys; the other ${row.weights.length - STEPS_MOST_KEYS} have ${panelNumber(panelSum(row.weights) - shown, 3)} together. `,
    panelButton("Show all keys", show, { class: "panel-link" }),
  );
}

function stepsVerdict(row) {
  const { agrees, text } = stepsCheck(row);
  const sign = agrees === null ? "○" : agrees ? "✓" : "≠";
  return h("p", { class: `steps-check ${agrees === false ? "is-off" : agrees ? "is-right" : ""}`, role: "status" }, h("b", { "aria-hidden": "true" }, sign), " ", text);
}

function stepsNotKept(map) {
  const lost = [!map.scores && "scores", !map.values && "values"].filter(Boolean);
  if (!lost.length) return null;
  return h("p", { class: "panel-hint" }, `This record was made without ${lost.join(" and ")}: those columns are missing, not zero.`);
}
