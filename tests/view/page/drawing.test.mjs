import assert from "node:assert/strict";
import { test } from "node:test";
import { diverging, hexColour, inkOn, luminance, rampTable, sequential, strongest } from "../../../src/regard/view/page/drawing/colours.js";
import { stepInGrid } from "../../../src/regard/view/page/elements/grid_keys.js";
import { chooseLinks } from "../../../src/regard/view/page/drawing/link_lines.js";
import { cellSentence, readoutOf } from "../../../src/regard/view/page/stage/readout.js";
import { groupWith, restOf, shortWeight } from "../../../src/regard/view/page/drawing/view.js";

const GROUNDS = { light: [251, 251, 249], dark: [20, 22, 27] };
const shades = (table) => Array.from({ length: 256 }, (_, n) => luminance([...table.slice(3 * n, 3 * n + 3)]));

test("every ramp begins near the page's ground and only gets further from it", () => {
  for (const [theme, ground] of Object.entries(GROUNDS)) {
    for (const ramp of ["sequential", "negative", "positive"]) {
      const table = rampTable(theme, ramp);
      for (const axis of [0, 1, 2]) assert.ok(Math.abs(table[axis] - ground[axis]) < 16, `${theme} ${ramp}`);
      const steps = shades(table).map((shade) => (theme === "light" ? -shade : shade));
      for (let n = 1; n < 256; n++) assert.ok(steps[n] >= steps[n - 1] - 1e-4, `${theme} ${ramp} at ${n}`);
    }
  }
});

test("numbers can be read on every colour", () => {
  for (const theme of ["light", "dark"]) {
    for (let n = 0; n <= 100; n++) {
      for (const colour of [sequential(n / 100, theme), diverging(n / 50 - 1, theme)]) {
        const ink = inkOn(colour) === "#ffffff" ? 1 : luminance([0, 0, 0]);
        const [more, less] = [Math.max(ink, luminance(colour)), Math.min(ink, luminance(colour))];
        assert.ok((more + 0.05) / (less + 0.05) >= 4.5, `${theme} ${n}: ${hexColour(colour)}`);
      }
    }
  }
});

test("shares outside of 0 to 1, and no number at all, have the colours of the ends", () => {
  assert.deepEqual(sequential(7, "light"), sequential(1, "light"));
  assert.deepEqual(sequential(NaN, "light"), sequential(0, "light"));
});

const matrix = (rows, extra = {}) => ({
  data: Float32Array.from(rows.flat()),
  rows: rows.length,
  cols: rows[0].length,
  rowTokens: rows.map((_, n) => `q${n}`),
  colTokens: rows[0].map((_, n) => `k${n}`),
  missing: Float32Array.from(rows, (row) => 1 - row.reduce((a, b) => a + b)),
  hidden: new Float32Array(rows.length),
  ...extra,
});
const view = (rows, extra) => {
  const made = matrix(rows, extra);
  return { matrix: made, full: strongest(made, "matrix"), map: { rounding: 0.005 }, rest: restOf(made, 0.005), state: { units: "words" } };
};

test("the strongest colour stands for the most of all, or of each row, and never for 0", () => {
  const given = matrix([[0.5, 0.25], [0.125, -0.75], [0, 0]]);
  assert.deepEqual([...strongest(given, "matrix")], [0.75, 0.75, 0.75]);
  assert.deepEqual([...strongest(given, "row")], [0.5, 0.75, 1]);
  assert.deepEqual([...strongest(given, "one")], [1, 1, 1]);
});

test("links: all at rest, those of a row, those of a column; forbidden pairs have none", () => {
  const allowed = Uint8Array.from([1, 1, 0, 1]);
  const given = view([[0.6, 0.4], [0.5, 0.5]], { allowed });
  const pairs = (active) => chooseLinks(given, active).map(({ row, col }) => `${row}${col}`).sort();
  assert.deepEqual(pairs({ row: null, col: null }), ["00", "01", "11"]);
  assert.deepEqual(pairs({ row: 0, col: null }), ["00", "01"]);
  assert.deepEqual(pairs({ row: 0, col: 1 }), ["00", "01"]);
  assert.deepEqual(pairs({ row: null, col: 0 }), ["00"]);
});

test("of long sentences only the strongest links are drawn, the strongest last", () => {
  const rows = Array.from({ length: 60 }, (_, q) => Array.from({ length: 60 }, (_, k) => (q === k ? 1 - q / 200 : 0.01)));
  const links = chooseLinks(view(rows), { row: null, col: null });
  assert.equal(links.length, 40);
  assert.ok(links.every((link, n) => n === 0 || link.share >= links[n - 1].share));
  assert.deepEqual([links.at(-1).row, links.at(-1).col], [0, 0]);
});

test("what a row does not give to its columns is shown, rounding is not", () => {
  assert.equal(view([[0.5, 0.5], [0.501, 0.5]]).rest, null);
  const sunk = view([[0.2, 0.3], [0.5, 0.5]]).rest;
  assert.ok(Math.abs(sunk[0] - 0.5) < 1e-6 && sunk[1] === 0);
  assert.equal(restOf(matrix([[0.2, 0.3]], { missing: null }), 0.005), null);
});

test("the readout says the numbers, and never calls a forbidden pair 0", () => {
  const given = view([[0.42, 0.58]], { allowed: Uint8Array.from([1, 1]) });
  assert.equal(cellSentence(given, 0, 0), "‘q0’ attends 0.42 to ‘k0’");
  assert.match(readoutOf(given, { row: 0, col: 0 }).more, /number 2 of 2 in its row · entropy 0\.68 nats, about 2\.0 words’ worth/);
  assert.equal(readoutOf(given, { row: 0, col: null }).main, "‘q0’ attends 0.58 to ‘k1’, 0.42 to ‘k0’");
  const forbidden = view([[1, 0]], { allowed: Uint8Array.from([1, 0]) });
  assert.equal(cellSentence(forbidden, 0, 1), "‘q0’ may not attend to ‘k1’");
  assert.match(readoutOf(view([[0.2, 0.3]]), { row: 0, col: null }).more, /0\.50 on nothing: the row sums to 0\.50/);
});

test("weights in few characters", () => {
  assert.deepEqual([0.423, 1, 0.001, -0.3, 12.34, NaN].map(shortWeight), [".42", "1", "·", "-.30", "12", "–"]);
});

test("a pinned token is found in its word, or not at all", () => {
  assert.deepEqual([groupWith([[0, 1], [2]], 1), groupWith([[0, 1], [2]], 9), groupWith([[0]], null)], [0, null, null]);
});

test("arrow keys stay in the grid and follow the direction of the script", () => {
  const grid = { rows: 3, cols: 4 };
  const at = (key, row, col, more) => Object.values(stepInGrid(key, { row, col }, { ...grid, ...more }) ?? {});
  assert.deepEqual(at("ArrowRight", 1, 1), [1, 2]);
  assert.deepEqual(at("ArrowRight", 1, 1, { reversed: true }), [1, 0]);
  assert.deepEqual(at("ArrowUp", 0, 1), [0, 1]);
  assert.deepEqual(at("End", 1, 1), [1, 3]);
  assert.deepEqual(at("End", 1, 1, { whole: true }), [2, 3]);
  assert.deepEqual(at("PageDown", 0, 0), [2, 0]);
  assert.equal(stepInGrid("a", { row: 0, col: 0 }, grid), null);
});
