// What is shown and how: map, layer, head, words or tokens, special tokens, colours, direction.

import { chooser, segmented, toggle } from "../elements/controls.js";
import { fill, h } from "../elements/dom.js";

const MAP_NAMES = { cross: "cross", encoder: "encoder", decoder: "decoder" };

/**
 * @param {HTMLElement} element
 * @param {(patch: object) => void} set
 */
export function mountToolbar(element, set) {
  const placed = (value) => (value === "mean" || value === "max" ? value : Number(value));
  const controls = {
    record: chooser("record", (value) => set({ record: Number(value), query: null, key: null })),
    map: segmented("attention", (map) => set({ map, query: null, key: null })),
    layer: chooser("layer", (value) => set({ layer: placed(value) })),
    head: chooser("head", (value) => set({ head: placed(value) })),
    units: segmented("unit", (units) => set({ units })),
    scale: segmented("colour by", (scale) => set({ scale })),
    specials: toggle("special tokens", (specials) => set({ specials })),
    reverse: toggle("right to left", (on) => set({ reverse: on ? "on" : "off" })),
  };
  fill(
    element,
    h(
      "div",
      { class: "toolbar", role: "group", "aria-label": "what is shown" },
      Object.values(controls).map((control) => control.element),
    ),
  );

  function update(view, records) {
    const { map, state, record } = view;
    const has = {
      record: records.length > 1,
      map: record.maps.length > 1,
      layer: map.L > 1,
      head: map.H > 1,
      specials: [...map.queries.special, ...map.keys.special].some(Boolean),
      reverse: map.keys.rightToLeft || state.reverse !== "auto",
      units: true,
      scale: true,
    };
    for (const [name, control] of Object.entries(controls)) control.element.hidden = !has[name];
    controls.record.update(
      records.map((each, n) => [String(n), recordName(each, n, records)]),
      records.indexOf(record),
    );
    controls.map.update(record.maps.map((each) => [each.name, MAP_NAMES[each.name] ?? each.name]), map.name);
    controls.layer.update(
      [["mean", "mean of all"], ["max", "max of all"], ...map.layers.map((name, n) => [String(n), name])],
      state.layer,
    );
    controls.head.update([["mean", "mean of all"], ["max", "max of all"], ...numbered(map.H)], state.head);
    controls.units.update([["words", "words"], ["tokens", "tokens"]], state.units);
    controls.scale.update([["matrix", "whole"], ["row", "row"]], state.scale);
    controls.specials.update(state.specials);
    controls.reverse.update(view.reversed);
  }
  return { update };
}

const numbered = (count) => Array.from({ length: count }, (_, n) => [String(n), `head ${n + 1}`]);

/** What tells records apart: their models, or else their titles. */
export function recordName(record, number, records) {
  const models = new Set(records.map((each) => each.model));
  const both = [record.model, record.title].filter(Boolean).join(": ");
  const name = models.size === records.length ? record.model : both;
  return `${number + 1} · ${name || "record"}`.slice(0, 60);
}
