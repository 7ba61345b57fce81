// What the colours stand for.

import { cssColour, diverging, sequential } from "../drawing/colours.js";
import { fill, h } from "../elements/dom.js";
import { scaleNumber } from "../drawing/view.js";
import { caption, captions, t } from "../words/messages.js";

const STEPS = 12;

/** @param {string} name @param {string} text */
const sign = (name, text) => [h("span", { class: `legend-${name}`, "aria-hidden": "true" }), h("span", null, text)];

/** Each colour and the head that it stands for, in the order of the stripes. @param {import("../drawing/view.js").View} view */
function headLegend({ heads, state, full }) {
  const most = state.scale === "row" ? t("row’s most") : scaleNumber(full[0] ?? 1);
  const items = heads.map(({ name, short, colour }) => h("li", { style: { "--head": cssColour(colour) } }, h("i", { "aria-hidden": "true" }), h("span", null, short), h("span", { class: "unseen" }, name)));
  return [h("ul", { class: "head-list", "aria-label": t("heads, in the order of the stripes of a cell") }, items), h("span", null, t("full colour: {most}", { most }))];
}

/** @param {HTMLElement} element */
export function mountLegend(element) {
  return {
    /** @param {import("../drawing/view.js").View} view */
    update(view) {
      if (view.heads.length) return void fill(element, headLegend(view), view.matrix.allowed ? sign("hatch", caption(captions["not allowed"])) : null);
      /** @param {number} share */
      const colour = (share) => (view.signed ? diverging(2 * share - 1, view.theme) : sequential(share, view.theme));
      const stops = Array.from({ length: STEPS + 1 }, (_, n) => cssColour(colour(n / STEPS)));
      const most = view.state.scale === "row" ? t("row’s most") : scaleNumber(view.full[0] ?? 1);
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
