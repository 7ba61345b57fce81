// One query step by step as a sheet. As regard/view/sheets/steps_sheet.py has it.

import { exponentials, parseNormalizer } from "../panels/steps/recomputed_weights.js";
import { NEAR, products } from "../panels/steps/neuron_view.js";
import { queryRow } from "../panels/steps/steps_panel.js";
import { currentMap, largestSize } from "../panels/panel_parts.js";
import { numberText, sumOf } from "../panels/row_numbers.js";
import { t } from "../words/messages.js";

/** @typedef {import("../panels/panel_parts.js").PanelContext} PanelContext */
/** @typedef {import("../record/record.js").AttentionMap} AttentionMap */
/** @typedef {import("./sheet_table.js").TableCell} TableCell */
/** @typedef {{step: number, title: string, cell: (key: number) => TableCell, sum?: TableCell}} Column */

const [MOST_KEYS, MOST_COLOURS] = [48, 64];

/** @param {PanelContext} context @param {(heading: string, small: string[], sections: import("./sheet_figure.js").Block[][]) => import("./sheet_figure.js").Sheet} made */
export function stepsSheet(context, made) {
  const { record, state } = context;
  const map = currentMap(context);
  const [layer, head] = [map.L === 1 ? 0 : state.layer, map.H === 1 ? 0 : state.head];
  if (typeof layer !== "number" || typeof head !== "number") throw new Error(t("Only one head of one layer has steps: choose one."));
  const query = Math.min(state.query ?? 0, map.Q - 1);
  const row = queryRow(map, Math.min(layer, map.L - 1), Math.min(head, map.H - 1), query);
  const asked = Number(state.step);
  const step = asked >= 1 && asked <= 4 ? Math.floor(asked) : 4;
  const order = Array.from(row.weights, (_, key) => key).sort((a, b) => row.weights[b] - row.weights[a]);
  const shown = order.slice(0, MOST_KEYS).sort((a, b) => a - b);
  const columns = columnsOf(map, row).filter((column) => column.step <= step);
  const values = row.values && step >= 4 ? row.values : null;
  const table = {
    columns: columns.map((column) => column.title),
    lines: shown.map((key) => columns.map((column) => column.cell(key))),
    foot: step >= 3 ? columns.map((column) => column.sum ?? {}) : [],
    signedFull: values ? largestSize(...values) : 0,
  };
  const said = [{ words: t("query: {word}", { word: map.queries.labels[query] }), heading: true }];
  /** @param {string} words */
  const say = (words) => said.push({ words, heading: false });
  if (row.weights.length > MOST_KEYS) {
    const rest = sumOf(row.weights) - sumOf(shown.map((key) => row.weights[key]));
    say(t("The {n} heaviest keys; the other {others} have {weight} together.", { n: MOST_KEYS, others: row.weights.length - MOST_KEYS, weight: numberText(rest, 3) }));
  }
  const each = perColour(map.D);
  if (values && each > 1) say(t("strips: each colour is the mean of {n} numbers", { n: each }));
  if (!map.scores || !map.values) say(t("What the record was made without is missing, not zero."));
  const { title } = record.matrix(map.name, { ...state, layer, head, units: "tokens", specials: true });
  const neurons = step === 1 || step === 4 ? neuronTables(map, row, query, shown) : [];
  return made("", [record.output, record.model, map.mechanism, title], [...said.map((words) => [words]), [{ table }], ...neurons]);
}

/**
 * Where each score comes from, number by number; nothing where queries and keys were not kept.
 * @param {AttentionMap} map @param {ReturnType<typeof queryRow>} row @param {number} query @param {number[]} shown
 * @returns {import("./sheet_figure.js").Block[][]}
 */
function neuronTables(map, row, query, shown) {
  const { asking, keys, scores, vector } = row;
  if (!asking || !keys) return [];
  const made = shown.map((key) => products(asking, keys[key], scores ? scores[key] : null, vector));
  const biased = made.some(({ bias }) => Math.abs(bias) > NEAR * Math.max(1, largestSize(scores ?? [])));
  const [mostKey, mostProduct] = [largestSize(...shown.map((key) => keys[key])), largestSize(...made.map(({ product }) => product))];
  const columns = [t("key"), t("k"), vector ? t("v ⊙ tanh(q + k)") : t("q ⊙ k"), t("sum"), ...(biased ? [t("bias")] : [])];
  const lines = made.map(({ product, sum, bias }, n) => [
    { text: map.keys.labels[shown[n]], language: map.keys.language },
    { strip: stripOf(keys[shown[n]], mostKey) },
    { strip: stripOf(product, mostProduct) },
    { text: numberText(sum, 3) },
    ...(biased ? [{ text: numberText(bias, 3) }] : []),
  ]);
  const own = [
    [{ text: "q" }, { text: map.queries.labels[query], language: map.queries.language }, { strip: stripOf(asking, largestSize(asking)) }],
    ...(vector ? [[{ text: "v" }, {}, { strip: stripOf(vector, largestSize(vector)) }]] : []),
  ];
  return [
    [{ words: t("Query and keys, number by number"), heading: true }],
    [{ words: t("The strongest colour of a column is its largest number.") }],
    [{ table: { columns: ["", t("query"), ""], lines: own } }],
    [{ table: { columns, lines } }],
  ];
}

/** Those that the record has numbers for. @param {AttentionMap} map @param {ReturnType<typeof queryRow>} row @returns {Column[]} */
function columnsOf(map, row) {
  const { scores, factor, values, weights, allowed } = row;
  const { name, temperature } = parseNormalizer(row.normalizer);
  const exps = scores && name === "softmax" ? exponentials(scores, allowed, temperature) : null;
  const most = largestSize(weights) || 1;
  const highest = scores ? largestSize(Array.from(scores).filter(Number.isFinite)) || 1 : 1;
  /** @type {(Column|null)[]} */
  const columns = [
    { step: 1, title: t("key"), cell: (key) => ({ text: map.keys.labels[key], language: map.keys.language }), sum: { text: t("sum") } },
    scores && { step: 1, title: t("score"), cell: (key) => ({ text: numberText(scores[key]), bar: Number.isFinite(scores[key]) ? scores[key] / highest : 0 }) },
    { step: 2, title: t("in the region"), cell: (key) => ({ text: allowed[key] ? "✓" : t("outside") }) },
    exps && { step: 3, title: temperature === 1 ? t("exp(score − max)") : t("exp((score − max) / τ)"), cell: (key) => ({ text: numberText(exps[key], 3) }), sum: { text: numberText(sumOf(exps), 3) } },
    factor && { step: 3, title: t("factor"), cell: (key) => ({ text: numberText(factor[key], 3) }) },
    { step: 3, title: t("weight"), cell: (key) => ({ text: numberText(weights[key], 3), bar: weights[key] / most }), sum: { text: numberText(sumOf(weights), 3) } },
    ...(values ? valueColumns(values, weights, most) : []),
  ];
  return columns.filter((column) => column !== null);
}

/** @param {Float32Array[]} values @param {Float32Array} weights @param {number} most @returns {Column[]} */
function valueColumns(values, weights, most) {
  const full = largestSize(...values) || 1;
  /** @param {number} key */
  const weighted = (key) => Array.from(values[key], (x) => x * weights[key]);
  const total = Array.from(values[0] ?? [], (_, at) => values.reduce((sum, value, key) => sum + value[at] * weights[key], 0));
  return [
    { step: 4, title: t("value"), cell: (key) => ({ strip: stripOf(values[key], full) }) },
    { step: 4, title: t("weight × value"), cell: (key) => ({ strip: stripOf(weighted(key), full * most) }), sum: { strip: stripOf(total, largestSize(total)) } },
  ];
}

/** @param {number} size */
const perColour = (size) => Math.max(Math.ceil(size / MOST_COLOURS), 1);

/** @param {ArrayLike<number>} numbers @param {number} full */
function stripOf(numbers, full) {
  const each = perColour(numbers.length);
  const all = Array.from(numbers);
  return Array.from({ length: Math.ceil(all.length / each) }, (_, n) => {
    const part = all.slice(n * each, (n + 1) * each);
    return sumOf(part) / part.length / (full || 1);
  });
}
