// One sentence: a list of buttons, one of which can be reached with Tab, the others with the arrow keys.

import { cssColour, inkOn } from "../drawing/colours.js";
import { fill, h } from "../elements/dom.js";
import { stepInGrid } from "../elements/grid_keys.js";
import { joinedAfter, splitAt } from "../record/word_correction.js";
import { t } from "../words/messages.js";

/** @typedef {import("../drawing/colours.js").Rgb} Rgb */
/** @typedef {{ground?: Rgb, stripes?: string}} Tint a colour behind a word; or stripes below it, as an image of CSS */

/** What is done with it: keys are read from; queries read, or are written meanwhile. @param {"queries"|"keys"} part @param {import("../record/record.js").Side} side */
const sideUse = (part, side) => (part === "keys" ? t("read from") : side.name === "target" ? t("written") : t("reading"));

export class Sentence {
  /**
   * @param {"queries"|"keys"} part
   * @param {import("./heatmap.js").Actions} actions
   */
  constructor(part, actions) {
    this.part = part;
    this.actions = actions;
    this.list = h("div", { class: "chips", role: "group" });
    this.caption = h("div", { class: "sentence-caption" });
    this.element = h("div", { class: `sentence ${part}` }, this.caption, this.list);
    /** @type {HTMLButtonElement[]} */
    this.chips = [];
    /** @type {string[]} */
    this.shown = [];
    /** @type {string[]} */
    this.looks = []; // of each word, as it was last painted
    this.reachable = 0;
    this.listen();
  }

  /**
   * @param {string[]} tokens
   * @param {import("../record/record.js").Side} side
   * @param {number|null} chosen the first token of the pinned word; null: none, or tokens are shown
   */
  update(tokens, side, chosen) {
    const { list, part } = this;
    const tool = this.caption.querySelector(":focus")?.getAttribute("data-tool");
    const partName = part === "queries" ? t("queries") : t("keys");
    const same = tokens.length === this.shown.length && tokens.every((token, n) => token === this.shown[n]);
    list.dir = side.rightToLeft ? "rtl" : "ltr";
    list.setAttribute("aria-label", t("{side}: {part}", { side: side.title, part: partName }));
    const role = side.title === partName ? null : h("span", { class: "side-role" }, partName);
    fill(this.caption, h("span", { class: "side-title" }, side.title), role, h("span", { class: "side-use" }, `· ${sideUse(part, side)}`), chosen === null ? null : this.wordTools(side, chosen));
    if (tool) this.focusTool(tool);
    if (same && list.lang === side.language) return;
    list.lang = side.language;
    this.shown = tokens;
    this.looks = [];
    this.reachable = 0;
    this.chips = tokens.map((token, n) =>
      h("button", { class: "chip", type: "button", dir: "auto", tabindex: n === 0 ? "0" : "-1" }, token),
    );
    fill(list, this.chips);
  }

  /** What can be done with the pinned word: its tokens are other words. @param {import("../record/record.js").Side} side @param {number} chosen */
  wordTools(side, chosen) {
    /** @type {(name: string, text: string, starts: number[]|null, hidden: boolean) => HTMLElement} */
    const tool = (name, text, starts, hidden) =>
      h("button", { type: "button", class: "word-tool", "data-tool": name, hidden, on: { click: () => this.actions.words(side, starts) } }, text);
    const [joined, split] = [joinedAfter(side, chosen), splitAt(side, chosen)];
    return h(
      "span",
      { class: "word-tools", role: "group", "aria-label": t("the pinned word") },
      tool("join", t("Join with the next"), joined, joined === null),
      tool("split", t("Split into tokens"), split, split === null),
      tool("found", t("Words as they were found"), null, !side.corrected),
    );
  }

  /** The one that was used stays at hand, or the first that is left. @param {string} name */
  focusTool(name) {
    const there = /** @type {HTMLElement[]} */ ([...this.caption.querySelectorAll(".word-tool:not([hidden])")]);
    (there.find((each) => each.dataset.tool === name) ?? there[0])?.focus();
  }

  /**
   * Touches only the words that look different now.
   * @param {(n: number) => Tint|null} tint @param {number|null} active @param {number|null} pinned
   */
  paint(tint, active, pinned) {
    this.chips.forEach((chip, n) => {
      const { ground = null, stripes = "" } = tint(n) ?? {};
      const look = `${ground ? cssColour(ground) : ""}|${stripes}|${n === active}|${n === pinned}`;
      if (this.looks[n] === look) return;
      this.looks[n] = look;
      chip.style.setProperty("background-color", ground ? cssColour(ground) : "");
      chip.style.setProperty("background-image", stripes);
      chip.style.setProperty("color", ground ? inkOn(ground) : "");
      chip.classList.toggle("active", n === active);
      chip.setAttribute("aria-pressed", String(n === pinned));
    });
  }

  /** Scrolls a long sentence to a word, unless it is being pointed at itself. @param {number|null} n */
  reveal(n) {
    const { list, chips } = this;
    if (n === null || list.scrollHeight <= list.clientHeight + 1 || list.matches(":hover")) return;
    list.scrollTop = chips[n].offsetTop - list.clientHeight / 2;
  }

  /**
   * Where the line of each word ends: at the word, or of long sentences at the edge of their box.
   * @param {"top"|"bottom"} edge @param {DOMRect} origin @param {boolean} atEdge
   */
  ends(edge, origin, atEdge) {
    const box = this.list.getBoundingClientRect();
    const places = this.chips.map((chip) => {
      const at = chip.getBoundingClientRect();
      return { x: at.left + at.width / 2 - origin.left, y: (atEdge ? box[edge] : at[edge]) - origin.top };
    });
    return (/** @type {number} */ n) => places[n];
  }

  listen() {
    /** @param {Event} event */
    const focus = (event) => {
      const active = this.activeOf(event);
      if (active) this.actions.focus(active);
    };
    const leave = () => this.actions.focus(null);
    this.list.addEventListener("pointerover", focus);
    this.list.addEventListener("focusin", focus);
    this.list.addEventListener("pointerleave", leave);
    this.list.addEventListener("focusout", leave);
    this.list.addEventListener("click", (event) => {
      const active = this.activeOf(event);
      if (!active) return;
      this.reach(active.row ?? active.col);
      this.actions.pin(active.row, active.col);
    });
    this.list.addEventListener("keydown", (event) => this.press(event));
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    if (event.key === "Escape") this.actions.unpin();
    if (event.key.startsWith("Page")) return;
    const line = { rows: 1, cols: this.chips.length, reversed: this.list.dir === "rtl" };
    const to = stepInGrid(event.key, { row: 0, col: this.reachable }, line);
    if (!to) return;
    event.preventDefault();
    this.reach(to.col);
    this.chips[to.col].focus();
  }

  /** @param {number} n */
  reach(n) {
    this.chips[this.reachable]?.setAttribute("tabindex", "-1");
    this.chips[n].setAttribute("tabindex", "0");
    this.reachable = n;
  }

  /** @param {Event} event */
  activeOf(event) {
    const n = this.chips.findIndex((chip) => chip === event.target);
    if (n < 0) return null;
    return this.part === "queries" ? { row: n, col: null } : { row: null, col: n };
  }
}
