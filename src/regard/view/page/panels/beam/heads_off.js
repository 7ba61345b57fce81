// Heads that can be switched off: a check box for each head of each layer, map by map.

import { h } from "../../elements/dom.js";
import { button } from "../panel_parts.js";
import { t } from "../../words/messages.js";

/** @typedef {import("../../record/record.js").AttentionMap} AttentionMap */
/** @typedef {import("../../host/asked_questions.js").HeadOff} HeadOff */

const MAPS = ["cross", "encoder", "decoder"];

/** @param {string} map @param {number} layer @param {number} head all counted from 1 */
const headKey = (map, layer, head) => `${map}.${layer}.${head}`;

/** The heads that a question switches off, one by one. @param {HeadOff[]} off @param {AttentionMap[]} maps @returns {Set<string>} */
export function switchedOff(off, maps) {
  const found = off.flatMap(({ map, layer, head }) => {
    const heads = maps.find((each) => each.name === map)?.H ?? 0;
    return head ? [headKey(map, layer, head)] : Array.from({ length: heads }, (_, n) => headKey(map, layer, n + 1));
  });
  return new Set(found);
}

/** The same as a question says it: a layer without all of its heads is one entry. @param {Set<string>} off @param {AttentionMap[]} maps @returns {HeadOff[]} */
export function headsOff(off, maps) {
  return maps.flatMap(({ name, L, H }) =>
    Array.from({ length: L }, (_, l) => l + 1).flatMap((layer) => {
      const heads = Array.from({ length: H }, (_, n) => n + 1).filter((head) => off.has(headKey(name, layer, head)));
      return heads.length === H ? [{ map: name, layer }] : heads.map((head) => ({ map: name, layer, head }));
    }),
  );
}

/** The maps whose heads can be switched off. @param {AttentionMap[]} maps */
export const mapsWithHeads = (maps) => maps.filter((map) => MAPS.includes(map.name));

/**
 * @param {{maps: AttentionMap[], off: Set<string>, disabled: boolean, change: (off: Set<string>) => void}} given
 */
export function headGrid({ maps, off, disabled, change }) {
  /** @param {string} key */
  const toggled = (key) => {
    const next = new Set(off);
    if (!next.delete(key)) next.add(key);
    change(next);
  };
  /** @param {AttentionMap} map @param {number} layer @param {number} head */
  const headButton = (map, layer, head) => {
    const key = headKey(map.name, layer, head);
    const label = t("{map}, {layer}, head {head}: switched off", { map: map.kind, layer: map.layers[layer - 1], head });
    return button(String(head), () => toggled(key), { class: "panel-chip head-off", "aria-pressed": String(off.has(key)), "aria-label": label, title: label, disabled, "data-focus": `beam-off-${key}` });
  };
  /** @param {AttentionMap} map */
  const lines = (map) =>
    Array.from({ length: map.L }, (_, l) =>
      h("tr", null, h("th", { scope: "row" }, map.layers[l]), h("td", null, Array.from({ length: map.H }, (_, n) => headButton(map, l + 1, n + 1)))),
    );
  return h("div", { class: "heads-off" }, maps.map((map) => h("table", { "aria-label": map.kind }, h("thead", null, h("tr", null, h("th", { scope: "col", colspan: 2 }, map.kind))), h("tbody", null, lines(map)))));
}
