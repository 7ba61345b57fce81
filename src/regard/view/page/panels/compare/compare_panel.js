// Two maps side by side on one colour scale, and what lies between them. Where two models wrote different things, each is
// given what the other wrote: so both have the same rows, and there is a difference.

import { compareQuestion } from "./compare_question.js";
import { comparisonControls, hasOther, haveTwoOutputs, otherOf, outputChoice, recordNames, whoseOutput } from "./compare_sides.js";
import { inCommonWords, titleOf } from "./common_words.js";
import { logProbability, ScoredOutputs } from "./scored_outputs.js";
import { fill, h } from "../../elements/dom.js";
import { meanOf, numberText, rowOf, totalVariation } from "../row_numbers.js";
import { matrixFigure } from "../small_matrix.js";
import { keepingFocus, rampLegend, largestSize } from "../panel_parts.js";
import { t } from "../../words/messages.js";

export { otherOf, recordNames } from "./compare_sides.js";

/** @typedef {import("../../record/record.js").AttentionRecord} AttentionRecord */
/** @typedef {import("../../record/record.js").Matrix} Matrix */
/** @typedef {import("../small_matrix.js").SmallMatrix} SmallMatrix */
/** @typedef {import("../../host/view_state.js").State} State */
/** @typedef {import("../panel_parts.js").PanelContext} PanelContext */
/** @typedef {import("./compare_sides.js").Other} Other */
/** @typedef {import("./scored_outputs.js").Scored} Scored */

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
    let latest = context;
    const redraw = () => keepingFocus(drawn, () => (hasOther(latest) ? draw(drawn, latest, scored) : fill(drawn)));
    const scored = new ScoredOutputs(redraw);
    /** @param {PanelContext} next */
    const update = (next) => {
      latest = next;
      redraw();
      ask.update(next);
    };
    update(context);
    return { update, chosen: () => (hasOther(latest) ? sidesOf(latest, scored) : {}) };
  },
};

/**
 * What stands on either side: the weights, what each side is called, and the output that both were given to write.
 * @param {PanelContext} context @param {ScoredOutputs} scored
 */
function sidesOf(context, scored) {
  const { record, state } = context;
  const other = otherOf(context);
  const whose = whoseOutput(context, other.record);
  const two = haveTwoOutputs(record, other.record);
  /** @type {[Scored, Scored]} the left given the right’s output, the right given the left’s */
  const crossed = two ? [scored.of(context, record, other.record.output), scored.of(context, other.record, record.output)] : [{}, {}];
  const shown = [whose === "right" ? (crossed[0].record ?? record) : record, whose === "left" ? (crossed[1].record ?? other.record) : other.record];
  const left = shown[0].matrix(shown[0].map(state.map).name, state);
  const right = shown[1].matrix(other.map.name, { ...state, layer: other.layer, head: other.head });
  const given = whose === "left" && crossed[1].record ? record.output : whose === "right" && crossed[0].record ? other.record.output : "";
  return { other, whose, two, crossed, left, right, given, names: recordNames(record, other.record) };
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

/** @param {HTMLElement} el @param {PanelContext} context @param {ScoredOutputs} scored */
function draw(el, context, scored) {
  const { record } = context;
  const { other, whose, two, crossed, left, right, names } = sidesOf(context, scored);
  const lines = [comparisonControls(context, other), two ? outputChoice(context, whose) : null, outputsOf(names, record, other.record), two ? probabilities(names, record, other.record, crossed) : null];
  fill(el, lines, figures(el, context, { left, right, names }), h("p", { class: "panel-hint", role: "status" }, crossedLine(whose, crossed)));
}

/**
 * The two maps, and where they have words in common their difference and what it says.
 * @param {HTMLElement} el @param {PanelContext} context @param {{left: Matrix, right: Matrix, names: string[]}} given
 */
function figures(el, { state }, { left, right, names }) {
  const common = inCommonWords(left, right);
  const whole = common !== null && [...common.alone.rows, ...common.alone.cols].every((n) => n === 0);
  /** @type {SmallMatrix[]} what both have is drawn as both have it */
  const [one, other] = whole ? [common.left, common.right] : [left, right];
  const most = largestSize(one.data, other.data);
  const wide = el.clientWidth || 900;
  const across = wide >= 1080 && common ? 3 : wide >= 620 ? 2 : 1;
  const space = wide / across - 44;
  /** @param {string} title @param {SmallMatrix} matrix */
  const figure = (title, matrix) => matrixFigure({ title, matrix, most, state, space, below: [rampLegend("0", numberText(most), false, state)] });
  const why = common ? "" : (whyNoDifference(left, right) ?? "");
  return [
    h("div", { class: `panel-figures${whole ? " is-level" : ""}` }, figure(names[0] + titleOf(one, left), one), figure(names[1] + titleOf(other, right), other), common ? differenceFigure(common.left, common.right, state, space) : null),
    h("p", { class: "panel-result", role: "status" }, common ? [summaryOf(common.left, common.right), " ", aloneLine(common.alone, left, right)] : t("No difference map: {why}.", { why })),
  ];
}

/** @param {{rows: [number, number], cols: [number, number]}} alone @param {Matrix} left @param {Matrix} right */
function aloneLine({ rows, cols }, left, right) {
  if ([...rows, ...cols].every((n) => n === 0)) {
    const joined = left.rows !== right.rows || left.cols !== right.cols;
    return joined ? t("The two cut the text differently: what is drawn are the smallest pieces that both have.") : "";
  }
  return t("The difference is of what both have: {left} of the left’s queries and {leftKeys} of its keys, {right} and {rightKeys} of the right’s, are left out of it.", {
    left: rows[0],
    leftKeys: cols[0],
    right: rows[1],
    rightKeys: cols[1],
  });
}

/** What came of giving one the other’s output. @param {import("./compare_sides.js").Whose} whose @param {[Scored, Scored]} crossed */
function crossedLine(whose, crossed) {
  if (crossed.some((each) => each.waiting)) return t("Each is given the other’s output…");
  const needed = whose === "left" ? crossed[1] : whose === "right" ? crossed[0] : {};
  if (needed.error) return t("The other’s output could not be given: {why} Each shows its own.", { why: needed.error });
  if (whose !== "own" && !needed.record) return t("Each shows its own output: to be given the other’s, it needs a running model.");
  if (whose === "left") return t("Both are drawn as they write the left’s output: the right did not choose it.");
  if (whose === "right") return t("Both are drawn as they write the right’s output: the left did not choose it.");
  return "";
}

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

/**
 * How probable either side finds either output: log p of each.
 * @param {string[]} names @param {AttentionRecord} one @param {AttentionRecord} other @param {[Scored, Scored]} crossed
 */
function probabilities(names, one, other, crossed) {
  const rows = [
    { output: one.output, by: [one, crossed[1].record] },
    { output: other.output, by: [crossed[0].record, other] },
  ];
  if (rows.every(({ by }) => by.every((each) => logProbability(each) === null))) return null;
  return h(
    "div",
    { class: "panel-scroll compare-scores" },
    h(
      "table",
      null,
      h("caption", null, t("How probable each side finds each output: log p")),
      h("thead", null, h("tr", null, h("th", { scope: "col" }, t("log p of")), names.map((name) => h("th", { scope: "col" }, name.replace(/: $/, ""))))),
      h("tbody", null, rows.map(({ output, by }) => h("tr", null, h("th", { scope: "row" }, h("bdi", { dir: "auto" }, output)), by.map((each) => h("td", null, numberText(logProbability(each))))))),
    ),
  );
}

/** @param {SmallMatrix} left @param {SmallMatrix} right @param {State} state @param {number} space */
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

/** @param {SmallMatrix} left @param {SmallMatrix} right */
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
