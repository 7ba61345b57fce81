// A line around the strongest cells of a picture, dark and light: brightness says nothing where the picture is black.

import palettes from "../../palettes.json" with { type: "json" };
import { s } from "../elements/dom.js";

const { outlined, line, halo } = palettes["over picture"];

/**
 * Lines [x1, y1, x2, y2] in cells around those with a great share of the strongest weight, by the rows of the grid; none if all have one.
 * @param {ArrayLike<number>} shares @param {number} rows @param {number} columns @returns {[number, number, number, number][]}
 */
export function outlineOf(shares, rows, columns) {
  /** @param {number} row @param {number} column */
  const inside = (row, column) => row >= 0 && row < rows && column >= 0 && column < columns && shares[row * columns + column] >= outlined;
  if (Array.from(shares).every((share) => share >= outlined)) return [];
  /** @type {[number, number, number, number][]} */
  const lines = [];
  for (let row = 0; row <= rows; row++) {
    for (let column = 0; column <= columns; column++) {
      const here = inside(row, column);
      if (column < columns && here !== inside(row - 1, column)) lines.push([column, row, column + 1, row]);
      if (row < rows && here !== inside(row, column - 1)) lines.push([column, row, column, row + 1]);
    }
  }
  return lines;
}

/**
 * The line, of cells that are so wide and high. @param {ArrayLike<number>} shares @param {{rows: number, columns: number}} picture
 * @param {number} wide @param {number} high
 */
export function drawOutline(shares, { rows, columns }, wide, high) {
  const d = outlineOf(shares, rows, columns).map(([x1, y1, x2, y2]) => `M${(x1 * wide).toFixed(2)} ${(y1 * high).toFixed(2)}L${(x2 * wide).toFixed(2)} ${(y2 * high).toFixed(2)}`).join("");
  /** @type {[string, number, number][]} */
  const kinds = [[halo, 2.6, 0.5], [line, 1.1, 0.95]];
  return (d ? kinds : []).map(([stroke, width, opacity]) =>
    s("path", { d, fill: "none", stroke, "stroke-width": width, "stroke-opacity": opacity, "stroke-linecap": "square" }));
}
