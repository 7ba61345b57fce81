// What a model predicts at each position, layer by layer, as a sheet. As regard/view/sheets/lens_sheet.py has it.

import { lensLayer, likeliest, MOST_COLUMNS, within } from "../panels/lens_panel.js";
import { numberText } from "../panels/row_numbers.js";
import { t } from "../words/messages.js";

/** @typedef {import("../record/record.js").AttentionRecord} AttentionRecord */
/** @typedef {import("./sheet_figure.js").Sheet} Sheet */
/** @typedef {import("./sheet_figure.js").Block} Block */

/** @param {import("../panels/panel_parts.js").PanelContext} context @param {string} name of the record @returns {Sheet} */
export function lensSheet({ record, state }, name) {
  const { lens } = record;
  if (!lens) throw new Error(t("this record has no predictions"));
  const side = record.sides[lens.side];
  const count = side.tokens.length;
  const first = Math.max(0, count - MOST_COLUMNS);
  const places = side.tokens.map((_, place) => place).slice(first);
  const line = within(state["lens-line"], lens.layers.length, lens.layers.length - 1);
  const query = Math.max(first, within(state.query ?? undefined, count, count - 1));
  const lines = lens.layers.map((layer, number) => [
    { text: lensLayer(layer) },
    ...places.map((place) => {
      const [{ token, chance }] = likeliest(lens, number, place);
      return { text: token, shade: chance };
    }),
  ]);
  const best = likeliest(lens, line, query).map(({ token, chance }) => [{ text: token }, { text: numberText(chance, 3), bar: chance }]);
  /** @type {Block[][]} */
  const said = first ? [[{ words: t("The last {n} of {count} positions.", { n: MOST_COLUMNS, count }) }]] : [];
  return {
    heading: name || record.model,
    small: [record.output, record.model, t("Predictions, layer by layer")],
    sections: [
      ...said,
      [{ table: { columns: ["", ...places.map((place) => side.labels[place])], lines, shades: t("probability") } }],
      [{ words: t("{layer}, at {token}", { layer: lensLayer(lens.layers[line]), token: side.labels[query] }), heading: true }],
      [{ table: { columns: [t("token"), t("probability")], lines: best } }],
    ],
    languages: ["", side.language],
  };
}
