// A picture that is drawn step by step: what is read and where, the canvas and where it is written.

import { INKS, pictured, windowFrame, windowMarks, windowSide } from "../drawing/sight_marks.js";
import { h } from "../elements/dom.js";
import { t } from "../words/messages.js";
import { beliefBars, bestBelief, placeInWords, smallPicture } from "./sight_parts.js";

/** @typedef {import("../record/sight.js").Canvases} Canvases */
/** @typedef {import("../record/sight.js").CanvasStep} CanvasStep */
/** @typedef {import("../record/sight.js").Still} Still */
/** @typedef {import("../record/sight.js").FilterWindow} FilterWindow */

export const canvasView = {
  pause: 220,
  label: () => t("step"),

  /** @param {Canvases} sight @param {number} now */
  figures(sight, now) {
    return panes(sight, now).map(({ image, window, ink, name }) =>
      h(
        "figure",
        { class: "sight-pane" },
        h("div", { class: "sight-frame" }, paneDrawing(sight, image, window, ink, { class: "sight-drawing", "aria-hidden": "true" })),
        h("figcaption", { "aria-hidden": "true" }, h("i", { class: "sight-key", style: { background: ink } }), name),
      ));
  },

  /** @param {Canvases} sight @param {number} now */
  beside(sight, now) {
    const { seen, beliefs, read } = sight.steps[now];
    const size = t("{n} × {n} filters", { n: read?.count ?? seen?.width ?? 0 });
    return [
      seen ? h("section", null, h("h3", null, t("what is seen there")), h("div", { class: "sight-seen" }, smallPicture(seen, size))) : null,
      beliefBars(sight.labels, beliefs),
    ];
  },

  /** @param {Canvases} sight */
  strip: (sight) => sight.steps.map(({ canvas, seen, beliefs }) => ({ image: canvas ?? seen, label: bestBelief(sight.labels, beliefs)?.label ?? "" })),

  /** @param {Canvases} sight @param {number} now */
  said(sight, now) {
    const { read, write, beliefs } = sight.steps[now];
    const size = sight.image ?? sight.steps[now].canvas;
    /** @param {FilterWindow} window */
    const told = (window) => ({ place: placeInWords((2 * (window.x - 0.5)) / (size?.width ?? 1) - 1, (2 * (window.y - 0.5)) / (size?.height ?? 1) - 1), side: windowSide(window).toFixed(1) });
    const best = bestBelief(sight.labels, beliefs);
    return [
      t("Step {n} of {count}.", { n: now + 1, count: sight.steps.length }),
      read && sight.image ? t("Read {place}, in a window of {side} pixels.", told(read)) : null,
      write ? t("Written {place}, in a window of {side} pixels.", told(write)) : null,
      best ? t("After it {label} is believed most, with {chance}.", best) : null,
    ].filter(Boolean).join(" ");
  },

  hint: () => t("A square runs through the outermost filters of a window; the blurrier they are, the thicker and paler it is; it is dashed where it goes on outside. The arrow keys lead from step to step, a blank plays them."),
};

/**
 * The pictures of a step: what is read, and what is drawn.
 * @param {Canvases} sight @param {number} now @returns {{image: Still, window: FilterWindow|null, ink: string, name: string}[]}
 */
export function panes(sight, now) {
  const { canvas, read, write } = sight.steps[now];
  const reading = sight.image ? [{ image: sight.image, window: read, ink: INKS.read, name: t("the picture, and what is read of it") }] : [];
  return canvas ? [...reading, { image: canvas, window: write, ink: INKS.write, name: t("the canvas, and where it is written") }] : reading;
}

/** @param {Canvases} sight @param {Still} image @param {FilterWindow|null} window @param {string} ink @param {Record<string, any>} [more] */
export function paneDrawing(sight, image, window, ink, more) {
  const frame = windowFrame(image, sight.steps.flatMap(({ read, write }) => [read, write]));
  return pictured(image, frame, window ? windowMarks(window, frame, ink) : null, more);
}
