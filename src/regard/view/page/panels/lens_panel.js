// What the model predicts at each position, and what it would if it ended after each layer: the logit lens.

import { cssColour, effectiveTheme, inkOn, sequential } from "../drawing/colours.js";
import { fill, h } from "../elements/dom.js";
import { stepInGrid } from "../elements/grid_keys.js";
import { numberText } from "./row_numbers.js";
import { keepingFocus, rampLegend, weightBar, wordElement } from "./panel_parts.js";
import { t } from "../words/messages.js";

/** @typedef {import("./panel_parts.js").PanelContext} PanelContext */
/** @typedef {import("../record/record.js").Lens} Lens */
/** @typedef {import("../record/record.js").Side} Side */

export const MOST_COLUMNS = 64; // positions of the table; the last ones are shown of more

export const lensPanel = {
  name: "lens",
  get title() {
    return t("Predictions");
  },

  /** @param {PanelContext} context @returns {true | null} */
  available: ({ record }) => (record.lens ? true : null),

  /** @param {HTMLElement} el @param {PanelContext} context */
  mount(el, context) {
    draw(el, context);
    return { update: (/** @type {PanelContext} */ next) => keepingFocus(el, () => draw(el, next)) };
  },
};

/** The likeliest at one place of a line. @param {Lens} lens @param {number} line @param {number} place */
export function likeliest(lens, line, place) {
  const names = lens.tokens[line][place];
  const from = (line * lens.tokens[line].length + place) * names.length;
  return names.map((token, at) => ({ token, chance: lens.probabilities[from + at] }));
}

/** @param {HTMLElement} el @param {PanelContext} context */
function draw(el, context) {
  const { record, state, set } = context;
  const { lens } = record;
  if (!lens) return;
  const side = record.sides[lens.side];
  const lines = lens.layers.length;
  const first = Math.max(0, side.tokens.length - MOST_COLUMNS);
  const places = side.tokens.map((_, place) => place).slice(first);
  const line = within(state["lens-line"], lines, lines - 1);
  const place = Math.max(first, within(state.query ?? undefined, side.tokens.length, side.tokens.length - 1));
  /** @param {number} newLine @param {number} newPlace */
  const choose = (newLine, newPlace) => set({ "lens-line": newLine, query: newPlace });
  const hint = lines > 1
    ? t("What the model says at each position, in the last line, and above it what it would say if it ended after that layer (the logit lens).")
    : t("What the model says at each position.");
  fill(
    el,
    h("p", { class: "panel-hint" }, hint),
    h("div", { class: "panel-scroll" }, lensTable({ lens, side, places, line, place, theme: state.theme, choose })),
    rampLegend("0", "1", false, state),
    details(lens, side, line, place),
    first > 0 ? h("p", { class: "panel-hint" }, t("The last {n} of {count} positions.", { n: MOST_COLUMNS, count: side.tokens.length })) : null,
  );
}

/** @param {any} value @param {number} count @param {number} usual */
export function within(value, count, usual) {
  const number = Number(value ?? usual);
  return Number.isInteger(number) && number >= 0 && number < count ? number : usual;
}

/**
 * A grid that the arrow keys walk through.
 * @param {{lens: Lens, side: Side, places: number[], line: number, place: number, theme: import("../host/view_state.js").State["theme"], choose: (line: number, place: number) => void}} given
 */
function lensTable({ lens, side, places, line, place, theme, choose }) {
  const lines = lens.layers.map((_, number) => number);
  /** @param {number} number @param {number} column */
  const cell = (number, column) => {
    const [{ token, chance }] = likeliest(lens, number, column);
    const colour = sequential(chance, effectiveTheme(theme));
    const chosen = number === line && column === place;
    const label = t("{layer}, after {token}: {best}, {chance}", { layer: lensLayer(lens.layers[number]), token: side.labels[column], best: token, chance: numberText(chance) });
    return h(
      "td",
      {
        class: `lens-cell${chosen ? " is-chosen" : ""}`,
        role: "gridcell",
        tabindex: chosen ? 0 : -1,
        "aria-selected": String(chosen),
        "aria-label": label,
        title: label,
        style: { background: cssColour(colour), color: inkOn(colour) },
        "data-focus": chosen ? "lens-cell" : null,
        on: { click: () => choose(number, column) },
      },
      token,
    );
  };
  const table = h(
    "table",
    { class: "lens-table", role: "grid", "aria-label": t("Predictions, layer by layer") },
    h("thead", null, h("tr", null, h("th", { scope: "col" }, ""), places.map((column) => h("th", { scope: "col" }, wordElement(side.labels[column], side))))),
    h("tbody", null, lines.map((number) => h("tr", null, h("th", { scope: "row" }, lensLayer(lens.layers[number])), places.map((column) => cell(number, column))))),
  );
  table.addEventListener("keydown", (event) => {
    const to = stepInGrid(event.key, { row: line, col: places.indexOf(place) }, { rows: lines.length, cols: places.length });
    if (!to) return;
    event.preventDefault();
    choose(to.row, places[to.col]);
  });
  return table;
}

/** What a line is called. @param {string} name */
export function lensLayer(name) {
  const number = /^layer (\d+)$/.exec(name);
  if (number) return t("layer {n}", { n: number[1] });
  return name === "output" ? t("output") : name === "embedding" ? t("embedding") : name;
}

/** The likeliest answers at the chosen place. @param {Lens} lens @param {Side} side @param {number} line @param {number} place */
function details(lens, side, line, place) {
  const found = likeliest(lens, line, place);
  return h(
    "section",
    { class: "lens-details" },
    h("h3", null, t.parts("{layer}, at {token}", { layer: lensLayer(lens.layers[line]), token: wordElement(side.labels[place], side) })),
    h("table", { class: "steps-table" }, h("tbody", null, found.map(({ token, chance }) => h("tr", null, h("th", { scope: "row" }, token), h("td", null, weightBar(chance, 1, numberText(chance, 3))))))),
  );
}
