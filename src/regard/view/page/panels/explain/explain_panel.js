// Is it an explanation? The weights, what they say of themselves, and the measures beside them.

import { fill, h } from "../../elements/dom.js";
import { messageOf } from "../../host/questions.js";
import { weightReadings } from "./weight_readings.js";
import { rolloutExplanation } from "./rollout.js";
import { matrixFigure } from "../small_matrix.js";
import { meanOf, numberText } from "../row_numbers.js";
import { button, currentMap, currentMatrix, keepingFocus, largestSize, needsModel, rampLegend } from "../panel_parts.js";
import { mergeGroups } from "../../record/record.js";
import { groupWith } from "../../drawing/view.js";
import { caption, captions, measureName, t } from "../../words/messages.js";

/** @typedef {import("../../record/record.js").AttentionMap} AttentionMap */
/** @typedef {import("../../record/record.js").Matrix} Matrix */
/** @typedef {import("../../record/record.js").Explanation} Explanation */

/** @typedef {import("../panel_parts.js").PanelContext} PanelContext */

/**
 * @typedef {object} Panel
 * @property {HTMLElement} el
 * @property {PanelContext} context
 * @property {ReturnType<typeof weightReadings>|null} readings
 * @property {boolean} asking
 * @property {string} error
 * @property {string} foil what is typed as the answer that was not given
 */

/**
 * What all figures of the panel share.
 * @typedef {object} Figure
 * @property {import("../../host/view_state.js").State} state
 * @property {number} space
 * @property {number} row
 * @property {number} col
 * @property {(row: number, col: number) => void} pick
 */

/** What the short names of numbers stand for, and how to read them. @returns {Record<string, string>} */
const terms = () => ({
  "τ": t("Kendall’s rank correlation with the weights: 1 the same order, 0 none, −1 the reverse"),
  TVD: t("total variation distance of the outputs: 0 the same, 1 nothing in common"),
  JSD: t("Jensen–Shannon divergence of the weights: 0 the same, 0.69 nothing in common"),
  comprehensiveness: t("probability that the answer loses without the 1 to 50 % of the tokens that this names first: large if they were needed"),
  sufficiency: t("probability that the answer loses with these tokens alone: small if they are enough"),
  lead: t("log-probability of the answer less that of the other one, in nats"),
});

export const explainPanel = {
  name: "explain",
  get title() {
    return t("Is it an explanation?");
  },

  /** @returns {true | string} */
  available: () => true,

  /** @param {HTMLElement} el @param {PanelContext} context */
  mount(el, context) {
    /** @type {Panel} */
    const panel = { el, context, readings: null, asking: false, error: "", foil: context.record.question.foil?.text ?? "" };
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
  const { state, record } = context;
  const map = currentMap(context);
  const matrix = currentMatrix(context);
  const chosen = groupWith(matrix.rowMembers, state.query) ?? -1;
  const wide = el.clientWidth || 900;
  const space = Math.min(wide >= 760 ? wide / 2 - 48 : wide - 48, 620);
  /** @param {number} row @param {number} col */
  const pick = (row, col) => context.set({ query: matrix.rowMembers[row][0], key: matrix.colMembers[col][0] });
  const figure = { state, space, row: chosen, col: groupWith(matrix.colMembers, state.key) ?? 0, pick };
  const given = record.explanations.filter((each) => each.map === map.name);
  const rolled = rolloutExplanation(record, map);
  if (panel.readings?.matrix !== matrix) panel.readings = weightReadings(matrix, (query) => panel.context.set({ query }));
  panel.readings.mark(chosen);
  fill(
    el,
    h("p", { class: "explain-position" }, t("Attention shows where the layer read, not why the model answered. The measures below say how far to trust it for this model and this sentence.")),
    h("h3", null, t("What the weights say of themselves")),
    h(
      "div",
      { class: "panel-figures" },
      matrixFigure({ ...figure, title: matrix.title, matrix, most: largestSize(matrix.data) }),
      panel.readings.queries,
    ),
    panel.readings.coverage,
    h("h3", null, t("Measured against the model")),
    given.length || rolled ? h("div", { class: "explain-cards" }, matricesFirst(given, rolled).map((each) => measureCard(each, map, matrix, figure))) : null,
    measureControls(panel, given),
    whyNot(panel, map, matrix, chosen),
  );
}

/**
 * “Why this and not that”: the measures once more, beside an answer that was not given.
 * @param {Panel} panel @param {AttentionMap} map @param {Matrix} matrix @param {number} row
 */
function whyNot(panel, map, matrix, row) {
  const { context } = panel;
  const isText = map.name === "cross";
  if (!context.abilities.has("ask") || !(isText || map.name === "pooling")) return null;
  const input = h("input", { type: "text", dir: "auto", autocomplete: "off", spellcheck: "false", maxlength: 200, value: panel.foil, "data-focus": "explain-foil", on: { input: () => (panel.foil = input.value) } });
  const step = isText && row >= 0 ? matrix.rowMembers[row][0] : null;
  const where = isText ? (row >= 0 ? t("instead of “{word}”", { word: matrix.rowTokens[row] }) : t("where it was likeliest; choose a word of the output for another place")) : t("instead of the label");
  const ask = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (panel.foil.trim()) measure(panel, { text: panel.foil.trim(), ...(step === null ? {} : { step }) });
  };
  return h(
    "form",
    { class: "explain-foil", on: { submit: ask } },
    h("h3", null, t("Why this and not that?")),
    h("div", { class: "panel-row" }, h("label", { class: "panel-field" }, h("span", null, t("why not")), input), h("button", { type: "submit", class: "panel-button", disabled: panel.asking, "data-focus": "explain-why" }, t("Ask"))),
    h("p", { class: "panel-hint" }, where),
  );
}

/**
 * Those with a matrix first, so that no card leaves a hole.
 * @param {Explanation[]} given @param {Explanation|null} rolled
 */
function matricesFirst(given, rolled) {
  const all = rolled ? [...given, rolled] : given;
  return [...all.filter((each) => each.matrix), ...all.filter((each) => !each.matrix)];
}

/** @param {Explanation} each @param {AttentionMap} map @param {Matrix} matrix @param {Figure} figure */
function measureCard(each, map, matrix, figure) {
  const numbers = Object.entries(each.rows).map(([name, values]) => measureNumbers(name, values, each.reading, matrix, figure.row));
  const below = [h("dl", { class: "explain-numbers" }, numbers), h("p", { class: "explain-reading" }, each.reading)];
  if (!each.matrix) return h("figure", { class: "panel-figure" }, h("figcaption", null, each.title), below);
  const data = each.signed
    ? largestMerged(each.matrix, map.K, matrix)
    : mergeGroups(each.matrix, map.K, matrix.rowMembers, matrix.colMembers).data;
  const most = largestSize(data);
  const legend = rampLegend(each.signed ? numberText(-most) : "0", numberText(most), each.signed, figure.state);
  return matrixFigure({ ...figure, title: `${each.title}${mergingNote(matrix, each.signed)}`, matrix: { ...matrix, data }, most, signed: each.signed, below: [legend, ...below] });
}

/** How tokens became words, where they did. @param {Matrix} matrix @param {boolean} signed */
function mergingNote({ rowMembers, colMembers }, signed) {
  if ([...rowMembers, ...colMembers].every((members) => members.length === 1)) return "";
  return ` · ${signed ? t("words: largest over keys, mean over queries") : caption(captions.words)}`;
}

/**
 * What a probability loses by one token and by another does not add up: the larger loss stands for the word.
 * @param {ArrayLike<number>} values @param {number} K @param {Pick<Matrix, "rows"|"cols"|"rowMembers"|"colMembers">} matrix
 */
export function largestMerged(values, K, { rows, cols, rowMembers, colMembers }) {
  const data = new Float32Array(rows * cols);
  /** @param {number} a @param {number} b */
  const larger = (a, b) => (Math.abs(b) > Math.abs(a) ? b : a);
  rowMembers.forEach((queries, row) =>
    colMembers.forEach((keys, col) => {
      const ofQueries = queries.map((query) => keys.map((key) => values[query * K + key]).reduce(larger));
      data[row * cols + col] = meanOf(ofQueries);
    }),
  );
  return data;
}

/**
 * The mean over all queries, the number of the chosen one, and a small curve of all.
 * A mean that the reading below states is not stated twice.
 * @param {string} name @param {(number|null)[]} values @param {string} reading @param {Matrix} matrix @param {number} chosen
 */
function measureNumbers(name, values, reading, matrix, chosen) {
  const groups = matrix.rowMembers.map((members) => meanOf(members.map((query) => values[query])));
  const most = largestSize(groups.filter(Number.isFinite)) || 1;
  /** @param {number} x @param {number} row */
  const bar = (x, row) => h("i", { class: `${row === chosen ? "is-chosen " : ""}${x < 0 ? "is-negative" : ""}`, style: { height: `${Number.isFinite(x) ? Math.max((16 * Math.abs(x)) / most, 1) : 0}px` }, title: `${matrix.rowTokens[row]}: ${numberText(x)}` });
  const here = chosen >= 0 ? h("small", null,  " ", t("here {number}", { number: numberText(groups[chosen]) })) : null;
  return h(
    "div",
    null,
    h("dt", { title: terms()[name] ?? null }, measureName(name)),
    h("dd", null, statesNumber(reading, numberText(meanOf(values))) ? null : h("b", null, numberText(meanOf(values))), here, h("span", { class: "explain-spark", "aria-hidden": "true" }, groups.map(bar))),
  );
}

/** Whether a sentence has this very number. @param {string} sentence @param {string} number */
export function statesNumber(sentence, number) {
  return sentence.replaceAll("-", "−").split(/[^\d.−]+/).map((word) => word.replace(/\.$/, "")).includes(number);
}

/** @param {Panel} panel @param {Explanation[]} given */
function measureControls(panel, given) {
  const { context } = panel;
  const live = context.abilities.has("ask");
  const none = given.length === 0;
  const said = panel.error || (panel.asking ? t("Measuring: this runs the model many times…") : "");
  return h(
    "div",
    { class: "explain-ask" },
    none ? h("p", { class: "panel-hint" }, t("Nothing was measured for this map: gradients, leaving words out, value zeroing, uniform and adversarial weights need the model.")) : null,
    h(
      "div",
      { class: "panel-row" },
      none || live
        ? button(none ? t("Measure") : t("Measure again"), () => measure(panel), { class: "panel-button is-main", disabled: !live || panel.asking, "data-focus": "measure" })
        : null,
      none && !live ? h("span", { class: "panel-hint" }, needsModel(panel.context.record)) : null,
    ),
    h("p", { role: "status", class: panel.error ? "panel-error" : "panel-hint" }, said),
    glossary(),
  );
}

function glossary() {
  return h(
    "details",
    { class: "explain-glossary" },
    h("summary", null, t("What the numbers mean")),
    h("dl", null, Object.entries(terms()).map(([name, meaning]) => [h("dt", null, measureName(name)), h("dd", null, meaning)])),
  );
}

/** @param {Panel} panel @param {import("../../host/asked_questions.js").Foil|null} [foil] */
async function measure(panel, foil = null) {
  const { context } = panel;
  Object.assign(panel, { asking: true, error: "" });
  draw(panel);
  try {
    const answer = await context.look({ explain: true, foil }, true);
    panel.asking = false;
    context.replaceRecord(answer);
  } catch (error) {
    Object.assign(panel, { asking: false, error: messageOf(error) });
    draw(panel);
  }
}
