// One sentence of a document: a button with its weight and text, and under it its words, made when it is first opened.

import { cssColour, inkOn, sequential } from "../drawing/colours.js";
import { fill, h } from "../elements/dom.js";
import { shadeOf, weightText } from "../record/levels.js";
import { t } from "../words/messages.js";

/** @typedef {import("../record/levels.js").LevelSentence} LevelSentence */

/**
 * @typedef {object} Look
 * @property {boolean} open
 * @property {import("../drawing/colours.js").Theme} theme
 * @property {number} mostSentence what the strongest colour of a sentence stands for
 * @property {number} full what the strongest colour of a word stands for
 * @property {import("../record/levels.js").Shade} shade
 * @property {number|null} pinned a token
 */

const FAINT = 0.02; // of the strongest: not coloured
let rowsMade = 0; // ids are shared by a whole document

export class LevelRow {
  painted = ""; // how it was last coloured
  wordsPainted = "";
  /** @type {HTMLElement[]} */
  elements = []; // of its words, once it was open

  /**
   * @param {LevelSentence} line @param {number} number from 0
   * @param {import("../record/record.js").Side} side of the words @param {boolean} reachable
   */
  constructor(line, number, side, reachable) {
    this.line = line;
    const id = `regard-level-${(rowsMade += 1)}`;
    this.margin = h("span", { class: "level-margin", "aria-hidden": "true" });
    this.text = h("span", { class: "level-text", dir: "auto", lang: side.language || null }, line.text);
    this.head = h(
      "button",
      { type: "button", class: "level-head", "aria-expanded": "false", "aria-controls": id, tabindex: reachable ? "0" : "-1" },
      this.margin,
      h("span", { class: "unseen" }, t("sentence {n}, weight", { n: number + 1 })),
      h("span", { class: "level-weight" }, weightText(line.weight)),
      this.text,
    );
    this.words = h(
      "div",
      { class: "level-words", id, role: "group", "aria-label": t("words of sentence {n}", { n: number + 1 }), dir: "auto", lang: side.language || null, hidden: true },
    );
    this.element = h("li", { class: "level", "data-sentence": number }, this.head, this.words);
  }

  /** @param {Look} look */
  update(look) {
    this.paint(look);
    if (this.words.hidden === look.open) {
      this.head.setAttribute("aria-expanded", String(look.open));
      this.element.classList.toggle("open", look.open);
      this.text.hidden = look.open;
      this.words.hidden = !look.open;
    }
    if (look.open) this.paintWords(look);
  }

  /** @param {Look} look */
  paint({ theme, mostSentence }) {
    const colour = cssColour(sequential(this.line.weight / mostSentence, theme));
    if (this.painted === colour) return;
    this.painted = colour;
    this.margin.style.setProperty("background-color", colour);
  }

  /** @param {Look} look */
  paintWords({ theme, full, shade, pinned }) {
    const { line } = this;
    const mine = line.words.some((word) => word.tokens.includes(pinned ?? -1)) ? pinned : null;
    const look = [theme, full, shade, mine].join();
    if (this.wordsPainted === look) return;
    if (this.wordsPainted === "") this.build();
    this.wordsPainted = look;
    this.elements.forEach((element, n) => {
      const word = line.words[n];
      const share = shadeOf(line, word, shade) / full;
      const rgb = share < FAINT ? null : sequential(share, theme);
      element.style.setProperty("background-color", rgb ? cssColour(rgb) : "");
      element.style.setProperty("color", rgb ? inkOn(rgb) : "");
      element.setAttribute("aria-pressed", String(mine !== null && word.tokens.includes(mine)));
    });
  }

  build() {
    const { line, words } = this;
    this.elements = line.words.map(wordElement);
    const between = this.elements.map((element, n) => [line.words[n].before, element]);
    fill(words, between.length ? between : h("i", null, t("no words")));
  }

  /** What can have the focus: the sentence, or one of its words. @param {number|null} word @returns {HTMLElement} */
  partAt(word) {
    return (word !== null && this.elements[word]) || this.head;
  }
}

/** @param {import("../record/levels.js").LevelWord} word @param {number} n */
function wordElement(word, n) {
  const name = `${word.text} ${weightText(word.weight)}`;
  return h("span", { class: "level-word", role: "button", tabindex: "-1", "data-word": n, "aria-label": name }, word.text);
}
