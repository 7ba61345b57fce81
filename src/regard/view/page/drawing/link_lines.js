// Links between two sentences: which of them are drawn, and their curves.

import { s } from "../elements/dom.js";
import { cssColour } from "./colours.js";
import { isAllowed, weightAt } from "./view.js";

export const MOST_TOKENS_WITH_ALL_LINES = 48;
const FAINTEST = 0.04; // of a row's strongest: what is fainter is no line anybody sees

/**
 * The links to draw: those of the active row and column, or of all rows where nothing is active.
 * Of long sentences only the strongest: forty at rest, two hundred of what is active.
 * @param {import("./view.js").View} view
 * @param {{row: number|null, col: number|null}} active
 * @returns {Link[]} the faintest first; of several heads each in its colour
 */
export function chooseLinks(view, active) {
  if (!view.heads?.length) return linksOf(view, active);
  const all = view.heads.flatMap(({ matrix, colour }) => linksOf({ ...view, matrix }, active).map((link) => ({ ...link, colour: cssColour(colour) })));
  return all.sort((a, b) => a.share - b.share);
}

/** @typedef {{row: number, col: number, share: number, colour?: string}} Link */

/** @param {import("./view.js").View} view @param {{row: number|null, col: number|null}} active @returns {Link[]} */
function linksOf(view, active) {
  const { rows, cols } = view.matrix;
  const long = Math.max(rows, cols) > MOST_TOKENS_WITH_ALL_LINES;
  const resting = active.row === null && active.col === null;
  const links = [];
  for (let row = 0; row < rows; row++) {
    if (active.row !== null && active.row !== row) continue;
    for (let col = 0; col < cols; col++) {
      if (active.row === null && active.col !== null && active.col !== col) continue;
      const share = Math.abs(weightAt(view, row, col)) / view.full[row];
      if (share >= (long && resting ? 0.5 : FAINTEST) && isAllowed(view, row, col)) links.push({ row, col, share });
    }
  }
  links.sort((a, b) => a.share - b.share);
  return long ? links.slice(resting ? -40 : -200) : links;
}

/** @typedef {{x: number, y: number}} Point */
/** @typedef {(share: number) => number} OfShare */

/** How links are drawn by how strong they are: of a chosen word, of all words, of many words. */
/** @type {Record<"chosen"|"all"|"many", {width: OfShare, opacity: OfShare}>} */
const PENS = {
  chosen: { width: (share) => 0.8 + 5 * share, opacity: (share) => 0.18 + 0.82 * share },
  all: { width: (share) => 0.8 + 3.2 * share, opacity: (share) => 0.06 + 0.64 * share ** 1.3 },
  many: { width: (share) => 0.8 + 1.2 * share, opacity: (share) => 0.08 + 0.32 * share },
};

/**
 * @param {SVGElement} svg
 * @param {Link[]} links
 * @param {(row: number) => Point} from where the line of a query begins
 * @param {(col: number) => Point} to where that of a key ends
 * @param {keyof typeof PENS} pen
 */
export function drawLinks(svg, links, from, to, pen) {
  const { width, opacity } = PENS[pen];
  const paths = links.map(({ row, col, share, colour }) =>
    s("path", {
      d: curve(from(row), to(col)),
      style: colour ? { stroke: colour } : null,
      "stroke-width": width(share).toFixed(2),
      "stroke-opacity": opacity(share).toFixed(3),
    }),
  );
  svg.replaceChildren(...paths);
}

/** An S whose ends are upright. @param {Point} a @param {Point} b */
export function curve(a, b) {
  const middle = (a.y + b.y) / 2;
  /** @param {number} x @param {number} y */
  const at = (x, y) => `${x.toFixed(1)} ${y.toFixed(1)}`;
  return `M${at(a.x, a.y)}C${at(a.x, middle)} ${at(b.x, middle)} ${at(b.x, b.y)}`;
}
