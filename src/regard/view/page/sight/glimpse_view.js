// Glimpses: the picture with the path and the squares of a step, what each scale saw, and what was believed then.

import { glimpseFrame, glimpseMarks, pictured } from "../drawing/sight_marks.js";
import { h } from "../elements/dom.js";
import { t } from "../words/messages.js";
import { beliefBars, bestBelief, placeInWords, smallPicture } from "./sight_parts.js";

/** @typedef {import("../record/sight.js").Glimpses} Glimpses */

export const glimpseView = {
  pause: 900,
  label: () => t("glimpse"),

  /** @param {Glimpses} sight @param {number} now */
  figures(sight, now) {
    const frame = glimpseFrame(sight);
    const drawing = pictured(sight.image, frame, glimpseMarks(sight, frame, now), { class: "sight-drawing", "aria-hidden": "true" });
    return h("div", { class: "sight-frame" }, drawing);
  },

  /** @param {Glimpses} sight @param {number} now */
  beside(sight, now) {
    const { seen, beliefs } = sight.steps[now];
    const widths = sight.widths.map((wide) => t("{n} × {n} pixels", { n: Math.round(10 * wide) / 10 }));
    return [
      seen.length
        ? h("section", null, h("h3", null, t("what is seen there")), h("div", { class: "sight-seen" }, seen.map((image, scale) => smallPicture(image, widths[scale]))))
        : null,
      beliefBars(sight.labels, beliefs),
    ];
  },

  /** @param {Glimpses} sight */
  strip: (sight) => sight.steps.map(({ seen, beliefs }) => ({ image: seen[0] ?? null, label: bestBelief(sight.labels, beliefs)?.label ?? "" })),

  /** In a sentence, for those who do not see it. @param {Glimpses} sight @param {number} now */
  said(sight, now) {
    const { x, y, beliefs } = sight.steps[now];
    const where = t("Glimpse {n} of {count}, {place} (x {x}, y {y}).", { n: now + 1, count: sight.steps.length, place: placeInWords(x, y), x: x.toFixed(2), y: y.toFixed(2) });
    const best = bestBelief(sight.labels, beliefs);
    return best ? `${where} ${t("After it {label} is believed most, with {chance}.", best)}` : where;
  },

  hint: () => t("The squares are what one glimpse sees: the inner sharp, those around it coarser. Dots are numbered in the order of the glimpses; what comes later is faint. The arrow keys lead from glimpse to glimpse, a blank plays them."),
};
