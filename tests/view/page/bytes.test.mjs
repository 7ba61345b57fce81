import assert from "node:assert/strict";
import { test } from "node:test";
import { halfToNumber, unpack } from "../../../src/regard/view/page/record/packed_arrays.js";

const packed = (type, shape, bytes) => ({ type, shape, data: Buffer.from(bytes).toString("base64") });

test("float32 is read as it was written", () => {
  const numbers = Float32Array.from([0, 1, -2.5, 1e-20, Infinity, 3.1415927]);
  const read = unpack(packed("float32", [2, 3], new Uint8Array(numbers.buffer)));
  assert.deepEqual([...read], [...numbers]);
});

test("float16 has the values of IEEE 754", () => {
  const known = { 0x0000: 0, 0x3c00: 1, 0xc000: -2, 0x3555: 0.333251953125, 0x0001: 2 ** -24, 0x7bff: 65504, 0x7c00: Infinity };
  for (const [half, number] of Object.entries(known)) assert.equal(halfToNumber(Number(half)), number);
  assert.ok(Number.isNaN(halfToNumber(0x7e00)));
  const read = unpack(packed("float16", [2], [0x00, 0x3c, 0x55, 0x35]));
  assert.deepEqual([...read], [1, Math.fround(0.333251953125)]);
});

test("sqrt8 squares the share of 255", () => {
  const read = unpack(packed("sqrt8", [3], [0, 255, 128]));
  assert.equal(read[0], 0);
  assert.equal(read[1], 1);
  assert.ok(Math.abs(read[2] - (128 / 255) ** 2) < 1e-7);
});

test("the first of the bits is the highest, and those that fill the last byte are left", () => {
  assert.deepEqual([...unpack(packed("bits", [10], [0b10110000, 0b01000000]))], [1, 0, 1, 1, 0, 0, 0, 0, 0, 1]);
});

test("an unknown type and a wrong size are told", () => {
  assert.throws(() => unpack(packed("float64", [1], new Uint8Array(8))), /float64.*float32/);
  assert.throws(() => unpack(packed("float32", [3], new Uint8Array(8))), /3 needs 3 numbers, there are 2/);
});
