// A warp: the picture with the grid that reads it, the result, and a slider from the picture as it is to the warp.

import { pictured, pictureFrame, warpMarks } from "../drawing/sight_marks.js";
import { segmented } from "../elements/controls.js";
import { fill, h, penOf } from "../elements/dom.js";
import { placeOptions } from "../elements/controls.js";
import { resampled, shareIn, sourcePlace, warpIn } from "../record/sight.js";
import { t } from "../words/messages.js";
import { placeInWords } from "./sight_parts.js";

/** @typedef {import("../record/sight.js").Warps} Warps */
/** @typedef {import("../record/sight.js").WarpedImage} WarpedImage */

const MOST = 192; // pixels of a side that are read anew while the slider moves

export class WarpView {
  /** @type {Warps|null} */
  sight = null;
  /** @type {Promise<ImageData>|null} */
  pixels = null;

  /** @param {HTMLElement} element @param {(patch: object) => void} set */
  constructor(element, set) {
    this.set = set;
    this.which = segmented(t("warp"), (place) => set({ "sight-warp": Number(place) + 1 }));
    this.range = h("input", { type: "range", min: 0, max: 100, class: "sight-range", "data-focus": "sight-share", on: { input: () => this.slide(), change: () => this.keep() } });
    const slider = h("label", { class: "sight-slider" }, h("span", null, t("as it is")), this.range, h("span", null, t("warped")));
    this.range.setAttribute("aria-label", t("from the picture as it is to the warp"));
    this.before = h("div", { class: "sight-frame" });
    this.after = h("div", { class: "sight-frame" });
    this.said = h("p", { class: "sight-said", role: "status" });
    /** @type {(frame: HTMLElement, name: string) => HTMLElement} */
    const pane = (frame, name) => h("figure", { class: "sight-pane" }, frame, h("figcaption", null, name));
    fill(
      element,
      h("div", { class: "sight-controls" }, this.which.element, slider),
      h("div", { class: "sight-panes" }, pane(this.before, t("the picture, and where it is read")), pane(this.after, t("what is seen"))),
      this.said,
      h("p", { class: "panel-hint" }, t("Each crossing of the grid is a place of the result, drawn where the picture is read for it. The orange line is the upper edge of the result.")),
    );
  }

  /** @param {Warps} sight @param {Record<string, any>} state @param {string} title */
  update(sight, state, title) {
    if (sight !== this.sight) {
      this.sight = sight;
      this.pixels = null;
    }
    this.title = title;
    const chosen = warpIn(sight, state);
    this.warp = sight.warps[chosen];
    this.which.element.hidden = sight.warps.length < 2;
    this.which.update(placeOptions(sight.warps.map((warp, n) => warp.name || t("warp {n}", { n: n + 1 }))), String(chosen));
    this.range.value = String(Math.round(100 * shareIn(state)));
    this.draw();
  }

  keep() {
    this.set({ "sight-share": Number(this.range.value) });
  }

  slide() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  draw() {
    const { sight, warp } = this;
    if (!sight || !warp) return;
    const share = Number(this.range.value) / 100;
    const frame = pictureFrame(sight.image);
    fill(this.before, pictured(sight.image, frame, warpMarks(warp, frame, share), { class: "sight-drawing", role: "img", "aria-label": this.title || t("the picture that was looked at") }));
    this.range.setAttribute("aria-valuetext", t("{share} of the way", { share: `${Math.round(100 * share)} %` }));
    this.said.textContent = warpInWords(warp, share);
    if (share === 1) fill(this.after, h("img", { src: warp.image.source, alt: t("the picture after the warp"), class: smallClass(warp.image) }));
    else this.drawBetween(sight, warp, share);
  }

  /** @param {Warps} sight @param {WarpedImage} warp @param {number} share */
  async drawBetween(sight, warp, share) {
    this.pixels ??= pixelsOf(sight.image.source);
    const pixels = await this.pixels.catch(() => null);
    if (!pixels || warp !== this.warp || Number(this.range.value) !== Math.round(100 * share)) return;
    const less = Math.min(1, MOST / Math.max(warp.image.width, warp.image.height));
    const [width, height] = [Math.max(Math.round(warp.image.width * less), 1), Math.max(Math.round(warp.image.height * less), 1)];
    const canvas = h("canvas", { width, height, role: "img", "aria-label": t("the picture between both"), class: smallClass(warp.image) });
    penOf(canvas).putImageData(new ImageData(resampled(pixels, warp, share, width, height), width, height), 0, 0);
    fill(this.after, canvas);
  }
}

/** @param {{width: number, height: number}} image */
const smallClass = ({ width, height }) => (Math.max(width, height) <= 160 ? "is-pixels" : null);

/** @param {string} source */
async function pixelsOf(source) {
  const image = new Image();
  image.src = source;
  await image.decode();
  const canvas = h("canvas", { width: image.naturalWidth, height: image.naturalHeight });
  const pen = penOf(canvas);
  pen.drawImage(image, 0, 0);
  return pen.getImageData(0, 0, canvas.width, canvas.height);
}

/** In a sentence: where the middle is read, how large a part, how it is turned. @param {WarpedImage} warp @param {number} share */
export function warpInWords(warp, share) {
  const [middle, right, below] = [sourcePlace(warp, 0, 0, share), sourcePlace(warp, 0.5, 0, share), sourcePlace(warp, 0, 0.5, share)];
  const [dx, dy] = [right[0] - middle[0], right[1] - middle[1]];
  const [ex, ey] = [below[0] - middle[0], below[1] - middle[1]];
  const area = 4 * Math.abs(dx * ey - dy * ex);
  const turn = Math.round((Math.atan2(dy, dx) * 180) / Math.PI);
  return t("The middle of the result is read {place} of the picture; around it a side of the result covers {side} of one of the picture, turned by {turn}°.", {
    place: placeInWords(...middle),
    side: `${Math.round(100 * Math.sqrt(area))} %`,
    turn,
  });
}
