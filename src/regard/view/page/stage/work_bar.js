// How far an answer is, and the way to do without it: shown where one takes more than a second.

import { h } from "../elements/dom.js";
import { t } from "../words/messages.js";
import { roughTime } from "../words/rough_time.js";

const PATIENCE = 1000; // ms

/**
 * @param {HTMLElement} place
 * @param {{canStop: boolean, stop: () => void}} given
 */
export function mountWorkBar(place, { canStop, stop }) {
  const bar = h("progress", { "aria-label": t("work that is done"), max: 1 });
  const said = h("span", { role: "status" });
  const left = h("span", { class: "work-left" });
  const button = h("button", { type: "button", class: "panel-button", on: { click: stop } }, t("Stop"));
  place.replaceChildren(said, bar, left, canStop ? button : "");
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  let coming;
  return {
    /** @param {number} waiting @param {import("../host/questions.js").Progress|null} progress */
    update(waiting, progress) {
      if (waiting === 0) {
        clearTimeout(coming);
        coming = undefined;
        place.hidden = true;
        said.textContent = "";
        return;
      }
      coming ??= setTimeout(() => {
        place.hidden = false;
        said.textContent = t("The model is at work");
      }, PATIENCE);
      const share = progress?.share ?? null;
      if (share === null) bar.removeAttribute("value");
      else bar.value = share;
      left.textContent = share === null ? "" : leftText(share, progress?.left ?? null);
    },
  };
}

/** @param {number} share @param {number|null} seconds */
function leftText(share, seconds) {
  const percent = Math.floor(100 * share);
  return seconds === null ? `${percent} %` : t("{percent} %, about {time} left", { percent, time: roughTime(seconds) });
}
