// The strongest links as a table: for reading aloud, for sorting, for taking along.

import { fill, h } from "../elements/dom.js";
import { numberText, rowOf } from "./row_numbers.js";
import { weightBar, button, keepingFocus, currentMatrix, largestSize, wordElement } from "./panel_parts.js";
import { t } from "../words/messages.js";

/** @typedef {{row: number, col: number, weight: number}} Link */

/** @typedef {import("./panel_parts.js").PanelContext} PanelContext */
/** @typedef {{controls: HTMLElement, body: HTMLElement, said: HTMLElement}} Parts */

/**
 * @typedef {object} Panel
 * @property {PanelContext} context
 * @property {number} count
 * @property {"row"|"col"|"weight"} by
 * @property {boolean} down
 * @property {string} made
 * @property {import("../record/record.js").Matrix|null} matrix
 * @property {(Link & {element: HTMLElement})[]} lines
 */

export const tablePanel = {
  name: "table",
  get title() {
    return t("Table");
  },

  /** @returns {true | string} */
  available: () => true,

  /** @param {HTMLElement} el @param {import("./panel_parts.js").PanelContext} context */
  mount(el, context) {
    /** @type {Panel} */
    const panel = { context, count: 3, by: "row", down: false, made: "", matrix: null, lines: [] };
    const parts = { controls: h("div", { class: "panel-controls" }), body: h("div"), said: h("p", { class: "panel-hint", role: "status" }) };
    fill(el, parts.controls, parts.said, parts.body);
    countControl(panel, parts);
    draw(panel, parts);
    return {
      /** @param {PanelContext} next */
      update(next) {
        panel.context = next;
        draw(panel, parts);
      },
      chosen: () => ({ count: panel.count, by: panel.by, down: panel.down }),
    };
  },
};

/**
 * The strongest keys of each query, in the order of the queries.
 * @param {{data: Float32Array, rows: number, cols: number}} matrix @param {number} count of each query
 * @returns {Link[]}
 */
export function strongestLinks(matrix, count) {
  const links = [];
  for (let row = 0; row < matrix.rows; row++) {
    const weights = rowOf(matrix, row);
    const order = Array.from(weights, (_, col) => col).sort((a, b) => weights[b] - weights[a]);
    for (const col of order.slice(0, count)) if (weights[col] !== 0) links.push({ row, col, weight: weights[col] });
  }
  return links;
}

/**
 * @param {Link[]} links @param {"row" | "col" | "weight"} by @param {boolean} down
 */
export function sortedLinks(links, by, down) {
  const sign = down ? -1 : 1;
  return [...links].sort((a, b) => sign * (a[by] - b[by]) || b.weight - a.weight);
}

/**
 * RFC 4180; a cell that a spreadsheet would take for a formula begins with a quote.
 * @param {(string | number)[][]} lines
 */
export function csvText(lines) {
  /** @param {unknown} value */
  const cell = (value) => {
    const text = typeof value === "string" && /^[=+\-@\t\r]./s.test(value) ? `'${value}` : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return lines.map((line) => line.map(cell).join(",")).join("\r\n") + "\r\n";
}

/** @param {Panel} panel @param {Parts} parts */
function countControl(panel, parts) {
  const input = h("input", { type: "number", min: 1, max: 99, value: panel.count });
  input.addEventListener("input", () => {
    const count = Math.round(Number(input.value));
    if (!(count >= 1 && count <= 99)) return;
    panel.count = count;
    draw(panel, parts);
  });
  fill(
    parts.controls,
    h("label", { class: "panel-field" }, h("span", null, t("Strongest keys of each query")), input),
    button(t("Copy as CSV"), () => copyCsv(panel, parts), { class: "panel-button" }),
  );
}

/** A table of many lines is made anew only where other links are in it. @param {Panel} panel @param {Parts} parts */
function draw(panel, parts) {
  const matrix = currentMatrix(panel.context);
  const wanted = [panel.count, panel.by, panel.down].join();
  if (matrix !== panel.matrix || wanted !== panel.made) {
    Object.assign(panel, { matrix, made: wanted });
    keepingFocus(parts.body, () => fill(parts.body, linkTable(panel, parts, matrix)));
    fill(parts.said, matrix.title);
  }
  const { query, key } = panel.context.state;
  for (const { element, row, col } of panel.lines) {
    element.classList.toggle("is-chosen", query !== null && matrix.rowMembers[row].includes(query) && (key === null || matrix.colMembers[col].includes(key)));
  }
}

/** @param {Panel} panel @param {Parts} parts @param {import("../record/record.js").Matrix} matrix */
function linkTable(panel, parts, matrix) {
  const links = sortedLinks(strongestLinks(matrix, panel.count), panel.by, panel.down);
  const most = largestSize(matrix.data);
  /** @type {["row"|"col"|"weight", string][]} */
  const columns = [["row", matrix.rowSide.title || t("query")], ["col", matrix.colSide.title || t("key")], ["weight", t("weight")]];
  /** @param {["row"|"col"|"weight", string]} column */
  const head = ([by, title]) => {
    const chosen = panel.by === by;
    const sort = () => {
      panel.down = chosen ? !panel.down : by === "weight";
      panel.by = by;
      draw(panel, parts);
    };
    const sign = chosen ? (panel.down ? " ↓" : " ↑") : "";
    return h("th", { scope: "col", "aria-sort": chosen ? (panel.down ? "descending" : "ascending") : "none" }, button(`${title}${sign}`, sort, { class: "table-sort", "data-focus": `sort-${by}` }));
  };
  /** @param {Link} link */
  const line = ({ row, col, weight }) =>
    h(
      "tr",
      null,
      h("th", { scope: "row" }, wordElement(matrix.rowTokens[row], matrix.rowSide)),
      h("td", null, wordElement(matrix.colTokens[col], matrix.colSide)),
      h("td", null, weightBar(weight, most, numberText(weight, 3))),
    );
  panel.lines = links.map((link) => ({ ...link, element: line(link) }));
  return h(
    "div",
    { class: "panel-scroll table-scroll", tabindex: 0, role: "region", "aria-label": t("The strongest links") },
    h(
      "table",
      { class: "table-links" },
      h("caption", null, t("The {n} strongest keys of each query. {title}", { n: panel.count, title: matrix.title })),
      h("thead", null, h("tr", null, columns.map(head))),
      h("tbody", null, panel.lines.map(({ element }) => element)),
    ),
  );
}

/** @param {Panel} panel @param {Parts} parts */
async function copyCsv(panel, parts) {
  const { matrix, lines: links } = panel;
  if (!matrix) return;
  const lines = links.map(({ row, col, weight }) => [matrix.rowTokens[row], matrix.colTokens[col], Number(weight.toPrecision(6))]);
  const text = csvText([["query", "key", "weight"], ...lines]);
  try {
    await navigator.clipboard.writeText(text);
    fill(parts.said, t.plural(links.length, "Copied: one link.", "Copied: {n} links."));
  } catch {
    const area = h("textarea", { readonly: true, rows: 8, class: "table-csv", "aria-label": t("The links as CSV") });
    area.value = text;
    fill(parts.said, t("This browser does not let the page copy. Here is the text:"), area);
    area.select();
  }
}
