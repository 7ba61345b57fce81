// The cells of a matrix on a canvas: one small rectangle each where there is room, one pixel each where not.

import { penOf } from "../elements/dom.js";
import { sharesAt } from "./chosen_heads.js";
import { cssColour, inkOn, mixedColour, rampTable } from "./colours.js";
import { colourOf, isAllowed, shortWeight, weightAt } from "./view.js";

/** @typedef {import("./view.js").Painted} Painted */
/** @typedef {import("./chosen_heads.js").ChosenHead} ChosenHead */
/** @typedef {import("./colours.js").Theme} Theme */

/** @typedef {{width: number, height: number}} Cell in pixels */

const MOST_RECTANGLES = 16384;
const ROOM_FOR_NUMBERS = 30;
const INKS = {
  light: { hatch: "rgb(20 24 32 / .28)", bar: "#8a909c", track: "rgb(20 24 32 / .07)" },
  dark: { hatch: "rgb(235 240 255 / .26)", bar: "#8b93a3", track: "rgb(235 240 255 / .08)" },
};

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Painted} view
 * @param {number} width of a cell
 * @param {number} height of a cell
 */
export function paintCells(context, view, width, height = width) {
  const cell = { width, height };
  const { rows, cols } = view.matrix;
  if (view.heads?.length) return paintStripes(context, { ...view, heads: view.heads }, cell);
  if (cell.height >= 6 && rows * cols <= MOST_RECTANGLES) paintRectangles(context, view, cell);
  else paintPixels(context, view, cell);
  if (cell.width >= ROOM_FOR_NUMBERS && cell.height >= 18) paintNumbers(context, view, cell);
}

/**
 * For each row a bar: how much of it is not among the columns.
 * @param {CanvasRenderingContext2D} context @param {Painted & {rest: Float32Array}} view @param {Cell} cell @param {number} left @param {number} width
 */
export function paintRest(context, view, cell, left, width) {
  const inks = INKS[view.theme];
  const inset = cell.height >= 16 ? Math.round(cell.height * 0.3) : 0;
  view.rest.forEach((share, row) => {
    /** @param {number} length */
    const bar = (length) => context.fillRect(
      left,
      row * cell.height + inset,
      length,
      Math.max(cell.height - 2 * inset, 0.5),
    );
    context.fillStyle = inks.track;
    bar(width);
    context.fillStyle = inks.bar;
    bar(width * Math.min(Math.max(share, 0), 1));
  });
}

/** Columns from left to right as they stand on the screen. @param {Painted} view @param {number} place */
export function columnAt(view, place) {
  return view.reversed ? view.matrix.cols - 1 - place : place;
}

/** @param {CanvasRenderingContext2D} context @param {Painted} view @param {Cell} cell */
function paintRectangles(context, view, cell) {
  const smaller = Math.min(cell.width, cell.height);
  const gap = smaller >= 16 ? 2 : smaller >= 9 ? 1 : 0;
  const radius = smaller >= 16 ? 4 : 0;
  const forbidden = new Path2D();
  for (let row = 0; row < view.matrix.rows; row++) {
    for (let place = 0; place < view.matrix.cols; place++) {
      const col = columnAt(view, place);
      /** @type {[number, number, number, number]} */
      const box = [place * cell.width + gap / 2, row * cell.height + gap / 2, cell.width - gap, cell.height - gap];
      if (!isAllowed(view, row, col)) {
        forbidden.roundRect(...box, radius);
        continue;
      }
      context.fillStyle = cssColour(colourOf(view, row, weightAt(view, row, col)));
      context.beginPath();
      context.roundRect(...box, radius);
      context.fill();
    }
  }
  context.fillStyle = hatching(context, view.theme);
  context.fill(forbidden);
}

/**
 * Each cell has a stripe for each head, in their order; where there is no room for stripes, the strongest head has it all.
 * @param {CanvasRenderingContext2D} context @param {Painted & {heads: ChosenHead[]}} view @param {Cell} cell
 */
function paintStripes(context, view, cell) {
  const smaller = Math.min(cell.width, cell.height);
  const gap = smaller >= 16 ? 4 : smaller >= 9 ? 1.5 : 0; // so that cells are told from stripes
  const forbidden = new Path2D();
  for (let row = 0; row < view.matrix.rows; row++) {
    for (let place = 0; place < view.matrix.cols; place++) {
      const col = columnAt(view, place);
      const [left, top, width, height] = [place * cell.width + gap / 2, row * cell.height + gap / 2, cell.width - gap, cell.height - gap];
      if (!isAllowed(view, row, col)) {
        forbidden.rect(left, top, width, height);
        continue;
      }
      for (const { x, width: wide, colour } of stripesOf(view, row, col, width)) {
        context.fillStyle = cssColour(colour);
        context.fillRect(left + x, top, wide, height);
      }
    }
  }
  context.fillStyle = hatching(context, view.theme);
  context.fill(forbidden);
}

/**
 * Where the stripes of a cell stand, and their colours.
 * @param {Painted & {heads: ChosenHead[]}} view @param {number} row @param {number} col @param {number} width of the cell
 */
export function stripesOf(view, row, col, width) {
  const shares = sharesAt(view, row, col);
  const wide = width / shares.length;
  const colours = shares.map((share, n) => mixedColour(view.heads[n].colour, share, view.theme));
  if (wide >= 2) return colours.map((colour, n) => ({ x: n * wide, width: wide, colour }));
  return [{ x: 0, width, colour: colours[shares.indexOf(Math.max(...shares))] }];
}

/**
 * One pixel for each cell, made larger without smoothing; forbidden ones let the hatching through.
 * @param {CanvasRenderingContext2D} context @param {Painted} view @param {Cell} cell
 */
function paintPixels(context, view, cell) {
  const { rows, cols } = view.matrix;
  const picture = matrixImage(view);
  const bitmap = document.createElement("canvas");
  bitmap.width = cols;
  bitmap.height = rows;
  penOf(bitmap).putImageData(picture, 0, 0);
  if (view.matrix.allowed) {
    context.fillStyle = hatching(context, view.theme);
    context.fillRect(0, 0, cols * cell.width, rows * cell.height);
  }
  context.imageSmoothingEnabled = false;
  context.drawImage(bitmap, 0, 0, cols * cell.width, rows * cell.height);
}

/** The matrix as an image of one pixel for each cell. @param {Painted} view */
export function matrixImage(view) {
  const { rows, cols, data, allowed } = view.matrix;
  const image = new ImageData(Math.max(cols, 1), Math.max(rows, 1));
  const tables = view.signed
    ? [rampTable(view.theme, "positive"), rampTable(view.theme, "negative")]
    : [rampTable(view.theme, "sequential"), rampTable(view.theme, "sequential")];
  for (let row = 0; row < rows; row++) {
    const scale = 255 / view.full[row];
    for (let place = 0; place < cols; place++) {
      const from = row * cols + columnAt(view, place);
      if (allowed && !allowed[from]) continue;
      const weight = data[from];
      const table = tables[weight < 0 ? 1 : 0];
      const shade = 3 * Math.min(Math.round(Math.abs(weight) * scale) || 0, 255);
      const to = 4 * (row * cols + place);
      image.data[to] = table[shade];
      image.data[to + 1] = table[shade + 1];
      image.data[to + 2] = table[shade + 2];
      image.data[to + 3] = 255;
    }
  }
  return image;
}

/** @param {CanvasRenderingContext2D} context @param {Painted} view @param {Cell} cell */
function paintNumbers(context, view, cell) {
  context.font = `${cell.width >= 38 ? 12 : 11}px system-ui, "Noto Sans", sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (let row = 0; row < view.matrix.rows; row++) {
    for (let place = 0; place < view.matrix.cols; place++) {
      const col = columnAt(view, place);
      const weight = weightAt(view, row, col);
      if (!isAllowed(view, row, col) || Math.abs(weight) < 0.005) continue;
      context.globalAlpha = Math.abs(weight) / view.full[row] < 0.15 ? 0.62 : 0.92;
      context.fillStyle = inkOn(colourOf(view, row, weight));
      context.fillText(shortWeight(weight), (place + 0.5) * cell.width, (row + 0.5) * cell.height + 0.5);
    }
  }
  context.globalAlpha = 1;
}

/** @param {CanvasRenderingContext2D} context @param {Theme} theme */
function hatching(context, theme) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const pen = penOf(tile);
  pen.strokeStyle = INKS[theme].hatch;
  pen.lineWidth = 1;
  pen.beginPath();
  for (const shift of [-6, 0, 6]) {
    pen.moveTo(shift, 6);
    pen.lineTo(shift + 6, 0);
  }
  pen.stroke();
  return /** @type {CanvasPattern} */ (context.createPattern(tile, "repeat"));
}
