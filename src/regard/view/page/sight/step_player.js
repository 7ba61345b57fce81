// Steps to go through: back, play, on, and a slider; it plays only when it is asked to.

import { fill, h, s } from "../elements/dom.js";
import { t } from "../words/messages.js";

const ICONS = { back: "M11 3 5 8l6 5z", on: "M5 3l6 5-6 5z", play: "M4 2.5 13 8l-9 5.5z", pause: "M4 3h3v10H4zM9 3h3v10H9z" };
const LONGEST = 9000; // milliseconds of a whole play, however many steps
const SLOW = 1500; // a step where less motion is wished for

export class StepPlayer {
  count = 1;
  step = 0;
  timer = 0;

  /**
   * @param {object} given
   * @param {string} given.label what a step is: “glimpse”
   * @param {number} given.pause milliseconds of a step
   * @param {(step: number, playing: boolean) => void} given.go
   */
  constructor({ label, pause, go }) {
    this.pause = pause;
    this.go = go;
    this.back = this.button(t("one back"), ICONS.back, () => this.to(this.step - 1));
    this.playing = this.button(t("play"), ICONS.play, () => this.toggle());
    this.on = this.button(t("one on"), ICONS.on, () => this.to(this.step + 1));
    this.range = h("input", { type: "range", min: 1, class: "sight-range", "aria-label": label, on: { input: () => this.to(Number(this.range.value) - 1) } });
    this.said = h("span", { class: "sight-count", "aria-hidden": "true" });
    this.element = h("div", { class: "sight-player", role: "group", "aria-label": t("steps") }, this.back, this.playing, this.on, this.range, this.said);
  }

  /** @param {string} label @param {string} path @param {() => void} click */
  button(label, path, click) {
    const made = h("button", { type: "button", class: "sight-button", on: { click } });
    draw(made, label, path);
    return made;
  }

  get isPlaying() {
    return this.timer !== 0;
  }

  /** @param {number} count @param {number} step @param {string} said */
  update(count, step, said) {
    Object.assign(this, { count, step });
    this.element.hidden = count < 2;
    this.range.max = String(count);
    this.range.value = String(step + 1);
    this.range.setAttribute("aria-valuetext", said);
    this.said.textContent = t("{n} of {count}", { n: step + 1, count });
    this.back.setAttribute("aria-disabled", String(step === 0));
    this.on.setAttribute("aria-disabled", String(step === count - 1));
  }

  /** @param {number} step */
  to(step) {
    this.stop();
    this.go(Math.max(Math.min(step, this.count - 1), 0), false);
  }

  toggle() {
    if (this.isPlaying) return this.to(this.step);
    const still = globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches;
    const pause = still ? Math.max(this.pause, SLOW) : Math.max(Math.min(this.pause, LONGEST / this.count), 60);
    const first = this.step === this.count - 1 ? 0 : this.step;
    this.timer = setInterval(() => this.tick(), pause);
    draw(this.playing, t("pause"), ICONS.pause);
    this.go(first, true);
  }

  tick() {
    if (!this.element.isConnected) return this.stop();
    if (this.step + 1 >= this.count) return this.to(this.step);
    this.go(this.step + 1, true);
  }

  stop() {
    if (!this.isPlaying) return;
    clearInterval(this.timer);
    this.timer = 0;
    draw(this.playing, t("play"), ICONS.play);
  }

  /**
   * What the keys do on the picture: arrows, Home and End lead to steps, a blank plays.
   * @param {KeyboardEvent} event
   */
  press(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || this.count < 2) return;
    /** @type {Record<string, number>} */
    const to = { ArrowRight: this.step + 1, ArrowDown: this.step + 1, ArrowLeft: this.step - 1, ArrowUp: this.step - 1, Home: 0, End: this.count - 1 };
    if (event.key in to) this.to(to[event.key]);
    else if (event.key === " ") this.toggle();
    else return;
    event.preventDefault();
  }
}

/** @param {HTMLElement} button @param {string} label @param {string} path */
function draw(button, label, path) {
  button.setAttribute("aria-label", label);
  button.title = label;
  fill(button, s("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" }, s("path", { d: path })));
}
