// The strongest links as a table: for reading aloud, for sorting, for taking along.

import { fill, h } from "./dom.js";
import { panelNumber, panelRow } from "./panel_numbers.js";
import { panelBar, panelButton, panelKeepingFocus, panelMatrixOf, panelMost, panelWord } from "./panel_parts.js";

/** @typedef {{row: number, col: number, weight: number}} TableLink */

export const tablePanel = {
  name: "table",
  title: "Table",

  /** @returns {true | string} */
  available: () => true,

  /** @param {HTMLElement} el @param {import("./panel_parts.js").PanelContext} context */
  mount(el, context) {
    const panel = { context, count: 3, by: "row", down: false, made: "", matrix: null, lines: [] };
    const parts = { controls: h("div", { class: "panel-controls" }), body: h("div"), said: h("p", { class: "panel-hint", role: "status" }) };
    fill(el, parts.controls, parts.said, parts.body);
    tableControls(panel, parts);
    tableDraw(panel, parts);
    return {
      update(next) {
        panel.context = next;
        tableDraw(panel, parts);
      },
    };
  },
};

/**
 * The strongest keys of each query, in the order of the queries.
 * @param {{data: Float32Array, rows: number, cols: number}} matrix @param {number} count of each query
 * @returns {TableLink[]}
 */
export function tableLinks(matrix, count) {
  const links = [];
  for (let row = 0; row < matrix.rows; row++) {
    const weights = panelRow(matrix, row);
    const order = Array.from(weights, (_, col) => col).sort((a, b) => weights[b] - weights[a]);
    for (const col of order.slice(0, count)) if (weights[col] !== 0) links.push({ row, col, weight: weights[col] });
  }
  return links;
}

/**
 * @param {TableLink[]} links @param {"row" | "col" | "weight"} by @param {boolean} down
 */
export function tableSorted(links, by, down) {
  const sign = down ? -1 : 1;
  return [...links].sort((a, b) => sign * (a[by] - b[by]) || b.weight - a.weight);
}

/**
 * RFC 4180; a cell that a spreadsheet would take for a formula begins with a quote.
 * @param {(string | number)[][]} lines
 */
export function tableCsv(lines) {
  const cell = (value) => {
    const text = typeof value === "string" && /^[=+\-@\t\r]./.test(value) ? `'${value}` : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return lines.map((line) => line.map(cell).join(",")).join("\r\n") + "\r\n";
}

function tableControls(panel, parts) {
  const input = h("input", { type: "number", min: 1, max: 99, value: panel.count });
  input.addEventListener("input", () => {
    const count = Math.round(Number(input.value));
    if (!(count >= 1 && count <= 99)) return;
    panel.count = count;
    tableDraw(panel, parts);
  });
  fill(
    parts.controls,
    h("label", { class: "panel-field" }, h("span", null, "Strongest keys of each query"), input),
    panelButton("Copy as CSV", () => tableCopy(panel, parts), { class: "panel-button" }),
  );
}

/** A table of many lines is made anew only where other links are in it. */
function tableDraw(panel, parts) {
  const matrix = panelMatrixOf(panel.context);
  const wanted = [panel.count, panel.by, panel.down].join();
  if (matrix !== panel.matrix || wanted !== panel.made) {
    Object.assign(panel, { matrix, made: wanted });
    panelKeepingFocus(parts.body, () => fill(parts.body, tableMade(panel, parts)));
    fill(parts.said, matrix.title);
  }
  const { query, key } = panel.context.state;
  for (const { element, row, col } of panel.lines) {
    element.classList.toggle("is-chosen", matrix.rowMembers[row].includes(query) && (key === null || matrix.colMembers[col].includes(key)));
  }
}

function tableMade(panel, parts) {
  const { matrix } = panel;
  const links = tableSorted(tableLinks(matrix, panel.count), panel.by, panel.down);
  const most = panelMost(matrix.data);
  const columns = [["row", matrix.rowSide.title || "query"], ["col", matrix.colSide.title || "key"], ["weight", "weight"]];
  const head = ([by, title]) => {
    const chosen = panel.by === by;
    const sort = () => {
      panel.down = chosen ? !panel.down : by === "weight";
      panel.by = by;
      tableDraw(panel, parts);
    };
    const sign = chosen ? (panel.down ? " ↓" : " ↑") : "";
    return h("th", { scope: "col", "aria-sort": chosen ? (panel.down ? "descending" : "ascending") : "none" }, panelButton(`${title}${sign}`, sort, { class: "table-sort", "data-focus": `sort-${by}` }));
  };
  const line = ({ row, col, weight }) =>
    h(
      "tr",
      null,
      h("th", { scope: "row" }, panelWord(matrix.rowTokens[row], matrix.rowSide)),
      h("td", null, panelWord(matrix.colTokens[col], matrix.colSide)),
      h("td", null, panelBar(weight, most, panelNumber(weight, 3))),
    );
  panel.lines = links.map((link) => ({ ...link, element: line(link) }));
  return h(
    "div",
    { class: "panel-scroll table-scroll", tabindex: 0, role: "region", "aria-label": "The strongest links" },
    h(
      "table",
      { class: "table-links" },
      h("caption", null, `The ${panel.count} strongest keys of each query. ${matrix.title}`),
      h("thead", null, h("tr", null, columns.map(head))),
      h("tbody", null, panel.lines.map(({ element }) => element)),
    ),
  );
}

async function tableCopy(panel, parts) {
  const { matrix, lines: links } = panel;
  const lines = links.map(({ row, col, weight }) => [matrix.rowTokens[row], matrix.colTokens[col], Number(weight.toPrecision(6))]);
  const text = tableCsv([["query", "key", "weight"], ...lines]);
  try {
    await navigator.clipboard.writeText(text);
    fill(parts.said, `Copied: ${links.length} links.`);
  } catch {
    const area = h("textarea", { readonly: true, rows: 8, class: "table-csv", "aria-label": "The links as CSV" });
    area.value = text;
    fill(parts.said, "This browser does not let the page copy. Here is the text:", area);
    area.select();
  }
}
