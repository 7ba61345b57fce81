// Both sentences as words one can point at, with lines between them.

import { fill, h, s } from "../elements/dom.js";
import { chooseLinks, drawLinks, MOST_TOKENS_WITH_ALL_LINES } from "../drawing/link_lines.js";
import { Sentence } from "./sentence.js";
import { cssColour } from "../drawing/colours.js";
import { stripesOf } from "../drawing/painted_cells.js";
import { colourOf, isAllowed, weightAt } from "../drawing/view.js";

/** @typedef {import("../drawing/view.js").View} View */
/** @typedef {import("./heatmap.js").Active} Active */

export class Sentences {
  /** @type {import("../drawing/view.js").View} */
  view;
  long = false;
  /** @type {ReturnType<Sentences["measureEnds"]>|null} */
  ends = null;

  /**
   * @param {HTMLElement} element
   * @param {import("./heatmap.js").Actions} actions
   */
  constructor(element, actions) {
    this.keys = new Sentence("keys", actions);
    this.queries = new Sentence("queries", actions);
    this.links = s("svg", { class: "links", "aria-hidden": "true" });
    this.frame = h("div", { class: "sentences" }, this.links, this.keys.element, this.queries.element);
    fill(element, this.frame);
  }

  /** @param {import("../drawing/view.js").View} view */
  update(view) {
    this.view = view;
    this.frame.hidden = view.map.keys.picture !== null; // cells of a picture are no words
    this.long = Math.max(view.matrix.rows, view.matrix.cols) > MOST_TOKENS_WITH_ALL_LINES;
    this.frame.classList.toggle("long", this.long);
    const { matrix, map, pinned, state } = view;
    /** @param {number[][]} members @param {number|null} place */
    const chosen = (members, place) => (state.units === "words" && place !== null ? (members[place]?.[0] ?? null) : null);
    this.keys.update(matrix.colTokens, map.keys, chosen(matrix.colMembers, pinned.col));
    this.queries.update(matrix.rowTokens, map.queries, chosen(matrix.rowMembers, pinned.row));
    this.ends = null; // where lines end: measured once, until words or widths change
  }

  /** @param {Active} active */
  highlight(active) {
    if (this.frame.hidden) return;
    const { row, col } = active;
    const { pinned } = this.view;
    this.keys.paint((n) => (row === null ? null : tint(this.view, row, n)), col, pinned.col);
    this.queries.paint((n) => (row !== null || col === null ? null : tint(this.view, n, col)), row, pinned.row);
    this.keys.reveal(col);
    this.queries.reveal(row);
    this.ends ??= this.measureEnds();
    const pen = row !== null || col !== null ? "chosen" : this.long ? "many" : "all";
    drawLinks(this.links, chooseLinks(this.view, active), this.ends.queries, this.ends.keys, pen);
  }

  measureEnds() {
    const origin = this.frame.getBoundingClientRect();
    return {
      queries: this.queries.ends("top", origin, this.long),
      keys: this.keys.ends("bottom", origin, this.long),
    };
  }
}

/** A stripe for each head below a word, so that the word itself can be read. @param {View} view @param {number} row @param {number} col */
function stripesUnder(view, row, col) {
  const parts = stripesOf(view, row, col, 100);
  const stops = parts.map(({ x, width, colour }) => `${cssColour(colour)} ${x.toFixed(1)}% ${(x + width).toFixed(1)}%`);
  return `linear-gradient(to right, ${stops.join(", ")})`;
}

/** @param {View} view @param {number} row @param {number} col @returns {import("./sentence.js").Tint|null} */
function tint(view, row, col) {
  if (!isAllowed(view, row, col)) return null;
  if (view.heads.length) return { stripes: stripesUnder(view, row, col) };
  const weight = weightAt(view, row, col);
  return Math.abs(weight) / view.full[row] < 0.02 ? null : { ground: colourOf(view, row, weight) };
}
