// Several heads at once, each in a colour of its own: which they are, and how strong each is at a pair of words.

import { headColour, MOST_HEADS, strongest } from "./colours.js";
import { t } from "../words/messages.js";

/** @typedef {import("../record/record.js").AttentionMap} AttentionMap */
/** @typedef {import("../record/record.js").AttentionRecord} AttentionRecord */
/** @typedef {import("../record/record.js").Matrix} Matrix */
/** @typedef {import("../host/view_state.js").State} State */
/** @typedef {import("./colours.js").Rgb} Rgb */
/** @typedef {import("./colours.js").Theme} Theme */

/**
 * @typedef {object} ChosenHead
 * @property {number} layer from 0
 * @property {number} head from 0
 * @property {string} short "1.2", as the overview of all heads calls it
 * @property {string} name
 * @property {Rgb} colour
 * @property {Matrix} matrix
 */

/** Layers and heads from 1, as they are shown: "1.2,3.1". @param {any} value @returns {string|undefined} undefined: garbage */
export function readHeads(value) {
  const isList = typeof value === "string" && /^(\d{1,4}\.\d{1,4}(,\d{1,4}\.\d{1,4})*)?$/.test(value);
  return isList ? [...new Set(value.split(","))].slice(0, MOST_HEADS).join(",") : undefined;
}

/** The places layer × H + head of those that the map has. @param {string} heads @param {Pick<AttentionMap, "L"|"H">} map */
export function placesOfHeads(heads, { L, H }) {
  const pairs = heads.split(",").filter(Boolean).map((each) => each.split(".").map((part) => Number(part) - 1));
  return pairs.filter(([layer, head]) => layer >= 0 && layer < L && head >= 0 && head < H).map(([layer, head]) => layer * H + head);
}

/** The same as a part of the state. @param {number[]} places @param {Pick<AttentionMap, "H">} map */
export function headsAt(places, { H }) {
  return places.slice(0, MOST_HEADS).map((place) => `${Math.floor(place / H) + 1}.${(place % H) + 1}`).join(",");
}

/** What is chosen when several are wished for: the one that is looked at, or those of its layer. @param {AttentionMap} map @param {State} state */
export function firstHeads(map, { layer, head }) {
  const row = typeof layer === "number" ? layer : 0;
  const all = Array.from({ length: map.H }, (_, n) => row * map.H + n);
  if (map.H === 1) return headsAt(Array.from({ length: map.L }, (_, n) => n), map);
  return headsAt(typeof head === "number" && typeof layer === "number" ? [row * map.H + head] : all, map);
}

/** @param {AttentionRecord} record @param {AttentionMap} map @param {State} state @param {Theme} theme @returns {ChosenHead[]} */
export function chosenHeads(record, map, state, theme) {
  if (!state.heads || map.L * map.H === 1) return [];
  return placesOfHeads(state.heads, map).map((place, n) => {
    const [layer, head] = [Math.floor(place / map.H), place % map.H];
    return {
      layer,
      head,
      short: `${layer + 1}.${head + 1}`,
      name: t("{layer}, head {head}", { layer: map.layers[layer], head: head + 1 }),
      colour: headColour(n, theme),
      matrix: record.matrix(map.name, { layer, head, units: state.units, specials: state.specials }),
    };
  });
}

/** What the strongest colour of each row stands for, in all heads alike. @param {ChosenHead[]} heads @param {State["scale"]} scale */
export function strongestOfHeads(heads, scale) {
  const rows = strongest(heads[0].matrix, "row").map((_, row) => Math.max(...heads.map(({ matrix }) => strongest(matrix, "row")[row])));
  const most = rows.reduce((a, b) => Math.max(a, b), 0) || 1;
  return rows.map((own) => (scale === "one" ? 1 : scale === "row" ? own : most) || 1);
}

/** What each head gives, of the strongest. @param {{heads: ChosenHead[], full: Float32Array}} view @param {number} row @param {number} col */
export function sharesAt({ heads, full }, row, col) {
  return heads.map(({ matrix }) => Math.min(Math.abs(matrix.data[row * matrix.cols + col]) / full[row], 1));
}
