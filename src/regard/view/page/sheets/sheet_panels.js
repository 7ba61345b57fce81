// A picture for each word, as it is where the word looked and dim elsewhere, and what the brightness stands for. As regard/view/stills/drawn_picture.py draws them.

import { drawOutline } from "../drawing/picture_outline.js";
import { s } from "../elements/dom.js";
import { t } from "../words/messages.js";
import { fixed, labelOf, lengthOf, overlayOf, rectangle, write } from "./sheet_paper.js";

/** @typedef {import("./sheet_paper.js").Paper} Paper */
/** @typedef {import("./sheet_paper.js").Part} Part */

/**
 * @typedef {object} LitPictures
 * @property {{source: string, rows: number, columns: number}} picture
 * @property {{word: string, cells: Float32Array, boxes: number[][]}[]} words
 * @property {string} language
 * @property {number} ratio how high the picture is for its width
 */

const [ACROSS, GAP, NAME, WIDTH, GLIMPSE] = [4, 14, 20, 168, "#ff9d2e"];

/** @param {LitPictures} given @param {Paper} paper @returns {Part} */
export function drawPanels({ picture, words, language, ratio }, paper) {
  const height = WIDTH * ratio;
  const name = `picture-${words.length}-${picture.source.length}`;
  const image = s("image", { id: name, width: WIDTH, height: fixed(height), href: picture.source, preserveAspectRatio: "none" });
  const panels = words.map(({ word, cells, boxes }, n) => {
    const [x, y] = [(n % ACROSS) * (WIDTH + GAP), Math.floor(n / ACROSS) * (height + NAME + GAP)];
    return s(
      "g",
      { transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` },
      write(labelOf(word), WIDTH / 2, 13, { size: 13, fill: paper.ink, anchor: "middle", language }),
      s("g", { transform: `translate(0 ${NAME})` }, s("use", { href: `#${name}` }), veil(cells, picture, height), boxes.map((box) => glimpse(box, height))),
    );
  });
  const across = Math.min(words.length, ACROSS);
  const down = Math.ceil(words.length / ACROSS);
  return { width: across * (WIDTH + GAP) - GAP, height: down * (height + NAME + GAP) - GAP, nodes: [s("defs", null, image), panels] };
}

/** @param {Float32Array} cells @param {{rows: number, columns: number}} picture @param {number} height */
function veil(cells, { rows, columns }, height) {
  const most = cells.reduce((a, b) => Math.max(a, b), 0) || 1;
  const [wide, high] = [WIDTH / columns, height / rows];
  const shades = Array.from(cells, (weight, n) => rectangle(wide * (n % columns), high * Math.floor(n / columns), wide, high, overlayOf(weight / most)));
  const shares = Array.from(cells, (weight) => weight / most);
  return [s("g", { "shape-rendering": "crispEdges" }, shades), drawOutline(shares, { rows, columns }, wide, high)];
}

/** @param {number[]} box in shares of the picture @param {number} height */
function glimpse([left, top, wide, high], height) {
  return rectangle(left * WIDTH, top * height, wide * WIDTH, high * height, { fill: "none", stroke: GLIMPSE, "stroke-width": 2 });
}

/** On a ground half dark, half light, as both are met. @param {Paper} paper @returns {Part} */
export function drawOverlayScale(paper) {
  const [bar, steps, high] = [132, 44, 10];
  const said = t("each word is scaled to its own strongest cell; a line is around cells with half of its weight or more");
  const style = { size: 11, fill: paper.muted };
  const nodes = [
    rectangle(0, 0, bar, high / 2, { fill: "#222222" }),
    rectangle(0, high / 2, bar, high / 2, { fill: "#dddddd" }),
    Array.from({ length: steps }, (_, n) => rectangle((bar * n) / steps, 0, bar / steps, high, overlayOf(n / (steps - 1)))),
    write("0", 0, high + 13, style),
    write(t("most"), bar, high + 13, { ...style, anchor: "end" }),
    write(said, bar + 16, high - 1, style),
  ];
  return { width: bar + 16 + lengthOf(said, 11), height: high + 16, nodes };
}
