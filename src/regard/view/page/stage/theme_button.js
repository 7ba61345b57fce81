// The button that goes from the system's theme to light, to dark, and back.

import { h } from "../elements/dom.js";
import { t } from "../words/messages.js";

/** @typedef {import("../drawing/colours.js").Theme} Theme */
/** @typedef {import("../host/view_state.js").State} State */

/** @type {State["theme"][]} */
const THEMES = ["auto", "light", "dark"];
const SIGNS = { auto: "◐", light: "○", dark: "●" };

/** @param {State["theme"]} theme */
const nameOf = (theme) => ({ auto: t("auto"), light: t("light"), dark: t("dark") })[theme];

/** @param {(patch: Partial<State>) => void} set */
export function mountThemeButton(set) {
  /** @type {State["theme"]} */
  let shown = "auto";
  const sign = h("span", { "aria-hidden": "true" });
  const text = h("span", null);
  const element = h(
    "button",
    { type: "button", class: "tool", on: { click: () => set({ theme: THEMES[(THEMES.indexOf(shown) + 1) % 3] }) } },
    sign,
    text,
  );
  return {
    element,
    /** @param {Theme|"auto"} theme */
    update(theme) {
      shown = theme;
      sign.textContent = SIGNS[theme];
      text.textContent = nameOf(theme);
      element.setAttribute("aria-label", t("theme: {theme}", { theme: nameOf(theme) }));
    },
  };
}
