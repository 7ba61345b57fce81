import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { caption, captions, speak, t } from "../../../src/regard/view/page/words/messages.js";
import { roughTime } from "../../../src/regard/view/page/words/rough_time.js";
import times from "./rough_times.json" with { type: "json" };

afterEach(() => speak(null));

test("English is what is written", () => {
  assert.equal(t("Export"), "Export");
  assert.equal(t("{n} of {count}", { n: 0, count: "three" }), "0 of three");
  assert.equal(t("{n} of {count}", { n: 2 }), "2 of {count}");
  assert.deepEqual([0, 1, 2].map((n) => t.plural(n, "one token", "{n} tokens")), ["0 tokens", "one token", "2 tokens"]);
});

test("a value is not looked into, and may be an element", () => {
  assert.equal(t("{a} and {b}", { a: "{b}", b: "{a}" }), "{b} and {a}");
  const element = {};
  assert.equal(t.parts("so {word} goes", { word: element })[1], element);
});

test("a translation is taken where there is one", () => {
  speak({ Export: "导出", "{n} tokens": "{n} 个词元", empty: "", "{n} links": { one: "一个链接", other: "{n} 个链接" } });
  assert.equal(t("Export"), "导出");
  assert.equal(t("Table"), "Table");
  assert.equal(t("empty"), "empty");
  assert.equal(t.plural(1, "one token", "{n} tokens"), "1 个词元");
  assert.deepEqual([1, 5].map((n) => t.plural(n, "one link", "{n} links")), ["一个链接", "5 个链接"]);
});

test("captions are translated like messages", () => {
  assert.equal(caption(captions.mean.head, { n: 4 }), "mean over 4 heads");
  speak({ "mean over {n} heads": "{n} 个头的平均" });
  assert.equal(caption(captions.mean.head, { n: 4 }), "4 个头的平均");
});

test("how long something takes is told roughly, as commands tell it", () => {
  for (const [seconds, told] of Object.entries(times)) assert.equal(roughTime(Number(seconds)), told, seconds);
});
