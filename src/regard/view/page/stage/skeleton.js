// The places of the page, empty.

import { h } from "../elements/dom.js";
import { t } from "../words/messages.js";

/**
 * @param {boolean} canAsk
 * @param {boolean} whole it is a page of its own, not a part of one
 * @param {boolean} [pictures] the first model is asked about pictures
 */
export function buildSkeleton(canAsk, whole, pictures = false) {
  /** @type {(name: string, tag?: keyof HTMLElementTagNameMap, more?: object) => HTMLElement} */
  const place = (name, tag = "div", more = {}) => h(tag, { class: name, ...more });
  const places = {
    header: place("header", "header"),
    toolbar: place("toolbar-place"),
    levels: place("levels-place", "section", { "aria-label": t("words and sentences") }),
    sight: place("sight-place", "section", { "aria-label": t("the picture and how it was looked at") }),
    sentences: place("sentences-place", "section", { "aria-label": t("sentences") }),
    readout: place("readout", "div", { "aria-live": "polite" }),
    heatmap: place("heatmap-place"),
    legend: place("legend-place"),
    heads: place("heads-place", "aside", { "aria-label": t("layers and heads") }),
    tabs: place("tabs-place", "section", { "aria-label": t("panels") }),
  };
  const wanted = pictures
    ? t("Choose a picture above: what the model says of it and where it looked appear here.")
    : t("Type a sentence above: its translation and what the model looked at appear here.");
  const empty = h("p", { class: "empty" }, canAsk ? wanted : t("There is no record here."));
  const map = h("div", { class: "map-place" }, places.readout, places.heatmap, places.legend);
  const stage = h("div", { class: "stage" }, map, places.heads);
  const body = h(whole ? "main" : "div", { class: "body" }, places.levels, places.sight, places.sentences, stage, places.tabs);
  const root = h("div", { class: "regard" }, places.header, places.toolbar, empty, body);
  return { root, places, stage, body, empty };
}
