// Attention over an image: what each word looked at, and the path of the glimpses.

import { segmented, toggle } from "../elements/controls.js";
import { overPicture } from "../drawing/colours.js";
import { drawOutline } from "../drawing/picture_outline.js";
import { fill, h, penOf, s } from "../elements/dom.js";
import { numberText, rowOf } from "./row_numbers.js";
import { keepingFocus, currentMap, largestSize, tokenPicker, wordElement } from "./panel_parts.js";
import { t } from "../words/messages.js";

/** @typedef {import("../record/record.js").AttentionRecord} AttentionRecord */

/** @typedef {import("./panel_parts.js").PanelContext} PanelContext */
/** @typedef {import("../record/record.js").AttentionMap} AttentionMap */
/** @typedef {import("../record/record.js").Picture} Picture */
/** @typedef {AttentionMap & {keys: {picture: Picture}}} PicturedMap */

export const picturePanel = {
  name: "picture",
  leads: true,
  get title() {
    return t("Picture");
  },

  /** @param {PanelContext} context @returns {true | null} */
  available: (context) => (mapWithPicture(context) ? true : null),

  /** @param {HTMLElement} el @param {PanelContext} context */
  mount(el, context) {
    draw(el, context);
    return { update: (/** @type {PanelContext} */ next) => keepingFocus(el, () => draw(el, next)) };
  },
};

/**
 * The current map where its keys are cells of a picture, else the first such.
 * @param {PanelContext} context @returns {PicturedMap|undefined}
 */
function mapWithPicture(context) {
  /** @type {(map: AttentionMap) => map is PicturedMap} */
  const shown = (map) => /^data:image\//.test(map.keys.picture?.source ?? "");
  return [currentMap(context), ...context.record.maps].find(shown);
}

/**
 * The weights of a row on the grid of the picture: marks among the keys are no cells.
 * @param {ArrayLike<number>} weights @param {boolean[]} special @param {number} count of cells
 */
export function cellWeights(weights, special, count) {
  const cells = new Float32Array(count);
  let at = 0;
  for (let key = 0; key < weights.length && at < count; key++) if (!special[key]) cells[at++] = weights[key];
  return cells;
}

/** @param {HTMLElement} el @param {PanelContext} context */
function draw(el, context) {
  const { record, state, set } = context;
  const map = mapWithPicture(context);
  if (!map) return;
  const { picture } = map.keys;
  const matrix = record.matrix(map.name, { ...state, units: "tokens", specials: true, between: "all" });
  const chosen = Math.min(state.query ?? 0, map.Q - 1);
  /** @param {number} query */
  const cells = (query) => cellWeights(rowOf(matrix, query), map.keys.special, picture.rows * picture.columns);
  /** @param {number} query */
  const choose = (query) => set({ query });
  const look = state["picture-look"] === "cells" ? "cells" : "smooth";
  const path = hasPath(record, map) && String(state["picture-path"] ?? 1) === "1";
  fill(
    el,
    overlayControls(context, map, look, path),
    h("div", { "data-focus": "picture-word" }, tokenPicker({ side: map.queries, chosen, label: t("Word"), choose })),
    h(
      "div",
      { class: "picture-stage" },
      h(
        "figure",
        { class: "picture-large" },
        h("div", { class: `picture-frame is-${look}` }, imageElement(picture, record.title), veil(cells(chosen), picture, look === "smooth" ? 24 : 1), outline(cells(chosen), picture), look === "cells" ? gridLines(picture) : null, path ? glimpsePath(record.glimpses, chosen) : null),
        h("figcaption", { role: "status" }, caption(cells(chosen), picture, map, chosen)),
      ),
      h("div", { class: "picture-strip" }, map.queries.tokens.map((_, query) => wordButton(map, query, query === chosen, cells(query), choose))),
    ),
    h("p", { class: "panel-hint" }, t("{title}. The picture is as it is where the word looked and dim elsewhere, with a line around cells with half of the strongest weight or more; each word is scaled to its own strongest cell.", { title: matrix.title })),
  );
}

/** @param {AttentionRecord} record @param {AttentionMap} map */
function hasPath(record, map) {
  return record.glimpses.length > 0 && map === record.maps[0];
}

/** @param {PanelContext} context @param {AttentionMap} map @param {string} look @param {boolean} path */
function overlayControls({ record, set }, map, look, path) {
  const looks = segmented(t("Overlay"), (value) => set({ "picture-look": value }));
  looks.update([["smooth", t("smooth")], ["cells", t("cells")]], look);
  for (const input of looks.element.querySelectorAll("input")) input.setAttribute("data-focus", `picture-look-${input.value}`);
  const glimpses = toggle(t("Path of the glimpses"), (on) => set({ "picture-path": on ? 1 : 0 }));
  glimpses.update(path);
  glimpses.input.setAttribute("data-focus", "picture-path");
  return h("div", { class: "panel-controls" }, looks.element, hasPath(record, map) ? glimpses.element : null);
}

/** @param {Picture} picture @param {string} title */
function imageElement(picture, title) {
  return h("img", { src: picture.source, alt: title || t("the picture that was looked at"), draggable: "false" });
}

/**
 * Over the image, dark where nothing was read, nothing where most was; larger than the grid, its edges are soft.
 * @param {Float32Array} cells @param {Picture} picture @param {number} times
 */
function veil(cells, picture, times) {
  const { rows, columns } = picture;
  const most = largestSize(cells) || 1;
  const image = new ImageData(columns, rows);
  cells.forEach((weight, at) => image.data.set(overPicture(weight / most), 4 * at));
  const small = h("canvas", { width: columns, height: rows });
  penOf(small).putImageData(image, 0, 0);
  if (times === 1) return small;
  const large = h("canvas", { width: columns * times, height: rows * times });
  const pen = penOf(large);
  pen.imageSmoothingQuality = "high";
  pen.drawImage(small, 0, 0, large.width, large.height);
  return large;
}

/** @param {Float32Array} cells @param {Picture} picture */
function outline(cells, picture) {
  const most = largestSize(cells) || 1;
  const lines = drawOutline(Array.from(cells, (weight) => weight / most), picture, 1, 1);
  return s("svg", { class: "picture-outline", viewBox: `0 0 ${picture.columns} ${picture.rows}`, preserveAspectRatio: "none", "aria-hidden": "true" }, lines);
}

/** @param {Picture} picture */
function gridLines({ rows, columns }) {
  const lines = [];
  for (let row = 1; row < rows; row++) lines.push(`M0,${row}H${columns}`);
  for (let column = 1; column < columns; column++) lines.push(`M${column},0V${rows}`);
  return s("svg", { class: "picture-grid", viewBox: `0 0 ${columns} ${rows}`, preserveAspectRatio: "none", "aria-hidden": "true" }, s("path", { d: lines.join("") }));
}

/**
 * Boxes in the order of the words, joined from centre to centre; those of the chosen word stand out.
 * @param {number[][][]} glimpses @param {number} chosen
 */
function glimpsePath(glimpses, chosen) {
  /** @param {number} share */
  const percent = (share) => `${(100 * share).toFixed(2)}%`;
  /** @param {number[]} box */
  const centre = ([left, top, width, height]) => [left + width / 2, top + height / 2];
  const all = glimpses.flatMap((boxes, query) => boxes.map((box) => ({ box, query })));
  const lines = all.slice(1).map(({ box, query }, at) => {
    const [[x1, y1], [x2, y2]] = [centre(all[at].box), centre(box)];
    return s("line", { x1: percent(x1), y1: percent(y1), x2: percent(x2), y2: percent(y2), class: query > chosen ? "is-later" : null });
  });
  /** @type {(glimpse: {box: number[], query: number}, at: number) => SVGElement} */
  const mark = ({ box, query }, at) => {
    const [x, y] = centre(box);
    return s(
      "g",
      { class: query === chosen ? "is-chosen" : query > chosen ? "is-later" : null },
      s("rect", { x: percent(box[0]), y: percent(box[1]), width: percent(box[2]), height: percent(box[3]), rx: 4 }),
      s("circle", { cx: percent(x), cy: percent(y), r: 9 }),
      s("text", { x: percent(x), y: percent(y), dy: "0.36em", "text-anchor": "middle" }, at + 1),
    );
  };
  const last = all.findLastIndex(({ query }) => query === chosen);
  const marks = all.map(mark);
  if (last >= 0) marks.push(...marks.splice(last, 1)); // the chosen one lies on top
  return s("svg", { class: "picture-path", role: "img", "aria-label": t.plural(all.length, "Path of one glimpse", "Path of {n} glimpses") }, lines, marks);
}

/** @param {Float32Array} cells @param {Picture} picture @param {AttentionMap} map @param {number} query */
function caption(cells, picture, map, query) {
  const best = cells.indexOf(Math.max(...cells));
  return t.parts("{word} looked most at row {row}, column {column}: {weight} of its weight", {
    word: h("b", null, wordElement(map.queries.labels[query], map.queries)),
    row: Math.floor(best / picture.columns) + 1,
    column: (best % picture.columns) + 1,
    weight: numberText(cells[best]),
  });
}

/** @param {PicturedMap} map @param {number} query @param {boolean} chosen @param {Float32Array} cells @param {(place: number) => void} choose */
function wordButton(map, query, chosen, cells, choose) {
  const { picture } = map.keys;
  return h(
    "button",
    { type: "button", class: "picture-small", "aria-pressed": String(chosen), "data-focus": `picture-${query}`, on: { click: () => choose(query) } },
    h("span", { class: "picture-frame is-smooth" }, h("img", { src: picture.source, alt: "", draggable: "false" }), veil(cells, picture, 8), outline(cells, picture)),
    wordElement(map.queries.labels[query], map.queries),
  );
}
