// What is drawn over a picture that was looked at: squares and a path, windows, a bent grid. On the screen and in files alike.
// One unit is a pixel of the drawing; `zoom` of them are a pixel of the picture.

import { s } from "../elements/dom.js";
import { warpedLines } from "../record/sight.js";

/** @typedef {import("../record/sight.js").Still} Still */
/** @typedef {import("../record/sight.js").Glimpses} Glimpses */
/** @typedef {import("../record/sight.js").FilterWindow} FilterWindow */
/** @typedef {import("../record/sight.js").WarpedImage} WarpedImage */
/** @typedef {{left: number, top: number, width: number, height: number, zoom: number}} Frame in pixels of the picture */

export const INKS = { now: "#ffd84d", past: "#ffffff", read: "#4da3ff", write: "#ff8a3d", grid: "#ffd84d", edge: "#ff8a3d", halo: "#000000", hairline: "#7d8590" };
const LONGER = 480; // of a drawing, in its own units
const EDGE_GAP = 1.2; // from the edge to a dashed line along it
const OUTSIDE = 0.3; // of the picture's size may be seen around it

/** A frame around a picture alone. @param {Still} image @returns {Frame} */
export function pictureFrame(image, longer = LONGER) {
  return { left: 0, top: 0, width: image.width, height: image.height, zoom: longer / Math.max(image.width, image.height) };
}

/** A frame that also holds the squares that go beyond the picture, up to a bound; the same at every step. @param {Glimpses} sight @returns {Frame} */
export function glimpseFrame({ image, steps, widths }) {
  const half = Math.max(...widths) / 2;
  /** @type {(size: number, places: number[]) => number} the share of the size by which squares go beyond it */
  const beyond = (size, places) => Math.max(...places.map((place) => (Math.abs(place) * size) / 2 + half - size / 2)) / size;
  const most = Math.max(beyond(image.width, steps.map((step) => step.x)), beyond(image.height, steps.map((step) => step.y)), 0);
  const share = Math.min(most, OUTSIDE);
  const [width, height] = [image.width * (1 + 2 * share), image.height * (1 + 2 * share)];
  return { left: -share * image.width, top: -share * image.height, width, height, zoom: LONGER / Math.max(width, height) };
}

/** A frame that also holds the windows that go beyond the picture, up to a bound; the same at every step. @param {Still} image @param {(FilterWindow|null)[]} windows @returns {Frame} */
export function windowFrame(image, windows) {
  /** @type {(size: number, place: number, window: FilterWindow) => number} */
  const beyond = (size, place, window) => (Math.abs(place - 0.5 - size / 2) + (windowSide(window) + window.blur - size) / 2) / size;
  const all = windows.flatMap((window) => (window ? [beyond(image.width, window.x, window), beyond(image.height, window.y, window)] : []));
  const share = Math.min(Math.max(0, ...all), OUTSIDE);
  const [width, height] = [image.width * (1 + 2 * share), image.height * (1 + 2 * share)];
  return { left: -share * image.width, top: -share * image.height, width, height, zoom: LONGER / Math.max(width, height) };
}

/** How wide a window is, in pixels. @param {FilterWindow} window */
export function windowSide({ spacing, blur, count }) {
  return count > 1 ? (count - 1) * spacing : 2 * blur;
}

/**
 * A picture with marks over it; what is outside of the picture is left as the ground.
 * @param {Still} image @param {Frame} frame @param {any} marks @param {Record<string, any>} more attributes
 */
export function pictured(image, frame, marks, more = {}) {
  const { left, top, width, height, zoom } = frame;
  const few = Math.max(image.width, image.height) <= 160;
  const drawn = { x: -left * zoom, y: -top * zoom, width: image.width * zoom, height: image.height * zoom };
  return s(
    "svg",
    { viewBox: `0 0 ${(width * zoom).toFixed(2)} ${(height * zoom).toFixed(2)}`, ...more },
    s("rect", { ...drawn, fill: "#000000" }),
    s("image", { ...drawn, href: image.source, preserveAspectRatio: "none", style: few ? { "image-rendering": "pixelated" } : null }),
    s("rect", { ...drawn, fill: "none", stroke: INKS.hairline, "stroke-opacity": 0.35 }),
    marks,
  );
}

/**
 * The path up to a step, what comes later faint, and the squares of the step.
 * @param {Glimpses} sight @param {Frame} frame @param {number} now
 */
export function glimpseMarks({ image, steps, widths }, { left, top, zoom }, now) {
  const places = steps.map(({ x, y }) => [(((x + 1) * image.width) / 2 - left) * zoom, (((y + 1) * image.height) / 2 - top) * zoom]);
  const lines = places.slice(1).map(([x, y], n) => {
    const [x1, y1] = places[n];
    const later = n + 1 > now;
    return [INKS.halo, INKS.past].map((stroke, pass) =>
      s("line", { x1, y1, x2: x, y2: y, stroke, "stroke-width": pass ? 2 : 4.5, "stroke-opacity": (pass ? 0.9 : 0.35) * (later ? 0.25 : 1), "stroke-dasharray": later ? "5 5" : null }));
  });
  const [x, y] = places[now];
  const squares = widths.map((wide, scale) => square(x, y, wide * zoom, INKS.now, scale === 0 ? 3 : 1.8, scale === 0 ? 1 : 0.85));
  const dots = places.map(([cx, cy], n) => (n === now ? null : dot(cx, cy, n + 1, INKS.past, n > now ? 0.35 : 0.95)));
  return [lines, squares, dots, dot(x, y, now + 1, INKS.now, 1)];
}

/** A numbered place. @param {number} x @param {number} y @param {number} number @param {string} fill @param {number} opacity */
function dot(x, y, number, fill, opacity) {
  return s(
    "g",
    { opacity },
    s("circle", { cx: x, cy: y, r: 10, fill, stroke: "#111111", "stroke-width": 1.2 }),
    s("text", { x, y: y + 4.2, "text-anchor": "middle", "font-size": 12, "font-weight": 650, fill: "#111111" }, number),
  );
}

/** @param {number} x of its middle @param {number} y @param {number} side @param {string} stroke @param {number} width @param {number} opacity */
function square(x, y, side, stroke, width, opacity) {
  const box = { x: x - side / 2, y: y - side / 2, width: side, height: side, fill: "none" };
  return [
    s("rect", { ...box, stroke: INKS.halo, "stroke-width": width + 2.4, "stroke-opacity": 0.45 }),
    s("rect", { ...box, stroke, "stroke-width": width, "stroke-opacity": opacity }),
  ];
}

/**
 * A window of filters: a square through the outermost of them, as thick as they are blurred, and a dot for each. A side of it that
 * lies outside of what is drawn is dashed along the edge.
 * @param {FilterWindow} window @param {Frame} frame @param {string} ink
 */
export function windowMarks(window, frame, ink) {
  const { x, y, spacing, blur, count } = window;
  const { left, top, zoom, width, height } = frame;
  const [cx, cy] = [(x - 0.5 - left) * zoom, (y - 0.5 - top) * zoom];
  const side = windowSide(window) * zoom;
  const thick = Math.min(Math.max(blur * zoom, 1.6), 0.06 * Math.max(width, height) * zoom);
  const marks = [square(cx, cy, side, ink, thick, thick > 5 ? 0.55 : 0.95), dashed(cx, cy, side / 2, width * zoom, height * zoom, ink)];
  if (count > 12 || side < 8 * count) return marks;
  const middles = Array.from({ length: count * count }, (_, n) => [n % count, Math.floor(n / count)]);
  return [...marks, middles.map(([i, j]) => s("circle", { cx: cx + (i - (count - 1) / 2) * spacing * zoom, cy: cy + (j - (count - 1) / 2) * spacing * zoom, r: 2.2, fill: ink, stroke: INKS.halo, "stroke-width": 0.7, "stroke-opacity": 0.6 }))];
}

/**
 * Of a square around (x, y), each side that cannot be seen, at the edge that it lies behind.
 * @param {number} x @param {number} y @param {number} half @param {number} wide @param {number} high @param {string} ink
 */
function dashed(x, y, half, wide, high, ink) {
  /** @type {(place: number, size: number) => number} */
  const within = (place, size) => Math.min(Math.max(place, EDGE_GAP), size - EDGE_GAP);
  const [left, right] = [within(x - half, wide), within(x + half, wide)];
  const [upper, lower] = [within(y - half, high), within(y + half, high)];
  const lines = [
    x - half < 0 ? [EDGE_GAP, upper, EDGE_GAP, lower] : null,
    x + half > wide ? [wide - EDGE_GAP, upper, wide - EDGE_GAP, lower] : null,
    y - half < 0 ? [left, EDGE_GAP, right, EDGE_GAP] : null,
    y + half > high ? [left, high - EDGE_GAP, right, high - EDGE_GAP] : null,
  ];
  return lines.map((line) => line && s("line", { x1: line[0], y1: line[1], x2: line[2], y2: line[3], stroke: ink, "stroke-width": 1.6, "stroke-dasharray": "5 4" }));
}

/**
 * The grid of the result as it lies in the picture; its upper edge has a colour of its own, so that turns can be seen.
 * @param {WarpedImage} warp @param {Frame} frame @param {number} share
 */
export function warpMarks(warp, { left, top, width, height, zoom }, share) {
  const lines = warpedLines(warp, share);
  const across = lines.length / 2;
  /** @param {[number, number][]} line */
  const path = (line) => line.map(([x, y], n) => `${n ? "L" : "M"}${clamped((((x + 1) * width) / 2 - left) * zoom)} ${clamped((((y + 1) * height) / 2 - top) * zoom)}`).join("");
  return lines.map((line, n) => {
    const edge = n % across === 0 || n % across === across - 1;
    const ink = n === 0 ? INKS.edge : INKS.grid;
    return [
      s("path", { d: path(line), fill: "none", stroke: INKS.halo, "stroke-width": edge ? 4.4 : 2.6, "stroke-opacity": 0.3 }),
      s("path", { d: path(line), fill: "none", stroke: ink, "stroke-width": n === 0 ? 3.6 : edge ? 2.2 : 1, "stroke-opacity": edge ? 1 : 0.75 }),
    ];
  });
}

/** So that far places do not make endless paths. @param {number} x */
const clamped = (x) => Math.min(Math.max(x, -4000), 4000).toFixed(2);
