// What the weights say of themselves, and the measures beside them, as a sheet. As regard/view/sheets/measures_sheet.py has it.

import { largestMerged } from "../panels/explain/explain_panel.js";
import { rolloutExplanation } from "../panels/explain/rollout.js";
import { currentMap, largestSize } from "../panels/panel_parts.js";
import { meanOf, numberText, readingsOf } from "../panels/row_numbers.js";
import { mergeGroups } from "../record/record.js";
import { marksOf } from "../record/token_words.js";
import { caption, captions, measureName, t } from "../words/messages.js";

/** @typedef {import("../record/record.js").Explanation} Explanation */
/** @typedef {import("../record/record.js").Matrix} Matrix */
/** @typedef {import("./sheet_figure.js").Block} Block */
/** @typedef {(matrix: Matrix, data?: ArrayLike<number>) => import("./sheet_cells.js").SheetMatrix} Plain */

/** @param {import("../panels/panel_parts.js").PanelContext} context @param {Matrix} matrix @param {Plain} plain @returns {Block[][]} */
export function measureSections(context, matrix, plain) {
  const { record } = context;
  const map = currentMap(context);
  const given = record.explanations.filter((each) => each.map === map.name);
  const rolled = rolloutExplanation(record, map);
  const all = rolled ? [...given, rolled] : given;
  const ordered = [...all.filter((each) => each.matrix), ...all.filter((each) => !each.matrix)];
  const readings = readingsOf(matrix, (col) => matrix.colMembers[col].every((key) => matrix.colSide.special[key]));
  return [
    [{ words: t("Attention shows where the layer read, not why the model answered. The measures below say how far to trust it for this model and this sentence.") }],
    [{ words: t("What the weights say of themselves"), heading: true }],
    [{ map: plain(matrix), full: largestSize(matrix.data) }, { table: queryTable(matrix, readings) }, { table: coverageTable(matrix, readings) }],
    ...(ordered.length ? [[{ words: t("Measured against the model"), heading: true }]] : []),
    ...ordered.flatMap((each) => measure(each, map.K, matrix, plain)),
  ];
}

/** @param {Matrix} matrix @param {ReturnType<typeof readingsOf>} readings */
function queryTable(matrix, { queries }) {
  const most = largestSize(queries.map((query) => query.width)) || 1;
  const missing = matrix.missing ?? queries.map(() => 0);
  const hasSpecial = queries.some((query) => query.special > 0);
  const hasMissing = missing.some((share) => Math.abs(share) > 0.01);
  const lines = queries.map((query, row) => [
    { text: matrix.rowTokens[row], language: matrix.rowSide.language },
    { text: numberText(query.entropy) },
    { text: numberText(query.width, 1), bar: query.width / most },
    ...(hasSpecial ? [{ text: numberText(query.special) }] : []),
    ...(hasMissing ? [{ text: numberText(missing[row]) }] : []),
  ]);
  const columns = [t("query"), t("entropy"), t("reads"), ...(hasSpecial ? [t("on {marks}", { marks: marksOf(matrix.colSide) })] : []), ...(hasMissing ? [t("on nothing")] : [])];
  return { columns, lines, title: t("Entropy in nats, and how many keys were read effectively") };
}

/** @param {Matrix} matrix @param {ReturnType<typeof readingsOf>} readings */
function coverageTable(matrix, { coverage }) {
  const most = largestSize(coverage) || 1;
  const lines = Array.from(coverage, (mass, col) => [{ text: matrix.colTokens[col], language: matrix.colSide.language }, { text: numberText(mass), bar: mass / most }]);
  return { columns: [t("key"), t("mass")], lines, title: t("Mass on each key, over all queries (coverage)") };
}

/** Its matrix, a number for each query where it has some, and what it says. @param {Explanation} each @param {number} K @param {Matrix} matrix @param {Plain} plain @returns {Block[][]} */
function measure(each, K, matrix, plain) {
  const merged = [...matrix.rowMembers, ...matrix.colMembers].some((members) => members.length > 1);
  /** @type {Block[]} */
  const row = [];
  if (each.matrix) {
    const data = each.signed && merged ? largestMerged(each.matrix, K, matrix) : mergeGroups(each.matrix, K, matrix.rowMembers, matrix.colMembers).data;
    const note = merged ? ` · ${each.signed ? t("words: largest over keys, mean over queries") : caption(captions.words)}` : "";
    row.push({ map: plain(matrix, data), full: largestSize(data), signed: each.signed, title: each.title + note, name: t("measure") });
  }
  if (Object.keys(each.rows).length) row.push({ table: numbersTable(each, matrix) });
  return [...(each.matrix ? [] : [[{ words: each.title }]]), ...(row.length ? [row] : []), ...(each.reading ? [[{ words: each.reading }]] : [])];
}

/** The numbers of each query, and their mean over all tokens, below. @param {Explanation} each @param {Matrix} matrix */
function numbersTable({ rows }, matrix) {
  /** @type {import("./sheet_table.js").TableCell[][]} */
  const lines = matrix.rowTokens.map((text) => [{ text, language: matrix.rowSide.language }]);
  const foot = [{ text: t("mean") }];
  for (const numbers of Object.values(rows)) {
    const means = matrix.rowMembers.map((members) => meanOf(members.map((query) => numbers[query])));
    const most = largestSize(means.filter(Number.isFinite)) || 1;
    means.forEach((x, at) => lines[at].push({ text: numberText(x), bar: Number.isFinite(x) ? x / most : 0 }));
    foot.push({ text: numberText(meanOf(numbers)) });
  }
  return { columns: [t("query"), ...Object.keys(rows).map(measureName)], lines, foot };
}
