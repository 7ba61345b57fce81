// Small pieces that glimpses and canvases share: what was believed, small pictures with a line below, places in words.

import { h } from "../elements/dom.js";
import { believed } from "../record/sight.js";
import { weightText } from "../record/levels.js";
import { t } from "../words/messages.js";

/** @typedef {import("../record/sight.js").Still} Still */

/** The labels and how likely each is, as bars. @param {string[]} labels @param {number[]} beliefs */
export function beliefBars(labels, beliefs) {
  if (!beliefs.length) return null;
  return h(
    "section",
    { class: "sight-beliefs" },
    h("h3", null, t("what is believed then")),
    h(
      "ol",
      { class: "belief-bars" },
      believed(labels, beliefs).map(({ label, belief, best }) =>
        h(
          "li",
          { class: best ? "is-best" : null },
          h("bdi", { class: "belief-label", dir: "auto" }, label),
          h("span", { class: "belief-track", "aria-hidden": "true" }, h("i", { style: { width: `${(100 * Math.min(Math.max(belief, 0), 1)).toFixed(1)}%` } })),
          h("span", { class: "belief-number" }, weightText(belief)),
        )),
    ),
  );
}

/** The likeliest label with its probability: “7 (0.83)”. @param {string[]} labels @param {number[]} beliefs */
export function bestBelief(labels, beliefs) {
  if (!beliefs.length) return null;
  const best = beliefs.indexOf(Math.max(...beliefs));
  return { label: labels[best], chance: weightText(beliefs[best]) };
}

/** A small picture, its pixels as they are. @param {Still} image @param {string} text what it is */
export function smallPicture(image, text) {
  return h("figure", { class: "sight-small" }, h("img", { src: image.source, alt: text, draggable: "false" }), h("figcaption", { "aria-hidden": "true" }, text));
}

/**
 * Steps to choose from, as small pictures.
 * @param {{image: Still|null, label: string}[]} steps @param {number} now @param {(step: number) => void} choose @param {(n: number) => string} name
 */
export function stepStrip(steps, now, choose, name) {
  return h(
    "div",
    { class: "sight-strip", role: "group", "aria-label": t("all steps") },
    steps.map(({ image, label }, n) =>
      h(
        "button",
        { type: "button", class: "sight-step", "aria-pressed": String(n === now), "aria-label": name(n), "data-focus": `sight-step-${n}`, on: { click: () => choose(n) } },
        image ? h("img", { src: image.source, alt: "", draggable: "false" }) : null,
        h("span", null, h("b", null, n + 1), label ? " " : null, label ? h("bdi", { dir: "auto" }, label) : null),
      )),
  );
}

/** Where a place is, in words: “above, left of the middle”. @param {number} x @param {number} y */
export function placeInWords(x, y) {
  const [across, down] = [x < -0.33 ? "left" : x > 0.33 ? "right" : "", y < -0.33 ? "top" : y > 0.33 ? "bottom" : ""];
  /** @type {Record<string, string>} */
  const said = {
    "": t("in the middle"),
    left: t("on the left"),
    right: t("on the right"),
    top: t("at the top"),
    bottom: t("at the bottom"),
    topleft: t("at the top left"),
    topright: t("at the top right"),
    bottomleft: t("at the bottom left"),
    bottomright: t("at the bottom right"),
  };
  return said[down + across];
}
