import assert from "node:assert/strict";
import { test } from "node:test";
import { createAsk } from "../../../src/regard/view/page/host/questions.js";
import { troubleOf } from "../../../src/regard/view/page/host/hosts.js";
import { jsonInMarkup, standaloneDocument, upToItsEnd } from "../../../src/regard/view/page/host/standalone_document.js";

function fakeModel() {
  const listeners = new Set();
  const sent = [];
  return { sent, send: (message) => sent.push(message), on: (_, listener) => listeners.add(listener), off: (_, listener) => listeners.delete(listener), hear: (message) => listeners.forEach((listener) => listener(message)) };
}

test("each question gets its own answer, in whatever order they come", async () => {
  const model = fakeModel();
  const { ask } = createAsk(model);
  const [first, second, third] = [ask("look", { text: "a" }), ask("look", { text: "b" }), ask("look", { text: "c" })];
  model.hear({ id: model.sent[1].id, answer: "B" });
  model.hear({ id: 999, answer: "nobody asked" });
  model.hear(undefined);
  model.hear({ id: model.sent[2].id, error: "too long" });
  model.hear({ id: model.sent[0].id, answer: "A" });
  assert.deepEqual([await first, await second], ["A", "B"]);
  await assert.rejects(third, { message: "too long" });
});

test("how far an answer is reaches who listens, until it is there", async () => {
  const model = fakeModel();
  const told = [];
  const { ask, stopAll } = createAsk(model, (waiting, progress) => told.push([waiting, progress?.share ?? null]));
  const answer = ask("look", { text: "a" });
  const { id } = model.sent[0];
  model.hear({ id, progress: { share: 0.25, left: 3 } });
  stopAll();
  assert.deepEqual(model.sent[1], { id, kind: "stop", payload: {} });
  model.hear({ id, error: "Stopped" });
  await assert.rejects(answer, { message: "Stopped" });
  assert.deepEqual(told, [[1, null], [1, 0.25], [0, null]]);
  stopAll();
  assert.equal(model.sent.length, 2);
});

test("what a server says of a mistake becomes one line", () => {
  assert.equal(troubleOf({ error: "too long" }), "too long");
  assert.equal(troubleOf({ detail: [{ msg: "a" }, { msg: "b" }] }), "a; b");
  assert.equal(troubleOf(null), null);
});

test("no text in a record can end the script it lies in", () => {
  const given = { title: "</script><script>alert(1)</script><!--" };
  assert.ok(!jsonInMarkup(given).includes("<"));
  assert.deepEqual(JSON.parse(jsonInMarkup(given)), given);
});

test("a file made from a file is the same file, but for its nonce", () => {
  const module = "const staticModel = 1;\nfunction render() {}\n\nexport default { render };\n";
  const make = (text) => standaloneDocument({ records: [], settings: { state: {} }, module: text, stylesheet: "a{}" });
  const inline = (document) => document.match(/<script type="module"[^>]*>([\s\S]*?)<\/script>/)[1];
  const bare = (document) => document.replace(/nonce-\w+|nonce="\w+"/g, "");
  assert.equal(bare(make(inline(make(module)))), bare(make(module)));
  assert.equal(upToItsEnd(`${module}\nstartSomething();\n`), module.trim());
  assert.throws(() => upToItsEnd("const half = 1;"), /not the whole/);
});
