// The numbers of what is focused, in one line of words.

import { entropyOf } from "../record/aggregation.js";
import { isAllowed, weightAt } from "../drawing/view.js";
import { t } from "../words/messages.js";

/** @typedef {import("../drawing/view.js").View} View */

/** ‘chat’ attends 0.42 to ‘cat’ @param {View} view @param {number} row @param {number} col */
export function cellSentence(view, row, col) {
  const [query, key] = [view.matrix.rowTokens[row], view.matrix.colTokens[col]];
  if (!isAllowed(view, row, col)) return t("‘{query}’ may not attend to ‘{key}’", { query, key });
  if (view.heads?.length) return t("‘{query}’ attends to ‘{key}’: {heads}", { query, key, heads: view.heads.map(({ short, matrix }) => t("head {head} {weight}", { head: short, weight: longWeight(matrix.data[row * matrix.cols + col]) })).join(", ") });
  return t("‘{query}’ attends {weight} to ‘{key}’", { query, key, weight: longWeight(weightAt(view, row, col)) });
}

/**
 * @param {import("../drawing/view.js").View} view
 * @param {{row: number|null, col: number|null}} active
 * @returns {{main: string, more: string}}
 */
export function readoutOf(view, { row, col }) {
  if (view.heads?.length && row !== null && col === null) return { main: strongestOfEach(view, row), more: "" };
  if (view.heads?.length && col !== null) return { main: row === null ? readersOfEach(view, col) : cellSentence(view, row, col), more: "" };
  if (row !== null && col !== null) {
    return { main: cellSentence(view, row, col), more: `${rankOf(view, row, col)} · ${rowNumbers(view, row)}` };
  }
  if (row !== null) return { main: topLinks(view, row), more: rowNumbers(view, row) };
  if (col !== null) return { main: readers(view, col), more: "" };
  return { main: "", more: t("Point at a word, tap it or use the arrow keys: its partners light up. Enter or a click pins it, Esc lets it go.") };
}

/** The key that each head gives most. @param {View} view @param {number} row */
function strongestOfEach(view, row) {
  const links = view.heads.map((head) => {
    const one = { ...view, matrix: head.matrix };
    const best = rowPlaces(one, row).reduce((a, b) => (weightAt(one, row, b) > weightAt(one, row, a) ? b : a), 0);
    return t("head {head} {weight} to ‘{key}’", { head: head.short, weight: longWeight(weightAt(one, row, best)), key: head.matrix.colTokens[best] });
  });
  return t("‘{query}’ attends most: {links}", { query: view.matrix.rowTokens[row], links: links.join(", ") });
}

/** The query that each head has read a key by most. @param {View} view @param {number} col */
function readersOfEach(view, col) {
  const links = view.heads.map((head) => {
    const weight = (/** @type {number} */ row) => head.matrix.data[row * head.matrix.cols + col];
    const rows = Array.from({ length: head.matrix.rows }, (_, row) => row);
    const best = rows.reduce((a, b) => (weight(b) > weight(a) ? b : a), 0);
    return t("head {head} {weight} from ‘{query}’", { head: head.short, weight: longWeight(weight(best)), query: head.matrix.rowTokens[best] });
  });
  return t("‘{key}’ gets most: {links}", { key: view.matrix.colTokens[col], links: links.join(", ") });
}

/** @param {number} weight */
export function longWeight(weight) {
  if (!Number.isFinite(weight)) return t("no number");
  if (weight !== 0 && Math.abs(weight) < 0.0005) return t("less than 0.001");
  return weight.toFixed(Math.abs(weight) < 0.1 ? 3 : 2);
}

/** @param {View} view @param {number} row @param {number} col */
function rankOf(view, row, col) {
  if (!isAllowed(view, row, col)) return t("outside the region");
  const weight = weightAt(view, row, col);
  const { before, count } = rowPlaces(view, row).reduce(
    ({ before, count }, other) => ({
      before: before + (weightAt(view, row, other) > weight ? 1 : 0),
      count: count + 1,
    }),
    { before: 0, count: 0 },
  );
  return t("number {n} of {count} in its row", { n: before + 1, count });
}

/** @param {View} view @param {number} row */
function rowNumbers(view, row) {
  const weights = rowPlaces(view, row).map((col) => weightAt(view, row, col));
  const entropy = entropyOf(weights);
  const parts = [widthSentence(view, entropy)];
  if (view.rest) {
    const missing = view.matrix.missing?.[row] ?? 0;
    if (view.matrix.hidden[row] > 0.0005) parts.push(t("{weight} on hidden tokens", { weight: longWeight(view.matrix.hidden[row]) }));
    if (Math.abs(missing) > view.map.rounding) {
      parts.push(t("{weight} on nothing: the row sums to {sum}", { weight: longWeight(missing), sum: (1 - missing).toFixed(2) }));
    }
  }
  return parts.join(" · ");
}

/** @param {View} view @param {number} entropy */
function widthSentence(view, entropy) {
  const values = { entropy: entropy.toFixed(2), width: Math.exp(entropy).toFixed(1) };
  return view.state.units === "words"
    ? t("entropy {entropy} nats, about {width} words’ worth", values)
    : t("entropy {entropy} nats, about {width} tokens’ worth", values);
}

/** @param {View} view @param {number} row */
function topLinks(view, row) {
  const best = rowPlaces(view, row).sort((a, b) => weightAt(view, row, b) - weightAt(view, row, a)).slice(0, 3);
  const links = best.map((col) => t("{weight} to ‘{key}’", { weight: longWeight(weightAt(view, row, col)), key: view.matrix.colTokens[col] }));
  return t("‘{query}’ attends {links}", { query: view.matrix.rowTokens[row], links: links.join(", ") });
}

/** @param {View} view @param {number} col */
function readers(view, col) {
  const rows = Array.from({ length: view.matrix.rows }, (_, row) => row).filter((row) => isAllowed(view, row, col));
  const best = rows.sort((a, b) => weightAt(view, b, col) - weightAt(view, a, col)).slice(0, 3);
  const total = rows.reduce((sum, row) => sum + weightAt(view, row, col), 0);
  const links = best.map((row) => t("{weight} from ‘{query}’", { weight: longWeight(weightAt(view, row, col)), query: view.matrix.rowTokens[row] }));
  return t("‘{key}’ gets {links}; {total} in all", { key: view.matrix.colTokens[col], links: links.join(", "), total: total.toFixed(2) });
}

/** @param {View} view @param {number} row */
function rowPlaces(view, row) {
  return Array.from({ length: view.matrix.cols }, (_, col) => col).filter((col) => isAllowed(view, row, col));
}
