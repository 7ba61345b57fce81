// The heat map: cells on a canvas, labels around it, and over it what is focused.

import { columnAt } from "../drawing/painted_cells.js";
import { fill, h } from "../elements/dom.js";
import { stepInGrid } from "../elements/grid_keys.js";
import { drawHeatmap, drawLabels, labelAt, layOut } from "./heatmap_layout.js";
import { cellSentence } from "./readout.js";
import { t } from "../words/messages.js";

const ROOM_AT_THE_END = 10; // for the last label of the columns, which is wider than its column

/**
 * @typedef {object} Actions what pointing at something does
 * @property {(active: Active|null) => void} focus
 * @property {(row: number|null, col: number|null) => void} pin
 * @property {() => void} unpin
 * @property {(side: import("../record/record.js").Side, starts: number[]|null) => void} words makes other words of tokens; null: those that were found
 */

/** @typedef {{row: number|null, col: number|null}} Active what is pointed at or pinned: a row, a column, or a cell */

export class Heatmap {
  /** @type {import("../drawing/view.js").View} */
  view;
  /** @type {ReturnType<typeof layOut>} */
  layout;

  /**
   * @param {HTMLElement} element
   * @param {Actions} actions
   */
  constructor(element, actions) {
    this.element = element;
    this.actions = actions;
    this.canvas = h("canvas", { "aria-hidden": "true" });
    this.rowBand = h("div", { class: "band" });
    this.colBand = h("div", { class: "band" });
    this.ring = h("div", { class: "ring" });
    this.gridRow = h("div", { role: "row", class: "grid-row" });
    this.plane = h("div", { class: "plane" }, this.canvas, this.rowBand, this.colBand, this.ring, this.gridRow);
    this.rowLabels = h("div", { class: "row-labels", "aria-hidden": "true" });
    this.colLabels = h("div", { class: "col-labels", "aria-hidden": "true" });
    this.rowTag = h("div", { class: "tag" });
    this.colTag = h("div", { class: "tag" });
    this.corner = h("div", { class: "corner", "aria-hidden": "true" }); // covers the labels of rows that are scrolled away
    this.grid = h("div", { class: "heatmap", role: "grid" }, this.colLabels, this.rowLabels, this.corner, this.plane);
    /** @type {HTMLElement[]} */
    this.cutLabels = []; // that an edge would cut through
    this.place = { row: 0, col: 0 }; // of the one cell that can have the focus
    this.labelledAs = ""; // labels are made anew only where they differ
    /** @type {string[]|null} */
    this.labelledTokens = null;
    fill(element, this.grid);
    this.listen();
  }

  /** @param {import("../drawing/view.js").View} view */
  update(view) {
    const { matrix, map } = view;
    this.view = view;
    this.layout = layOut(view, this.element.clientWidth - ROOM_AT_THE_END);
    this.place = {
      row: Math.min(this.place.row, Math.max(matrix.rows - 1, 0)),
      col: Math.min(this.place.col, Math.max(matrix.cols - 1, 0)),
    };
    this.grid.style.setProperty("grid-template-columns", `${this.layout.labelWidth}px max-content`);
    this.grid.setAttribute("aria-label", t("{title}; rows: {queries}, columns: {keys}", { title: matrix.title, queries: map.queries.title, keys: map.keys.title }));
    this.grid.setAttribute("aria-rowcount", String(matrix.rows));
    this.grid.setAttribute("aria-colcount", String(matrix.cols));
    this.label();
    drawHeatmap(this.canvas, view, this.layout);
    showBox(this.plane, { width: this.layout.width, height: this.layout.height });
    this.placeGridCell(this.gridRow.matches(":focus-within"));
    this.keepLabels();
  }

  /** The labels of the columns stay in sight where the page, and not the map itself, is scrolled: below the readout. */
  keepLabels() {
    const box = this.element.getBoundingClientRect();
    const above = this.element.previousElementSibling?.getBoundingClientRect().bottom ?? 0;
    const most = Math.max(box.height - (this.layout?.headHeight ?? 0) - 3 * (this.layout?.cell.height ?? 0), 0);
    for (const each of [this.colLabels, this.corner]) each.style.setProperty("top", `${Math.min(Math.max(above - box.top - 2, 0), most)}px`);
    this.hideCutLabels();
  }

  /** A label that the names of the columns or the lower edge of the map cut through is not shown. */
  hideCutLabels() {
    for (const each of this.cutLabels) each.classList.remove("is-cut");
    this.cutLabels = [];
    if (!this.layout) return;
    const top = this.plane.getBoundingClientRect().top;
    const above = this.colLabels.getBoundingClientRect().bottom - top;
    const below = this.element.getBoundingClientRect().top + this.element.clientHeight - top;
    for (const edge of above > 1 ? [above, below] : [below]) {
      const number = labelAt(this.layout, edge);
      const found = number === null ? undefined : this.rowLabels.children[number];
      if (!(found instanceof HTMLElement) || !found.classList.contains("label")) continue;
      found.classList.add("is-cut");
      this.cutLabels.push(found);
    }
  }

  label() {
    const labelledAs = JSON.stringify([this.layout, this.view.reversed]);
    if (this.labelledTokens === this.view.matrix.rowTokens && this.labelledAs === labelledAs) return;
    this.labelledTokens = this.view.matrix.rowTokens;
    this.labelledAs = labelledAs;
    drawLabels(this.rowLabels, this.colLabels, this.view, this.layout);
    this.rowLabels.append(this.rowTag);
    this.colLabels.append(this.colTag);
  }

  /**
   * Makes the one cell that can have the focus: a new element at each step, so that screen readers say it.
   * @param {boolean} takeFocus
   */
  placeGridCell(takeFocus) {
    const { matrix } = this.view;
    fill(this.gridRow);
    if (!matrix.rows || !matrix.cols) return;
    const place = { ...this.place };
    const cell = h("div", {
      role: "gridcell",
      class: "grid-cell",
      tabindex: "0",
      "aria-colindex": place.col + 1,
      "aria-label": cellSentence(this.view, place.row, place.col),
      on: { focus: () => this.actions.focus(place), blur: () => this.actions.focus(null) },
    });
    showBox(cell, this.boxOf(place.row, place.col));
    this.gridRow.setAttribute("aria-rowindex", String(place.row + 1));
    this.gridRow.append(cell);
    if (!takeFocus) return;
    cell.focus({ preventScroll: true });
    cell.scrollIntoView({ block: "nearest", inline: "nearest" }); // no further than it needs
  }

  /** Shows what is pointed at or pinned, without drawing any cell again. @param {Active} active */
  highlight({ row, col }) {
    const { matrix } = this.view;
    const { cell, matrixWidth, height } = this.layout;
    const top = row === null ? 0 : row * cell.height;
    const left = col === null ? 0 : columnAt(this.view, col) * cell.width;
    showBox(this.rowBand, row !== null && { left: 0, top, width: matrixWidth, height: cell.height });
    showBox(this.colBand, col !== null && { left, top: 0, width: cell.width, height });
    showBox(this.ring, row !== null && col !== null && this.boxOf(row, col));
    showBox(this.rowTag, row !== null && { top: top + cell.height / 2 });
    showBox(this.colTag, col !== null && { left: left + cell.width / 2 });
    this.rowTag.textContent = row === null ? "" : matrix.rowTokens[row];
    this.colTag.textContent = col === null ? "" : matrix.colTokens[col];
  }

  /** @param {number} row @param {number} col */
  boxOf(row, col) {
    const { width, height } = this.layout.cell;
    return { left: columnAt(this.view, col) * width, top: row * height, width, height };
  }

  listen() {
    /** @type {[HTMLElement, (event: MouseEvent) => Active|null][]} */
    const areas = [
      [this.plane, (event) => this.cellUnder(event)],
      [this.rowLabels, (event) => ({ row: this.rowUnder(event), col: null })],
      [this.colLabels, (event) => ({ row: null, col: this.colUnder(event) })],
    ];
    for (const [area, under] of areas) {
      area.addEventListener("pointermove", (event) => this.actions.focus(under(event)));
      area.addEventListener("pointerleave", () => this.actions.focus(null));
      area.addEventListener("click", (event) => this.click(under(event)));
    }
    this.grid.addEventListener("keydown", (event) => this.press(event));
  }

  /** @param {Active|null} found */
  click(found) {
    if (!found) return;
    if (found.row !== null && found.col !== null) {
      this.place = { row: found.row, col: found.col };
      this.placeGridCell(true);
    }
    this.actions.pin(found.row, found.col);
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    if (event.key === "Enter" || event.key === " ") this.actions.pin(this.place.row, this.place.col);
    else if (event.key === "Escape") this.actions.unpin();
    else {
      const { rows, cols } = this.view.matrix;
      const to = stepInGrid(
        event.key,
        this.place,
        { rows, cols, reversed: this.view.reversed, whole: event.ctrlKey },
      );
      if (!to) return;
      this.place = to;
      this.placeGridCell(true);
    }
    event.preventDefault();
  }

  /** @param {MouseEvent} event */
  cellUnder(event) {
    const { left, top } = this.canvas.getBoundingClientRect();
    const row = Math.floor((event.clientY - top) / this.layout.cell.height);
    const across = Math.floor((event.clientX - left) / this.layout.cell.width);
    const { rows, cols } = this.view.matrix;
    const inside = row >= 0 && row < rows && across >= 0 && across < cols;
    return inside ? { row, col: columnAt(this.view, across) } : null;
  }

  /** @param {MouseEvent} event */
  rowUnder(event) {
    const down = (event.clientY - this.rowLabels.getBoundingClientRect().top) / this.layout.cell.height;
    return Math.min(Math.max(Math.floor(down), 0), this.view.matrix.rows - 1);
  }

  /** @param {MouseEvent} event */
  colUnder(event) {
    const across = (event.clientX - this.colLabels.getBoundingClientRect().left) / this.layout.cell.width;
    return columnAt(this.view, Math.min(Math.max(Math.floor(across), 0), this.view.matrix.cols - 1));
  }
}

/**
 * Puts an element at a place in pixels, or hides it.
 * @param {HTMLElement} element @param {Record<string, number>|false|null} box
 */
function showBox(element, box) {
  element.hidden = !box;
  for (const [name, pixels] of Object.entries(box || {})) element.style.setProperty(name, `${pixels}px`);
}
