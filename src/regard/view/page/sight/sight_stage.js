// A picture and how it was looked at, in the place of the matrix.

import { fill, h } from "../elements/dom.js";
import { stepIn, stepsOf } from "../record/sight.js";
import { t } from "../words/messages.js";
import { canvasView } from "./canvas_view.js";
import { glimpseView } from "./glimpse_view.js";
import { StepPlayer } from "./step_player.js";
import { stepStrip } from "./sight_parts.js";
import { WarpView } from "./warp_view.js";

/** @typedef {import("../drawing/view.js").View} View */
/** @typedef {import("../record/sight.js").Sight} Sight */
/** @typedef {import("../record/sight.js").Glimpses} Glimpses */
/** @typedef {import("../record/sight.js").Canvases} Canvases */

/** What a sight of steps is drawn by. @param {Sight} sight @returns {any} */
const drawnBy = (sight) => (sight.kind === "glimpses" ? glimpseView : canvasView);

export class SightStage {
  kind = "";
  /** @type {Sight|null} */
  sight = null;
  /** @type {Sight|null} whose steps are in the strip */
  stripOf = null;
  /** @type {StepPlayer|null} */
  player = null;
  /** @type {WarpView|null} */
  warp = null;

  /** @param {HTMLElement} element @param {(patch: object) => void} set */
  constructor(element, set) {
    this.element = element;
    this.set = set;
    this.figures = h("div", { class: "sight-panes", tabindex: 0, role: "group" });
    this.beside = h("div", { class: "sight-beside" });
    this.said = h("p", { class: "sight-said", role: "status" });
    this.strip = h("div", { class: "sight-strip-place" });
    this.hint = h("p", { class: "panel-hint" });
    this.figures.addEventListener("keydown", (event) => this.player?.press(event));
  }

  /** @param {View & {sight: Sight}} view */
  update({ sight, record, state }) {
    if (this.kind !== sight.kind) this.build(sight);
    if (sight !== this.sight) this.player?.stop();
    this.sight = sight;
    if (sight.kind === "warp") this.warp?.update(sight, /** @type {any} */ (state), record.title);
    else if (!this.player?.isPlaying) this.draw(stepIn(sight, state));
  }

  /** @param {Sight} sight */
  build(sight) {
    this.kind = sight.kind;
    this.player?.stop();
    [this.player, this.warp] = [null, null];
    if (sight.kind === "warp") {
      this.warp = new WarpView(this.element, this.set);
      return;
    }
    const how = drawnBy(sight);
    this.player = new StepPlayer({ label: how.label(), pause: how.pause, go: (step, playing) => this.go(step, playing) });
    this.hint.textContent = how.hint();
    fill(
      this.element,
      this.player.element,
      h("div", { class: "sight-stage" }, this.figures, this.beside),
      this.said,
      this.strip,
      this.hint,
    );
  }

  /** While it plays, the address stays as it is. @param {number} step @param {boolean} playing */
  go(step, playing) {
    this.said.setAttribute("aria-live", playing ? "off" : "polite");
    if (playing) this.draw(step);
    else this.set({ "sight-step": step + 1 });
    if (!playing && step !== this.player?.step) this.draw(step);
  }

  /** @param {number} step */
  draw(step) {
    const { sight, player } = this;
    if (!sight || !player) return;
    const how = drawnBy(sight);
    const said = how.said(sight, step);
    player.update(stepsOf(sight), step, said);
    this.figures.setAttribute("aria-label", t("the picture; the arrow keys lead from step to step"));
    fill(this.figures, how.figures(sight, step));
    fill(this.beside, how.beside(sight, step));
    this.said.textContent = said;
    this.drawStrip(step, how);
  }

  /** The strip is made once; then only the pressed one changes. @param {number} step @param {any} how */
  drawStrip(step, how) {
    const { sight } = this;
    if (this.stripOf !== sight && sight) {
      this.stripOf = sight;
      fill(this.strip, stepStrip(how.strip(sight), step, (n) => this.player?.to(n), (n) => t("step {n}", { n: n + 1 })));
    }
    const buttons = [...this.strip.querySelectorAll("button")];
    buttons.forEach((button, n) => button.setAttribute("aria-pressed", String(n === step)));
    const [list, now] = [this.strip.firstElementChild, buttons[step]];
    if (list && now) list.scrollLeft = now.offsetLeft - list.clientWidth / 2 + now.offsetWidth / 2; // the page itself stays
  }
}
