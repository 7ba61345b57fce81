// How a picture was looked at: glimpses, canvases or warps, as records.sights writes them; and where a warp reads.

import { unpack } from "./packed_arrays.js";

/** @typedef {import("./packed_arrays.js").Packed} Packed */
/** @typedef {{source: string, width: number, height: number}} Still a PNG */
/** @typedef {{x: number, y: number, spacing: number, blur: number, count: number}} FilterWindow in pixels, the first at 1 */

/** @typedef {{x: number, y: number, seen: Still[], beliefs: number[]}} GlimpseStep */
/** @typedef {{canvas: Still|null, read: FilterWindow|null, write: FilterWindow|null, seen: Still|null, beliefs: number[]}} CanvasStep */
/** @typedef {{image: Still, name: string, grid: ArrayLike<number>, rows: number, columns: number}} WarpedImage */

/** @typedef {{kind: "glimpses", image: Still, widths: number[], steps: GlimpseStep[], labels: string[]}} Glimpses */
/** @typedef {{kind: "canvases", image: Still|null, steps: CanvasStep[], labels: string[]}} Canvases */
/** @typedef {{kind: "warp", image: Still, warps: WarpedImage[]}} Warps */
/** @typedef {Glimpses|Canvases|Warps} Sight */

const PNG = /^data:image\/png;base64,[A-Za-z0-9+/]*={0,2}$/;
const NOTHING = "data:image/png;base64,";

/** @param {any} given @returns {Sight|null} null also where it is of a kind that is not known here */
export function readSight(given) {
  if (given?.kind === "glimpses") {
    const steps = given.steps.map((/** @type {any} */ step) => ({ ...step, seen: (step.seen ?? []).map(readStill), beliefs: step.beliefs ?? [] }));
    return { kind: "glimpses", image: readStill(given.image), widths: given.widths, steps, labels: given.labels ?? [] };
  }
  if (given?.kind === "canvases") {
    /** @param {any} step */
    const read = (step) => ({
      canvas: step.canvas ? readStill(step.canvas) : null,
      read: step.read ?? null,
      write: step.write ?? null,
      seen: step.seen ? readStill(step.seen) : null,
      beliefs: step.beliefs ?? [],
    });
    return { kind: "canvases", image: given.image ? readStill(given.image) : null, steps: given.steps.map(read), labels: given.labels ?? [] };
  }
  if (given?.kind === "warp") return { kind: "warp", image: readStill(given.image), warps: given.warps.map(readWarp) };
  return null;
}

/** @param {any} given @returns {Still} nothing is ever fetched */
function readStill(given) {
  return { source: PNG.test(given.source) ? given.source : NOTHING, width: Number(given.width), height: Number(given.height) };
}

/** @param {any} given @returns {WarpedImage} */
function readWarp(given) {
  const [rows, columns] = given.grid.shape;
  return { image: readStill(given.image), name: given.name ?? "", grid: unpack(/** @type {Packed} */ (given.grid)), rows, columns };
}

/** How many steps there are; a warp has none. @param {Sight} sight */
export function stepsOf(sight) {
  return sight.kind === "warp" ? 0 : sight.steps.length;
}

/** The step that a state asks for: the last of a path, if none. @param {Sight} sight @param {Record<string, any>} state */
export function stepIn(sight, state) {
  const asked = /^\d{1,4}$/.test(String(state["sight-step"] ?? "")) ? Number(state["sight-step"]) - 1 : Infinity;
  return Math.max(Math.min(asked, stepsOf(sight) - 1), 0);
}

/** The warp that a state asks for. @param {Warps} sight @param {Record<string, any>} state */
export function warpIn(sight, state) {
  const asked = /^\d{1,2}$/.test(String(state["sight-warp"] ?? "")) ? Number(state["sight-warp"]) - 1 : 0;
  return Math.max(Math.min(asked, sight.warps.length - 1), 0);
}

/** How far towards the warp, 0 to 1. @param {Record<string, any>} state */
export function shareIn(state) {
  const asked = /^\d{1,3}$/.test(String(state["sight-share"] ?? "")) ? Number(state["sight-share"]) : 100;
  return Math.min(asked, 100) / 100;
}

/**
 * The likeliest labels of a step, all of them where they are few.
 * @param {string[]} labels @param {number[]} beliefs @returns {{label: string, belief: number, best: boolean}[]}
 */
export function believed(labels, beliefs, most = 12) {
  const best = beliefs.indexOf(Math.max(...beliefs));
  const all = beliefs.map((belief, n) => ({ label: labels[n], belief, best: n === best }));
  return all.length <= most ? all : all.sort((a, b) => b.belief - a.belief).slice(0, 8);
}

/**
 * Where the picture is read for a place of the result; both from −1 to 1. Between the grid's places it is mixed.
 * @param {WarpedImage} warp @param {number} u @param {number} v @param {number} share 0: the place itself
 * @returns {[number, number]}
 */
export function sourcePlace({ grid, rows, columns }, u, v, share = 1) {
  const [row, down] = between(((v + 1) * rows - 1) / 2, rows);
  const [column, across] = between(((u + 1) * columns - 1) / 2, columns);
  /** @param {number} axis */
  const at = (axis) => {
    /** @type {(r: number, c: number) => number} */
    const value = (r, c) => grid[2 * (Math.min(r, rows - 1) * columns + Math.min(c, columns - 1)) + axis];
    const upper = value(row, column) * (1 - across) + value(row, column + 1) * across;
    const lower = value(row + 1, column) * (1 - across) + value(row + 1, column + 1) * across;
    return upper * (1 - down) + lower * down;
  };
  return [u + (at(0) - u) * share, v + (at(1) - v) * share];
}

/** The number before a place, and how far behind it the place is; beyond the ends it goes on as there. @param {number} place @param {number} count */
function between(place, count) {
  const before = Math.max(Math.min(Math.floor(place), count - 2), 0);
  return [before, count > 1 ? place - before : 0];
}

/**
 * Lines of an even grid of the result, as they lie in the picture: first those across, from the top, then those down.
 * @param {WarpedImage} warp @param {number} share @param {number} lines @param {number} points of each
 * @returns {[number, number][][]}
 */
export function warpedLines(warp, share, lines = 9, points = 25) {
  /** @type {(count: number) => number[]} */
  const even = (count) => Array.from({ length: count }, (_, n) => (2 * n) / (count - 1) - 1);
  return [
    ...even(lines).map((v) => even(points).map((u) => sourcePlace(warp, u, v, share))),
    ...even(lines).map((u) => even(points).map((v) => sourcePlace(warp, u, v, share))),
  ];
}

/**
 * The picture read at the places of a warp, between its pixels; outside it is black, as the layer reads it.
 * @param {{data: ArrayLike<number>, width: number, height: number}} before red, green, blue, opacity
 * @param {WarpedImage} warp @param {number} share @param {number} width @param {number} height
 * @returns {Uint8ClampedArray<ArrayBuffer>}
 */
export function resampled(before, warp, share, width, height) {
  const after = new Uint8ClampedArray(4 * width * height);
  for (let i = 0; i < height; i++) {
    for (let j = 0; j < width; j++) {
      const [x, y] = sourcePlace(warp, (2 * j + 1) / width - 1, (2 * i + 1) / height - 1, share);
      const [column, row] = [((x + 1) * before.width - 1) / 2, ((y + 1) * before.height - 1) / 2];
      const [c, r] = [Math.floor(column), Math.floor(row)];
      const to = 4 * (i * width + j);
      after[to + 3] = 255;
      for (const [dr, dc] of [[0, 0], [0, 1], [1, 0], [1, 1]]) {
        if (r + dr < 0 || c + dc < 0 || r + dr >= before.height || c + dc >= before.width) continue;
        const weight = (1 - Math.abs(r + dr - row)) * (1 - Math.abs(c + dc - column));
        const from = 4 * ((r + dr) * before.width + c + dc);
        for (let channel = 0; channel < 3; channel++) sums[channel] += weight * before.data[from + channel];
      }
      for (let channel = 0; channel < 3; channel++) {
        after[to + channel] = sums[channel]; // rounded by the array
        sums[channel] = 0;
      }
    }
  }
  return after;
}

const sums = [0, 0, 0];
