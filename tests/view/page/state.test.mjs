import assert from "node:assert/strict";
import { test } from "node:test";
import { cleanState, createStore, INITIAL_STATE, isStep, stateFromHash, stateToHash } from "../../../src/regard/view/page/host/view_state.js";

test("a state comes back from its link", () => {
  const states = [
    {},
    { map: "cross", layer: 2, head: "max", query: 3, key: 0, theme: "dark", specials: false },
    { map: "a&b=c#d", panel: "steps", units: "tokens", scale: "row", reverse: "on", order: "entropy", record: 1 },
    { text: "我是一个学生。 100% & <b>", model: "zh-en" },
    { text: "a", prefix: "b", force: '{"keys":[1,2],"step":3}', off: '[{"layer":1,"map":"cross"}]', explain: true, also: '[{"prefix":"b"}]', walk: 1 },
  ];
  for (const state of states) {
    const whole = { ...INITIAL_STATE, ...state };
    assert.deepEqual({ ...INITIAL_STATE, ...stateFromHash(stateToHash(whole)) }, whole);
  }
  assert.equal(stateToHash(INITIAL_STATE), "#");
});

test("a link says what differs from the state that the page began with, also where that is nothing", () => {
  const beginning = { ...INITIAL_STATE, head: 2, query: 3 };
  const now = { ...beginning, head: "mean", query: null };
  assert.deepEqual({ ...beginning, ...stateFromHash(stateToHash(now, beginning)) }, now);
  assert.equal(stateToHash(beginning, beginning), "#");
});

test("garbage in a link is left out and the rest is read", () => {
  const read = stateFromHash("#layer=-1&head=1e9&units=paragraphs&query=NaN&theme=dark&%E0%A4%A=1&__proto__=x&constructor=y&specials=maybe&=&&map");
  assert.deepEqual(read, { theme: "dark", map: "" });
});

test("only what is part of a state is taken from an object", () => {
  assert.deepEqual(cleanState({ layer: "0", head: 1.5, evil: 1, query: null, map: 7, text: "x".repeat(60_000) }), { layer: 0, query: null });
  for (const nothing of [null, undefined, 3, "text"]) assert.deepEqual(cleanState(nothing), {});
});

test("listeners hear of changes, with what was before, and of nothing else", () => {
  const store = createStore({ a: 1, b: 2 });
  const heard = [];
  const leave = store.subscribe((now, before) => heard.push([now.a, before.a]));
  store.set({ a: 1 });
  store.set({ a: 5 });
  leave();
  store.set({ a: 6 });
  assert.deepEqual(heard, [[5, 1]]);
  assert.deepEqual(store.get(), { a: 6, b: 2 });
});

test("what a panel keeps for itself is in the link, and nothing else that is unknown", () => {
  const kept = { step: 3, "beam-node": "17", "compare-layer": "mean", "picture-look": "cells" };
  const read = stateFromHash(stateToHash({ ...INITIAL_STATE, ...kept, "evil-thing": "x", "beam-": "x" }));
  assert.deepEqual(read, { ...kept, step: "3" });
  assert.deepEqual(cleanState({ "beam-node": undefined, "compare-map": null, step: {} }), {});
});

test("layers and heads are counted from 1 in a link, tokens and records from 0", () => {
  const hash = stateToHash({ ...INITIAL_STATE, layer: 0, head: 2, "compare-layer": "1", "compare-head": "mean", query: 0, record: 1 });
  assert.equal(hash, "#record=1&layer=1&head=3&query=0&compare-layer=2&compare-head=mean");
  assert.deepEqual(stateFromHash(hash), { record: 1, layer: 0, head: 2, query: 0, "compare-layer": "1", "compare-head": "mean" });
  assert.deepEqual(stateFromHash("#layer=0"), {}); // there is no such layer
});

test("what a link forces is checked before it is asked", () => {
  for (const wrong of ["{", "{}", "[]", '{"step":-1,"keys":[0]}', '{"step":1,"keys":["a"]}', "3"]) assert.deepEqual(stateFromHash(`#force=${wrong}`), {});
  for (const wrong of ["{}", '[{"layer":1}]', '[{"map":"cross","layer":"1"}]', "[3]"]) assert.deepEqual(stateFromHash(`#off=${wrong}`), {});
  for (const wrong of ["{}", "[3]", "[null]", "x"]) assert.deepEqual(stateFromHash(`#also=${wrong}`), {});
});

test("Back goes over words that were pinned and steps that were walked, and leads away from everything else", () => {
  const now = { ...INITIAL_STATE, text: "a" };
  for (const passing of [{ query: 3 }, { key: 1 }, { step: "2" }, { "beam-node": "4" }, { "sight-step": "1" }, { theme: "dark" }]) assert.equal(isStep({ ...now, ...passing }, now), false);
  for (const step of [{ layer: 1 }, { record: 1 }, { text: "b" }, { panel: "beam" }, { prefix: "x" }]) assert.equal(isStep({ ...now, ...step }, now), true);
});
