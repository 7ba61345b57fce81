// What the colours stand for.

import { cssColour, diverging, sequential } from "../drawing/colours.js";
import { fill, h } from "../elements/dom.js";
import { shortWeight } from "../drawing/view.js";
import { caption, captions, t } from "../words/messages.js";

const STEPS = 12;

/** @param {string} name @param {string} text */
const sign = (name, text) => [h("span", { class: `legend-${name}`, "aria-hidden": "true" }), h("span", null, text)];

/** @param {HTMLElement} element */
export function mountLegend(element) {
  return {
    /** @param {import("../drawing/view.js").View} view */
    update(view) {
      /** @param {number} share */
      const colour = (share) => (view.signed ? diverging(2 * share - 1, view.theme) : sequential(share, view.theme));
      const stops = Array.from({ length: STEPS + 1 }, (_, n) => cssColour(colour(n / STEPS)));
      const most = view.state.scale === "row" ? t("row’s most") : shortWeight(view.full[0] ?? 1);
      fill(
        element,
        h("span", null, view.signed ? `−${most}` : "0"),
        h(
          "span",
          {
            class: "legend-ramp",
            role: "img",
            "aria-label": view.signed ? t("colours from minus {most} to {most}", { most }) : t("colours from 0 to {most}", { most }),
            style: { background: `linear-gradient(to right, ${stops.join(", ")})` },
          },
        ),
        h("span", null, most),
        view.matrix.allowed ? sign("hatch", caption(captions["not allowed"])) : null,
        view.rest ? sign("rest", t("rest: not among these columns")) : null,
      );
    },
  };
}
