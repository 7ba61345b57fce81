// A document at two levels: its sentences with their weights; one that is opened shows its words with theirs.
// One sentence can be reached with Tab, the others with the arrow keys, which also lead into the words.

import { segmented } from "../elements/controls.js";
import { fill, h } from "../elements/dom.js";
import { rampLegend } from "../panels/panel_parts.js";
import { largest, readOpen, shadeIn, strongestShades, weightText, writeOpen } from "../record/levels.js";
import { t } from "../words/messages.js";
import { LevelRow } from "./level_row.js";
import { sentenceReadout, wordReadout } from "./level_readout.js";

/** @typedef {import("../drawing/view.js").View} View */
/** @typedef {import("../host/view_state.js").State} State */
/** @typedef {import("../record/levels.js").LevelSentence} LevelSentence */
/** @typedef {import("../record/levels.js").Shade} Shade */
/** @typedef {{sentence: number, word: number|null}} Place of what is pointed at */

export class DocumentLevels {
  /** @type {LevelRow[]} */
  rows = [];
  /** @type {LevelSentence[]} */
  lines = [];
  /** @type {boolean[]} */
  open = [];
  /** @type {View|null} */
  view = null;
  reachable = 0; // the sentence that Tab leads to
  frame = 0;

  /** @param {HTMLElement} element @param {(patch: Partial<State>) => void} set */
  constructor(element, set) {
    this.set = set;
    this.shade = segmented(t("shade words by"), (shade) => set({ "levels-shade": shade }));
    this.openAll = h("button", { type: "button", class: "quiet", on: { click: () => this.setAll(true) } }, t("Open all"));
    this.closeAll = h("button", { type: "button", class: "quiet", on: { click: () => this.setAll(false) } }, t("Close all"));
    this.count = h("span", { class: "levels-count", role: "status" });
    this.said = h("p", { class: "levels-said" });
    this.readout = h("div", { class: "readout levels-readout", "aria-live": "polite" });
    this.list = h("ol", { class: "levels", "aria-label": t("sentences of the document") });
    this.legend = h("div", { class: "levels-legend" });
    fill(
      element,
      h("div", { class: "levels-controls" }, this.shade.element, h("div", { class: "levels-all" }, this.openAll, this.closeAll, this.count)),
      this.said,
      this.readout,
      this.list,
      this.legend,
    );
    this.listen();
  }

  /** @param {View} view whose record has levels */
  update(view) {
    const { levels, state } = view;
    if (!levels) return;
    this.view = view;
    const lines = levels.lines(state.units);
    if (lines !== this.lines) this.build(lines, levels);
    const shade = shadeIn(state);
    this.open = readOpen(/** @type {State} */ (state)["levels-open"], lines.length);
    const strongest = strongestShades(lines, shade);
    const mostWord = largest(strongest) || 1;
    const mostSentence = largest(lines.map((line) => line.weight)) || 1;
    this.rows.forEach((row, n) => {
      const full = state.scale === "row" ? strongest[n] || 1 : mostWord;
      row.update({ open: this.open[n], theme: view.theme, mostSentence, full, shade, pinned: state.key });
    });
    this.say(view, shade, mostSentence, state.scale === "row" ? t("sentence’s most") : weightText(mostWord));
    this.point(null);
  }

  /** @param {LevelSentence[]} lines @param {import("../record/levels.js").Levels} levels */
  build(lines, levels) {
    this.lines = lines;
    this.reachable = Math.min(this.reachable, Math.max(lines.length - 1, 0));
    this.rows = lines.map((line, n) => new LevelRow(line, n, levels.words, n === this.reachable));
    fill(this.list, this.rows.map((row) => row.element));
  }

  /**
   * What the colours are, in words.
   * @param {View} view @param {Shade} shade @param {number} mostSentence @param {string} mostWord
   */
  say(view, shade, mostSentence, mostWord) {
    const { lines, open } = this;
    this.shade.update([["both", t("word × √sentence")], ["word", t("word alone")]], shade);
    const opened = open.filter(Boolean).length;
    this.openAll.disabled = opened === lines.length;
    this.closeAll.disabled = opened === 0;
    this.count.textContent = t("{open} of {count} sentences are open", { open: opened, count: lines.length });
    this.said.textContent = shade === "word"
      ? t("A word’s colour is its weight in its own sentence, p(w): sentences that count for little look no paler.")
      : t("A word’s colour is √p(s) · p(w), its weight in its sentence times the root of the sentence’s own, as Yang et al. 2016 draw it: sentences that count for little look pale.");
    fill(
      this.legend,
      rampLegend(t("sentences: 0"), weightText(mostSentence), false, view.state),
      rampLegend(t("words: 0"), mostWord, false, view.state),
    );
  }

  /** Shows the numbers of a place, or of the pinned word, or what can be done. @param {Place|null} place */
  point(place) {
    this.pointed = place;
    this.frame ||= requestAnimationFrame(() => this.tell());
  }

  tell() {
    this.frame = 0;
    const { lines, view, pointed } = this;
    if (!view?.levels) return;
    const place = pointed ?? this.pinnedPlace();
    const idle = { main: "", more: t("Click a sentence, or press Enter on it: it opens and shows its words. The arrow keys lead from sentence to sentence and, to the right, into the words.") };
    const { main, more } = !place
      ? idle
      : place.word === null ? sentenceReadout(lines, place.sentence) : wordReadout(lines, place.sentence, place.word);
    fill(this.readout, h("span", { class: "readout-main" }, main), h("span", { class: "readout-more" }, more));
  }

  /** @returns {Place|null} */
  pinnedPlace() {
    const key = this.view?.state.key ?? null;
    if (key === null) return null;
    for (const [sentence, line] of this.lines.entries()) {
      const word = line.words.findIndex((each) => each.tokens.includes(key));
      if (word >= 0) return { sentence, word };
    }
    return null;
  }

  /** @param {boolean} open */
  setAll(open) {
    this.set({ "levels-open": writeOpen(this.lines.map(() => open)) });
  }

  /** @param {number} sentence @param {boolean} [open] */
  toggle(sentence, open = !this.open[sentence]) {
    if (this.open[sentence] === open) return;
    this.set({ "levels-open": writeOpen(this.open.map((was, n) => (n === sentence ? open : was))) });
  }

  /** Pins a word, or lets it go. @param {Place} place */
  pin({ sentence, word }) {
    if (word === null) return;
    const { tokens } = this.lines[sentence].words[word];
    const pinned = this.view?.state.key ?? null;
    this.set({ key: pinned !== null && tokens.includes(pinned) ? null : tokens[0] });
  }

  listen() {
    const { list } = this;
    list.addEventListener("click", (event) => {
      const place = this.placeOf(event);
      if (!place) return;
      this.reach(place.sentence);
      if (place.word === null) this.toggle(place.sentence);
      else this.pin(place);
    });
    for (const name of ["pointerover", "focusin"]) list.addEventListener(name, (event) => this.point(this.placeOf(event)));
    for (const name of ["pointerleave", "focusout"]) list.addEventListener(name, () => this.point(null));
    list.addEventListener("keydown", (event) => this.press(event));
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const place = this.placeOf(event);
    if (!place || event.altKey || event.ctrlKey || event.metaKey) return;
    if (place.word !== null && (event.key === "Enter" || event.key === " ")) this.pin(place);
    else if (!this.step(event.key, place)) return;
    event.preventDefault();
  }

  /** @param {string} key @param {Place} at @returns {boolean} whether the key leads anywhere */
  step(key, { sentence, word }) {
    const [last, words] = [this.rows.length - 1, this.lines[sentence].words.length];
    const [on, back] = this.view?.levels?.words.rightToLeft ? ["ArrowLeft", "ArrowRight"] : ["ArrowRight", "ArrowLeft"];
    /** @type {Record<string, number>} */
    const sentences = { ArrowDown: sentence + 1, ArrowUp: sentence - 1, PageDown: sentence + 10, PageUp: sentence - 10 };
    if (key in sentences) this.focus(Math.min(Math.max(sentences[key], 0), last), null);
    else if (key === "Home" || key === "End") {
      const end = key === "End";
      if (word === null) this.focus(end ? last : 0, null);
      else this.focus(sentence, end ? words - 1 : 0);
    } else if (key === on && !this.open[sentence]) this.toggle(sentence, true);
    else if (key === on) this.focus(sentence, words ? Math.min((word ?? -1) + 1, words - 1) : null);
    else if (key === back && word === null) this.toggle(sentence, false);
    else if (key === back) this.focus(sentence, word ? word - 1 : null);
    else if (key === "Escape" && word !== null) this.focus(sentence, null);
    else return false;
    return true;
  }

  /** @param {number} sentence @param {number|null} word */
  focus(sentence, word) {
    this.reach(sentence);
    this.rows[sentence].partAt(word).focus();
  }

  /** @param {number} sentence */
  reach(sentence) {
    this.rows[this.reachable]?.head.setAttribute("tabindex", "-1");
    this.rows[sentence].head.setAttribute("tabindex", "0");
    this.reachable = sentence;
  }

  /** @param {Event} event @returns {Place|null} */
  placeOf({ target }) {
    if (!(target instanceof Element)) return null;
    const element = target.closest(".level");
    const sentence = element ? Number(element.getAttribute("data-sentence")) : NaN;
    if (!this.rows[sentence]) return null;
    const word = target.closest(".level-word")?.getAttribute("data-word");
    if (word) return { sentence, word: Number(word) };
    return target.closest(".level-head") ? { sentence, word: null } : null;
  }
}
