// The map and every tab as a sheet that can be drawn: what is seen, with what is chosen in it. As regard/view/sheets has them.

import { leadsToEnd, pathTo, treeLayout } from "../panels/beam/beam_tree.js";
import { viewTitle } from "../drawing/view.js";
import { stripesOf } from "../drawing/painted_cells.js";
import { inCommonWords, titleOf } from "../panels/compare/common_words.js";
import { whyNoDifference } from "../panels/compare/compare_panel.js";
import { cellWeights } from "../panels/picture_panel.js";
import { currentMatrix, largestSize } from "../panels/panel_parts.js";
import { meanOf, numberText, rowOf, totalVariation } from "../panels/row_numbers.js";
import { sortedLinks, strongestLinks } from "../panels/table_panel.js";
import { visibleText } from "../record/token_words.js";
import { shadeName, t } from "../words/messages.js";
import { lensSheet } from "./lens_sheet.js";
import { measureSections } from "./measures_sheet.js";
import { stepsSheet } from "./steps_sheet.js";

/** @typedef {import("../panels/panel_parts.js").PanelContext} PanelContext */
/** @typedef {import("../record/record.js").AttentionRecord} AttentionRecord */
/** @typedef {import("../record/record.js").Matrix} Matrix */
/** @typedef {import("./sheet_figure.js").Sheet} Sheet */
/** @typedef {import("./sheet_figure.js").Block} Block */
/** @typedef {import("../drawing/view.js").View} View */

/**
 * What a panel keeps for itself and a picture of it needs: the table its order, the comparison its two sides.
 * @typedef {{count?: number, by?: "row"|"col"|"weight", down?: boolean, left?: Matrix, right?: Matrix, names?: string[], given?: string, other?: import("../panels/compare/compare_sides.js").Other}} Chosen
 */

/** @type {Record<string, (context: PanelContext, chosen: Chosen) => Sheet|Promise<Sheet>>} */
const SHEETS = {
  steps: (context) => stepsSheet(context, (_, small, sections) => sheetOf(context, currentMatrix(context), sections, small)),
  beam: treeSheet,
  compare: comparisonSheet,
  explain: (context) => sheetOf(context, currentMatrix(context), measureSections(context, currentMatrix(context), plainMatrix(context))),
  picture: pictureSheet,
  table: linksSheet,
  lens: (context) => lensSheet(context, nameOf(context.record)),
};

/** Whether there is a drawing of a tab. @param {string} tab */
export const canDraw = (tab) => Object.hasOwn(SHEETS, tab);

/** @param {string} tab @param {PanelContext} context @param {Chosen} chosen */
export function tabSheet(tab, context, chosen) {
  return SHEETS[tab](context, chosen);
}

/** The map, as cells or as lines. @param {View} view @param {boolean} lines @returns {Sheet} */
export function mapSheet(view, lines) {
  const { matrix, map, record } = view;
  const [queries, keys] = [matrix.rowSide.title || t("queries"), matrix.colSide.title || t("keys")];
  const axes = lines ? t("left: {queries} · right: {keys}", { queries, keys }) : t("rows: {queries} · columns: {keys}", { queries, keys });
  const heads = view.heads.length ? { heads: view.heads.map((each) => ({ short: each.short, colour: each.colour, data: each.matrix.data })), stripes: stripesIn(view) } : {};
  const plain = { ...plainMatrix({ state: view.state })(matrix), reversed: view.reversed, rest: view.rest, ...heads };
  const block = { map: plain, full: largestSize(view.state.scale === "one" || view.heads.length ? view.full : matrix.data), signed: view.signed, rows: view.state.scale === "row" ? view.full : undefined, lines, name: shadeName(map.name) };
  const name = nameOf(record);
  return {
    heading: name || record.model || map.name,
    small: [record.output, record.model, map.mechanism, viewTitle(view), axes],
    sections: [[block]],
    languages: [matrix.colSide.language, matrix.rowSide.language],
    said: [name || record.model, viewTitle(view)].filter(Boolean).join(": "),
  };
}

/** @param {View} view @returns {import("./sheet_cells.js").SheetMatrix["stripes"]} */
const stripesIn = (view) => (row, col, width) => stripesOf(view, row, col, width);

/** @param {Pick<AttentionRecord, "title"|"changes">} record */
const nameOf = ({ title, changes }) => [title, ...changes].filter(Boolean).join(" · ");

/** What the drawing needs of a matrix, with other numbers on the same axes. @param {{state: {reverse: string}}} context */
const plainMatrix = ({ state }) => (/** @type {import("../panels/small_matrix.js").SmallMatrix} */ matrix, /** @type {ArrayLike<number>|undefined} */ data = undefined) => ({
  data: data ?? matrix.data,
  rows: matrix.rows,
  cols: matrix.cols,
  rowTokens: matrix.rowTokens,
  colTokens: matrix.colTokens,
  allowed: matrix.allowed,
  rowLanguage: matrix.rowSide?.language ?? "",
  colLanguage: matrix.colSide?.language ?? "",
  reversed: state.reverse === "on" || (state.reverse !== "off" && matrix.colSide?.rightToLeft === true),
});

/** @param {PanelContext} context @param {Matrix} matrix @param {Block[][]} sections @param {string[]} [small] @returns {Sheet} */
function sheetOf({ record }, matrix, sections, small) {
  const name = nameOf(record);
  const mechanism = record.maps.find((map) => map.queries === matrix.rowSide && map.keys === matrix.colSide && matrix.title.startsWith(map.kind))?.mechanism ?? "";
  return {
    heading: name || record.model,
    small: small ?? [record.output, record.model, mechanism, matrix.title],
    sections,
    languages: [matrix.colSide.language, matrix.rowSide.language],
  };
}

/** @param {PanelContext} context @returns {Sheet} */
function treeSheet(context) {
  const { record, state } = context;
  const { beam } = record;
  if (!beam?.nodes.length) throw new Error(t("No search was recorded: this output was given or scored, not searched for."));
  const { nodes, weights } = beam;
  const leads = leadsToEnd(nodes);
  const shown = String(state["beam-dropped"] ?? 0) === "1" ? nodes.map(() => true) : leads;
  const asked = Number(state["beam-node"] ?? -1);
  const chosen = shown[asked] ? asked : Math.max(nodes.findIndex((node) => node.rank === 0), 0);
  const { depth, row } = treeLayout(nodes, shown);
  const path = pathTo(nodes, chosen);
  const kept = nodes.map((_, at) => at).filter((at) => shown[at]);
  const branches = kept.map((at) => ({
    parent: kept.indexOf(nodes[at].parent),
    text: visibleText(nodes[at].token),
    chance: Math.exp(nodes[at].log_prob),
    fate: nodes[at].fate,
    end: nodes[at].rank === null ? "" : `${/** @type {number} */ (nodes[at].rank) + 1}. ${nodes[at].score === null ? "" : numberText(nodes[at].score)}`,
    depth: depth[at],
    row: row[at],
    onPath: path.includes(at),
  }));
  const language = record.sides.target?.language ?? "";
  /** @type {Block[][]} */
  const sections = [[{ tree: { branches, language } }]];
  const side = record.sides[beam.keys ?? ""];
  const lines = nodes[chosen].fate === "ended" ? path : [chosen];
  if (weights && side) {
    const cols = side.tokens.length;
    const data = Float32Array.from(lines.flatMap((at) => [...weights.subarray(at * cols, (at + 1) * cols)]));
    const map = { data, rows: lines.length, cols, rowTokens: lines.map((at) => visibleText(nodes[at].token)), colTokens: side.labels, rowLanguage: language, colLanguage: side.language, reversed: side.rightToLeft };
    sections.push([{ map, full: largestSize(data), title: lines.length > 1 ? t("What this hypothesis looked at") : t("What this token looked at") }]);
  }
  const ended = nodes.filter((node) => node.fate === "ended").length;
  const small = [record.output, record.model, t("beam search: {n} hypotheses ended", { n: ended })];
  return { heading: nameOf(record) || record.model, small, sections, languages: ["", language] };
}

/** @param {PanelContext} context @param {Chosen} chosen @returns {Sheet} */
function comparisonSheet(context, { left, right, names, given, other }) {
  if (!left || !right || !names || !other) throw new Error(t("There is one record with one map: nothing to compare it with."));
  const plain = plainMatrix(context);
  const common = inCommonWords(left, right);
  const alone = common ? [...common.alone.rows, ...common.alone.cols].some((n) => n > 0) : true;
  const sides = common && !alone ? [common.left, common.right] : [left, right]; // what both have is drawn as both have it
  const full = largestSize(sides[0].data, sides[1].data);
  /** @type {Block[]} */
  const maps = sides.map((matrix, at) => ({ map: plain(matrix), full, title: names[at] + titleOf(matrix, [left, right][at]) }));
  const lines = other.record === context.record ? undefined : comparedLines(context, other, names, given);
  if (!common) return sheetOf(context, left, [maps, [{ words: t("No difference map: {why}.", { why: whyNoDifference(left, right) ?? "" }) }]], lines);
  const apart = Float32Array.from(common.right.data, (x, at) => x - common.left.data[at]);
  maps.push({ map: plain(common.right, apart), full: largestSize(apart), signed: true, title: t("difference: right − left") + (alone ? ` · ${t("of the words that both have")}` : ""), name: t("difference") });
  return sheetOf(context, left, [maps, [{ words: distanceText(common.left, common.right) }]], lines);
}

/**
 * Of two records: what came out on either side, how each attends, and the output that both write.
 * @param {PanelContext} context @param {import("../panels/compare/compare_sides.js").Other} other @param {string[]} names @param {string} [given]
 */
function comparedLines({ record, state }, other, names, given) {
  /** @param {string} one @param {string} two */
  const named = (one, two) => (one === two ? [one] : [one && names[0] + one, two && names[1] + two]);
  const lines = [
    ...named(record.output, other.record.output),
    record.model === other.record.model ? record.model : "",
    ...named(record.map(state.map).mechanism, other.map.mechanism),
    given ? t("both as they write “{output}”", { output: given }) : "",
  ];
  return lines.filter(Boolean);
}

/** @param {import("../panels/small_matrix.js").SmallMatrix} left @param {import("../panels/small_matrix.js").SmallMatrix} right */
function distanceText(left, right) {
  /** @param {import("../panels/small_matrix.js").SmallMatrix} matrix @param {number} row */
  const rowIn = ({ data, cols }, row) => Array.from({ length: cols }, (_, col) => data[row * cols + col]);
  const rows = Array.from({ length: left.rows }, (_, row) => totalVariation(rowIn(left, row), rowIn(right, row)));
  const mean = meanOf(rows);
  if (mean === 0) return t("They are the same: each row has a total variation of 0.");
  const worst = rows.indexOf(Math.max(...rows));
  return t("Mean total variation of a row: {mean} (0: the same, 1: nothing in common). They differ most at “{word}”: {most}.", { mean: numberText(mean, 3), word: left.rowTokens[worst], most: numberText(rows[worst], 3) });
}

/** @param {PanelContext} context @param {Chosen} chosen @returns {Sheet} */
function linksSheet(context, { count = 3, by = "row", down = false }) {
  const matrix = currentMatrix(context);
  const most = largestSize(matrix.data) || 1;
  const lines = sortedLinks(strongestLinks(matrix, count), by, down).map(({ row, col, weight }) => [
    { text: matrix.rowTokens[row], language: matrix.rowSide.language },
    { text: matrix.colTokens[col], language: matrix.colSide.language },
    { text: numberText(weight, 3), bar: weight / most },
  ]);
  const columns = [matrix.rowSide.title || t("query"), matrix.colSide.title || t("key"), t("weight")];
  return sheetOf(context, matrix, [[{ words: t("The {n} strongest keys of each query.", { n: count }) }], [{ table: { columns, lines } }]]);
}

/** @param {PanelContext} context @returns {Promise<Sheet>} */
async function pictureSheet(context) {
  const { record, state } = context;
  const map = [record.map(state.map), ...record.maps].find((each) => each.keys.picture);
  const picture = map?.keys.picture;
  if (!map || !picture) throw new Error(t("The keys of this record are no cells of a picture."));
  const matrix = record.matrix(map.name, { ...state, units: "tokens", specials: true });
  const boxes = map === record.maps[0] ? record.glimpses : [];
  const words = map.queries.labels.map((word, query) => ({ word, cells: cellWeights(rowOf(matrix, query), map.keys.special, picture.rows * picture.columns), boxes: boxes[query] ?? [] }));
  const image = new Image();
  image.src = picture.source;
  await image.decode();
  const ratio = image.naturalWidth ? image.naturalHeight / image.naturalWidth : picture.rows / picture.columns;
  return sheetOf(context, matrix, [[{ pictures: { picture, words, language: map.queries.language, ratio } }]]);
}
