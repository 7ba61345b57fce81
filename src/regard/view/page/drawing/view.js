// What is on the screen: the matrix that the state asks for, with all that its drawings share.

import { chosenHeads, strongestOfHeads } from "./chosen_heads.js";
import { diverging, effectiveTheme, sequential, strongest } from "./colours.js";
import { t } from "../words/messages.js";

/** @typedef {import("../record/record.js").AttentionRecord} AttentionRecord */
/** @typedef {import("../record/record.js").Matrix} Matrix */
/** @typedef {import("../record/record.js").Chosen} Chosen */
/** @typedef {import("../host/view_state.js").State} State */

/** @typedef {import("./colours.js").Theme} Theme */
/** @typedef {import("./colours.js").Rgb} Rgb */

/**
 * What the painters of cells need.
 * @typedef {object} Painted
 * @property {{data: ArrayLike<number>, rows: number, cols: number, allowed?: Uint8Array}} matrix
 * @property {boolean} signed
 * @property {Theme} theme
 * @property {Float32Array} full
 * @property {boolean} reversed
 * @property {import("./chosen_heads.js").ChosenHead[]} [heads] several at once, each in its colour
 */

/**
 * @typedef {object} View
 * @property {import("../record/record.js").AttentionRecord} record
 * @property {import("../record/record.js").AttentionMap} map
 * @property {import("../record/record.js").Matrix} matrix
 * @property {import("../host/view_state.js").ViewState} state with the map, layer and head that there are
 * @property {"light"|"dark"} theme
 * @property {Float32Array} full for each row what the strongest colour stands for
 * @property {boolean} signed whether there are negative weights
 * @property {boolean} reversed keys run from right to left
 * @property {import("./chosen_heads.js").ChosenHead[]} heads several at once, each in its colour; empty: the one matrix
 * @property {Float32Array|null} rest for each row what is not on the screen; null where all is
 * @property {{row: number|null, col: number|null}} pinned
 * @property {import("../record/levels.js").Levels|null} levels shown in the place of the matrix, until a map is chosen
 * @property {import("../record/sight.js").Sight|null} sight likewise
 */

/** What stands in the place of a matrix is called so; "" where there is a matrix. @param {Pick<View, "levels"|"sight">} view */
export function placeholderName({ levels, sight }) {
  if (levels) return t("words and sentences");
  const names = { glimpses: t("the path of the glimpses"), canvases: t("a picture, step by step"), warp: t("a picture before and after a warp") };
  return sight ? names[sight.kind] : "";
}

/** What is drawn, and how it was put together. @param {Pick<View, "heads"|"map"|"matrix">} view */
export function viewTitle({ heads, map, matrix }) {
  if (!heads.length) return matrix.title;
  return [map.kind, t("heads {heads}, each in its colour", { heads: heads.map(({ short }) => short).join(", ") })].join(" · ");
}

/** @param {AttentionRecord} record @param {State} asked @returns {View} */
export function viewOf(record, asked) {
  const map = record.map(asked.map);
  const chosen = record.maps.some((each) => each.name === asked.map);
  const state = {
    ...asked,
    map: map.name,
    layer: placeWithin(asked.layer === "auto" ? map.shown[0] : asked.layer, map.L),
    head: placeWithin(asked.head === "auto" ? map.shown[1] : asked.head, map.H),
  };
  const matrix = record.matrix(
    map.name,
    { layer: state.layer, head: state.head, units: state.units, specials: state.specials, between: state.between },
  );
  const theme = effectiveTheme(state.theme);
  const heads = chosenHeads(record, map, state, theme);
  return {
    record,
    map,
    matrix,
    state,
    theme,
    heads,
    full: heads.length ? strongestOfHeads(heads, state.scale) : strongest(matrix, state.scale),
    signed: matrix.data.some((weight) => weight < 0),
    reversed: state.reverse === "on" || (state.reverse === "auto" && map.keys.rightToLeft),
    rest: heads.length || map.normalizer === "raw" ? null : restOf(matrix, map.rounding), // raw weights are no shares
    pinned: { row: groupWith(matrix.rowMembers, state.query), col: groupWith(matrix.colMembers, state.key) },
    levels: chosen ? null : record.levels,
    sight: chosen ? null : record.sight,
  };
}

/**
 * A link may ask for layer 12 of a record that has 6: the last is shown.
 * @param {Chosen} place @param {number} count
 */
const placeWithin = (place, count) => (typeof place === "number" ? Math.min(place, count - 1) : place);

/** The number of the group that has a token, or null. @param {number[][]} members @param {number|null} token */
export function groupWith(members, token) {
  if (token === null) return null;
  const found = members.findIndex((group) => group.includes(token));
  return found < 0 ? null : found;
}

/**
 * What each row gives to nothing (a sink) and to columns that are hidden; null where no row has any.
 * @param {Matrix} matrix @param {number} rounding
 */
export function restOf(matrix, rounding) {
  if (matrix.missing === null) return null;
  const rest = matrix.missing.map((missing, row) =>
    (Math.abs(missing) > rounding ? missing : 0) + matrix.hidden[row],
  );
  return rest.some((share) => Math.abs(share) > rounding) ? rest : null;
}

/** @param {Painted} view @param {number} row @param {number} col */
export function weightAt(view, row, col) {
  return view.matrix.data[row * view.matrix.cols + col];
}

/** @param {Painted} view @param {number} row @param {number} col */
export function isAllowed(view, row, col) {
  return view.matrix.allowed === undefined || view.matrix.allowed[row * view.matrix.cols + col] === 1;
}

/** The colour of a weight of a row. @param {Painted} view @param {number} row @param {number} weight */
export function colourOf(view, row, weight) {
  const share = weight / view.full[row];
  return view.signed ? diverging(share, view.theme) : sequential(share, view.theme);
}

/** A weight in at most four characters: “.42”, “1”, “·” for next to nothing. @param {number} weight */
export function shortWeight(weight) {
  if (!Number.isFinite(weight)) return "–";
  if (Math.abs(weight) < 0.005) return "·";
  if (Math.abs(weight) >= 9.95) return weight.toFixed(0);
  return weight.toFixed(2).replace(/^(-?)0\./, "$1.").replace(/^1\.00$/, "1");
}

/** What the strongest colour stands for: a number also where it is next to nothing, “0.004”. @param {number} weight */
export function scaleNumber(weight) {
  return weight !== 0 && Math.abs(weight) < 0.005 ? weight.toPrecision(1) : shortWeight(weight);
}
