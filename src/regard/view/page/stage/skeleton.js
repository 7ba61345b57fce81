// The places of the page, empty.

import { h } from "../elements/dom.js";
import { t } from "../words/messages.js";

/**
 * @param {boolean} canAsk
 * @param {boolean} whole it is a page of its own, not a part of one
 */
export function buildSkeleton(canAsk, whole) {
  /** @type {(name: string, tag?: keyof HTMLElementTagNameMap, more?: object) => HTMLElement} */
  const place = (name, tag = "div", more = {}) => h(tag, { class: name, ...more });
  const places = {
    header: place("header", "header"),
    first: place("first-place", "section", { "aria-label": t("what can be asked") }),
    walk: place("walk-place", "section", { "aria-label": t("a guided walk"), hidden: true }),
    toolbar: place("toolbar-place"),
    levels: place("levels-place", "section", { "aria-label": t("words and sentences") }),
    sight: place("sight-place", "section", { "aria-label": t("the picture and how it was looked at") }),
    sentences: place("sentences-place", "section", { "aria-label": t("sentences") }),
    readout: place("readout", "div", { "aria-live": "polite" }),
    heatmap: place("heatmap-place"),
    legend: place("legend-place"),
    heads: place("heads-place", "aside", { "aria-label": t("layers and heads") }),
    work: place("work-bar", "section", { "aria-label": t("work in progress"), hidden: true }),
    tabs: place("tabs-place", "section", { "aria-label": t("panels") }),
  };
  if (!canAsk) places.first.append(h("p", { class: "empty" }, t("There is no record here.")));
  const map = h("div", { class: "map-place" }, places.readout, places.heatmap, places.legend);
  const stage = h("div", { class: "stage" }, map, places.heads);
  const body = h(whole ? "main" : "div", { class: "body" }, places.levels, places.sight, places.sentences, stage, places.tabs);
  const root = h("div", { class: "regard" }, places.header, places.walk, places.toolbar, places.first, body, places.work);
  return { root, places, stage, body };
}
