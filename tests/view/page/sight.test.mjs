import assert from "node:assert/strict";
import { test } from "node:test";

const page = new URL("../../../src/regard/view/page/", import.meta.url);
const { believed, readSight, resampled, shareIn, sourcePlace, stepIn, warpedLines, warpIn } = await import(new URL("record/sight.js", page));
const { warpInWords } = await import(new URL("sight/warp_view.js", page));
const { glimpseFrame, windowFrame, windowSide } = await import(new URL("drawing/sight_marks.js", page));

/** A warp whose places are a linear map of those of the result. */
function affine(rows, columns, map) {
  const grid = new Float32Array(2 * rows * columns);
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) grid.set(map((2 * j + 1) / columns - 1, (2 * i + 1) / rows - 1), 2 * (i * columns + j));
  }
  return { grid, rows, columns, name: "affine", image: { source: "", width: columns, height: rows } };
}

const near = (one, other) => one.forEach((x, n) => assert.ok(Math.abs(x - other[n]) < 1e-5, `${one} is not ${other}`));

test("a linear warp is linear between and beyond the places of its grid", () => {
  const map = (x, y) => [0.5 * x - 0.2 * y + 0.1, 0.3 * x + 0.7 * y - 0.4];
  const warp = affine(5, 7, map);
  for (const [u, v] of [[0, 0], [-1, -1], [1, 1], [0.37, -0.81]]) {
    near(sourcePlace(warp, u, v), map(u, v));
    near(sourcePlace(warp, u, v, 0), [u, v]);
    near(sourcePlace(warp, u, v, 0.5), [(u + map(u, v)[0]) / 2, (v + map(u, v)[1]) / 2]);
  }
  const lines = warpedLines(warp, 1, 3, 5);
  assert.deepEqual([lines.length, lines[0].length], [6, 5]);
  near(lines[0][0], map(-1, -1));
  near(lines[0][4], map(1, -1));
  near(lines[3][4], map(-1, 1));
});

test("a grid of one place reads there alone", () => {
  near(sourcePlace(affine(1, 1, () => [0.2, 0.3]), -1, 1), [0.2, 0.3]);
});

test("a picture that is not warped is itself; beyond its edge it is black", () => {
  const before = { width: 2, height: 1, data: Uint8ClampedArray.of(10, 20, 30, 255, 110, 120, 130, 255) };
  const away = affine(1, 2, (x) => [x + 2, 0]);
  assert.deepEqual([...resampled(before, away, 0, 2, 1)], [...before.data]);
  assert.deepEqual([...resampled(before, away, 1, 2, 1)], [0, 0, 0, 255, 0, 0, 0, 255]);
  assert.deepEqual([...resampled(before, away, 0.25, 2, 1)].slice(0, 3), [60, 70, 80]); // half way to the next pixel
});

test("what a link asks for is kept within what there is", () => {
  const sight = { kind: "glimpses", steps: [1, 2, 3] };
  const asked = [undefined, "1", 2, "99", "0", "-1", "x"].map((step) => stepIn(sight, { "sight-step": step }));
  assert.deepEqual(asked, [2, 0, 1, 2, 0, 2, 2]);
  assert.deepEqual([undefined, "40", "900", "x"].map((share) => shareIn({ "sight-share": share })), [1, 0.4, 1, 1]);
  assert.deepEqual([undefined, "2", "9"].map((warp) => warpIn({ warps: [1, 2] }, { "sight-warp": warp })), [0, 1, 1]);
});

test("of many labels the likeliest are shown, of few all in their order", () => {
  assert.deepEqual(believed(["a", "b"], [0.2, 0.8]), [{ label: "a", belief: 0.2, best: false }, { label: "b", belief: 0.8, best: true }]);
  const many = Array.from({ length: 20 }, (_, n) => n / 190);
  const shown = believed(many.map(String), many);
  assert.equal(shown.length, 8);
  assert.equal(shown[0].best, true);
  assert.equal(shown[7].belief, many[12]);
});

test("a picture from elsewhere is never shown", () => {
  const still = (source) => ({ source, width: 1, height: 1 });
  for (const source of ["https://example.org/a.png", "data:image/svg+xml;base64,AAAA", 'data:image/png;base64,A" onload="x']) {
    const sight = readSight({ kind: "glimpses", image: still(source), widths: [1], steps: [{ x: 0, y: 0, seen: [still(source)] }] });
    assert.equal(sight.image.source, "data:image/png;base64,");
    assert.equal(sight.steps[0].seen[0].source, "data:image/png;base64,");
  }
  assert.equal(readSight(null), null);
  assert.equal(readSight({ kind: "film" }), null);
});

test("a frame holds the squares, up to a bound", () => {
  const image = { source: "", width: 60, height: 60 };
  const frame = (x, y, wide) => glimpseFrame({ image, widths: [12, wide], steps: [{ x, y }] });
  assert.deepEqual([frame(-0.6, -0.5, 48).left, frame(-0.6, -0.5, 48).width], [-12, 84]);
  assert.deepEqual([frame(0, 0, 20).left + 0, frame(0, 0, 20).width], [0, 60]);
  assert.equal(frame(-1, -1, 480).left, -18);
});

test("a frame holds the windows, up to a bound", () => {
  const image = { source: "", width: 28, height: 28 };
  const frame = (x, spacing) => windowFrame(image, [null, { x, y: 14.5, spacing, blur: 1, count: 5 }]);
  assert.deepEqual([frame(14.5, 6).left + 0, frame(14.5, 6).width], [0, 28]);
  assert.deepEqual([frame(20.5, 6).left, frame(20.5, 6).width], [-4.5, 37]); // from 8 to 32, and half of the blur
  assert.equal(frame(14.5, 60).left, -0.3 * 28);
});

test("windows and warps are told in words", () => {
  assert.equal(windowSide({ spacing: 2, blur: 1, count: 5 }), 8);
  assert.equal(windowSide({ spacing: 2, blur: 1.5, count: 1 }), 3);
  const quarter = affine(9, 9, (x, y) => [-0.5 * y + 0.5, 0.5 * x]);
  assert.match(warpInWords(quarter, 1), /on the right of the picture.* 50 % .* 90°/);
  assert.match(warpInWords(quarter, 0), /in the middle of the picture.* 100 % .* 0°/);
});
