import assert from "node:assert/strict";
import test from "node:test";

import palettes from "../../../src/regard/view/palettes.json" with { type: "json" };
import { chosenHeads, firstHeads, headsAt, placesOfHeads, readHeads, sharesAt, strongestOfHeads } from "../../../src/regard/view/page/drawing/chosen_heads.js";
import { headColour, luminance, mixedColour, MOST_HEADS, sequential } from "../../../src/regard/view/page/drawing/colours.js";
import { chooseLinks } from "../../../src/regard/view/page/drawing/link_lines.js";
import { stripesOf } from "../../../src/regard/view/page/drawing/painted_cells.js";
import { cellSentence, readoutOf } from "../../../src/regard/view/page/stage/readout.js";
import { stateFromHash, stateToHash, INITIAL_STATE } from "../../../src/regard/view/page/host/view_state.js";

// what people without one kind of cones see: Machado, Oliveira and Fernandes 2009, severity 1, of linear RGB
const BLINDNESS = {
  protan: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deutan: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritan: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};
const GROUNDS = { light: [251, 251, 249], dark: [20, 22, 27] };

const linear = (rgb) => rgb.map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
const seenBy = (matrix) => (rgb) => matrix.map((row) => Math.max(row.reduce((sum, x, n) => sum + x * linear(rgb)[n], 0), 0));
const product = (matrix, vector) => matrix.map((row) => row.reduce((sum, x, n) => sum + x * vector[n], 0));
const oklab = (light) =>
  product(
    [[0.2104542553, 0.793617785, -0.0040720468], [1.9779984951, -2.428592205, 0.4505937099], [0.0259040371, 0.7827717662, -0.808675766]],
    product([[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566], [0.0883024619, 0.2817188376, 0.6299787005]], light).map(Math.cbrt),
  );
const apart = (a, b) => Math.hypot(...a.map((x, n) => x - b[n]));
const contrast = (a, b) => (Math.max(luminance(a), luminance(b)) + 0.05) / (Math.min(luminance(a), luminance(b)) + 0.05);

for (const theme of ["light", "dark"]) {
  const colours = Array.from({ length: MOST_HEADS }, (_, n) => headColour(n, theme));

  test(`${theme}: heads stand out from the page, and from each other for everybody`, () => {
    assert.equal(palettes.heads.dark.length, MOST_HEADS);
    for (const colour of colours) assert.ok(contrast(colour, GROUNDS[theme]) >= 3, `${colour} on its ground`);
    for (const [who, see] of [["all", linear], ...Object.entries(BLINDNESS).map(([who, matrix]) => [who, seenBy(matrix)])]) {
      colours.forEach((one, n) =>
        colours.slice(0, n).forEach((other) => assert.ok(apart(oklab(see(one)), oklab(see(other))) > 0.14, `${one} and ${other} for ${who}`)),
      );
    }
  });

  test(`${theme}: no weight is the ground of the weights, all of it the colour`, () => {
    assert.deepEqual(mixedColour(colours[0], 0, theme), sequential(0, theme));
    assert.deepEqual(mixedColour(colours[0], 1, theme), colours[0]);
  });
}

const map = { name: "cross", L: 2, H: 3, layers: ["layer 1", "layer 2"], kind: "cross-attention" };

test("heads are named from 1, once each, and no more than there are colours", () => {
  assert.equal(readHeads("1.1,2.3,1.1"), "1.1,2.3");
  assert.equal(readHeads(""), "");
  assert.equal(readHeads("1.1,1.2,1.3,1.4,1.5,1.6,1.7").split(",").length, MOST_HEADS);
  for (const garbage of ["1", "a.b", "1.1;2.2", 3, null]) assert.equal(readHeads(garbage), undefined);
  assert.deepEqual(placesOfHeads("1.1,2.3,3.1,1.4,0.1", map), [0, 5], "what the map does not have is left out");
  assert.equal(headsAt([0, 5], map), "1.1,2.3");
});

test("an address holds them", () => {
  const hash = stateToHash({ ...INITIAL_STATE, heads: "1.1,2.3" });
  assert.equal(hash, "#heads=1.1%2C2.3");
  assert.equal(stateFromHash(hash).heads, "1.1,2.3");
  assert.equal(stateFromHash("#heads=x").heads, undefined);
});

test("it begins with the head that is looked at, or with those of its layer", () => {
  assert.equal(firstHeads(map, { layer: 1, head: 2 }), "2.3");
  assert.equal(firstHeads(map, { layer: 1, head: "mean" }), "2.1,2.2,2.3");
  assert.equal(firstHeads(map, { layer: "mean", head: "mean" }), "1.1,1.2,1.3");
  assert.equal(firstHeads({ ...map, H: 1 }, { layer: "mean", head: "mean" }), "1.1,2.1");
});

const WEIGHTS = [[0.8, 0.2, 0.5, 0.5], [0.1, 0.9, 0.4, 0.6]]; // two heads of 2 × 2
const tokens = { rowTokens: ["I", "am"], colTokens: ["我", "是"], rows: 2, cols: 2 };
const record = { matrix: (_, { head }) => ({ ...tokens, data: Float32Array.from(WEIGHTS[head]) }) };
const state = { heads: "1.1,1.2", units: "words", specials: true, scale: "matrix" };

function viewOfHeads(scale = "matrix") {
  const heads = chosenHeads(record, { ...map, L: 1, H: 2 }, { ...state, scale }, "light");
  return { heads, full: strongestOfHeads(heads, scale), matrix: record.matrix("", { head: 0 }), theme: "light", signed: false, reversed: false, state };
}

test("one scale for all heads: of the whole, of each row, or 1", () => {
  const near = (found, wanted) => found.forEach((x, n) => assert.ok(Math.abs(x - wanted[n]) < 1e-6));
  near(viewOfHeads().full, [0.9, 0.9]);
  near(viewOfHeads("row").full, [0.9, 0.6]);
  near(viewOfHeads("one").full, [1, 1]);
  near(sharesAt(viewOfHeads(), 0, 1), [0.2 / 0.9, 1]);
});

test("a cell has a stripe for each head; where there is no room, the strongest head has it", () => {
  const stripes = stripesOf(viewOfHeads(), 0, 1, 20);
  assert.deepEqual(stripes.map(({ x, width }) => [x, width]), [[0, 10], [10, 10]]);
  assert.deepEqual(stripes[1].colour, headColour(1, "light"));
  assert.deepEqual(stripesOf(viewOfHeads(), 0, 1, 3), [{ x: 0, width: 3, colour: headColour(1, "light") }]);
});

test("links have the colours of their heads", () => {
  const links = chooseLinks(viewOfHeads(), { row: 0, col: null });
  assert.equal(links.length, 4);
  assert.equal(new Set(links.map((link) => link.colour)).size, 2);
  const last = links.at(-1);
  assert.deepEqual([last.row, last.col, last.colour], [0, 1, `rgb(${headColour(1, "light").join(" ")})`]);
});

test("what is read out names each head", () => {
  assert.equal(cellSentence(viewOfHeads(), 0, 1), "‘I’ attends to ‘是’: head 1.1 0.20, head 1.2 0.90");
  assert.equal(readoutOf(viewOfHeads(), { row: 0, col: null }).main, "‘I’ attends most: head 1.1 0.80 to ‘我’, head 1.2 0.90 to ‘是’");
  assert.equal(readoutOf(viewOfHeads(), { row: null, col: 0 }).main, "‘我’ gets most: head 1.1 0.80 from ‘I’, head 1.2 0.40 from ‘am’");
});
