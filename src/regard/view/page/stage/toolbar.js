// What is shown and how: map, layer, head, words or tokens, special tokens, colours, direction.

import { chooser, placeOptions, segmented, summaryOptions, toggle } from "../elements/controls.js";
import { fill, h } from "../elements/dom.js";
import { shortened } from "../elements/shortened_text.js";
import { hasParts, headNames } from "../record/record.js";
import { t } from "../words/messages.js";

/** @typedef {import("../drawing/view.js").View} View */
/** @typedef {import("../record/record.js").AttentionRecord} AttentionRecord */

/**
 * @param {HTMLElement} element
 * @param {(patch: object) => void} set
 */
export function mountToolbar(element, set) {
  /** @param {string} value */
  const placed = (value) => (value === "mean" || value === "max" ? value : Number(value));
  const controls = {
    record: chooser(t("record"), (value) => set({ record: Number(value), query: null, key: null })),
    map: segmented(t("attention"), (map) => set({ map, query: null, key: null })),
    layer: chooser(t("layer"), (value) => set({ layer: placed(value), heads: "" })),
    head: chooser(t("head"), (value) => set({ head: placed(value), heads: "" })),
    between: segmented(t("texts"), (between) => set({ between, query: null, key: null })),
    units: segmented(t("unit"), (units) => set({ units })),
    scale: segmented(t("colour scale"), (scale) => set({ scale })),
    specials: toggle(t("special tokens"), (specials) => set({ specials })),
    reverse: toggle(t("right to left"), (on) => set({ reverse: on ? "on" : "off" })),
  };
  fill(
    element,
    h(
      "div",
      { class: "toolbar", role: "group", "aria-label": t("what is shown") },
      Object.values(controls).map((control) => control.element),
    ),
  );

  /** @param {View} view @param {AttentionRecord[]} records */
  function update(view, records) {
    const { map, state, record, levels, sight } = view;
    const matrix = !levels && !sight;
    /** @type {Record<string, boolean>} */
    const has = {
      record: records.length > 1,
      map: record.maps.length + Number(record.levels !== null || record.sight !== null) > 1,
      layer: matrix && map.L > 1,
      head: matrix && map.H > 1,
      specials: matrix && [...map.queries.special, ...map.keys.special].some(Boolean),
      reverse: matrix && (map.keys.rightToLeft || state.reverse !== "auto"),
      between: matrix && hasParts(map),
      units: !sight,
      scale: !sight,
    };
    for (const [name, control] of Object.entries(controls)) control.element.hidden = !has[name];
    element.hidden = !Object.values(has).some(Boolean);
    controls.record.update(
      placeOptions(records.map((each, n) => recordName(each, n, records))),
      records.indexOf(record),
    );
    /** @type {import("../elements/controls.js").Option[]} */
    const maps = record.maps.map((each) => [each.name, mapName(each.name)]);
    if (record.levels) maps.unshift(["", t("both levels")]);
    if (record.sight) maps.unshift(["", t("picture")]);
    controls.map.update(maps, matrix ? map.name : "");
    /** @type {import("../elements/controls.js").Option[]} */
    const several = view.heads.length ? [["several", t("several in colours")]] : [];
    const chosen = several.length ? { layer: "several", head: "several" } : state;
    controls.layer.update([...several, ...summaryOptions(), ...placeOptions(map.layers)], chosen.layer);
    controls.head.update([...several, ...summaryOptions(), ...placeOptions(headNames(map.H))], chosen.head);
    controls.between.update([["all", t("all")], ["AA", t("A → A")], ["AB", t("A → B")], ["BA", t("B → A")], ["BB", t("B → B")]], state.between);
    controls.units.update([["words", t("words")], ["tokens", t("tokens")]], state.units);
    /** @type {import("../elements/controls.js").Option[]} */
    const scales = levels ? [["matrix", t("whole document")], ["row", t("each sentence")]] : [["matrix", t("whole map")], ["row", t("each row")]];
    controls.scale.update(matrix && !view.signed ? [...scales, ["one", t("0 to 1")]] : scales, state.scale);
    controls.specials.update(state.specials);
    controls.reverse.update(view.reversed);
  }
  return { update };
}

/** @param {string} name */
function mapName(name) {
  /** @type {Record<string, string>} */
  const names = { cross: t("cross"), encoder: t("encoder"), decoder: t("decoder"), attention: t("attention"), image: t("image"), label: t("label"), similarity: t("similarity: text"), "similarity image": t("similarity: picture") };
  return names[name] ?? name;
}

/**
 * What tells records apart: what was changed, their models, and their titles where they are not all of one.
 * @param {{model: string, title: string, changes: string[]}} record @param {number} number @param {{model: string, title: string}[]} records
 */
export function recordName(record, number, records) {
  const [models, titles] = [new Set(records.map((each) => each.model)), new Set(records.map((each) => each.title))];
  const model = models.size > 1 ? record.model : "";
  const title = titles.size > 1 || !model ? record.title : "";
  const name = [model, shortened(title, 36)].filter(Boolean).join(": ") || record.model || t("record");
  return [String(number + 1), shortened(record.changes.join(" · "), 48), name].filter(Boolean).join(" · ");
}
