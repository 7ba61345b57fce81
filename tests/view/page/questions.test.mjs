import assert from "node:assert/strict";
import { test } from "node:test";
import { plainQuestion, questionKey, questionsIn, stateOfQuestions, withNewText } from "../../../src/regard/view/page/host/asked_questions.js";
import { AskedRecords } from "../../../src/regard/view/page/host/asked_records.js";
import { forcedKeys } from "../../../src/regard/view/page/panels/beam/forced_row.js";
import { headsOff, switchedOff } from "../../../src/regard/view/page/panels/beam/heads_off.js";
import { aboutLine, languageName } from "../../../src/regard/view/page/stage/first_page.js";
import { walkSteps } from "../../../src/regard/view/page/stage/guided_walk.js";

const FORCE = { step: 5, keys: [1, 2] };

test("questions come back from the state that asks them", () => {
  const first = { text: "我", model: "m", prefix: "I", explain: true };
  const lists = [
    [first],
    [first, { text: "我", model: "m", prefix: "I am", force: FORCE }, { text: "你", model: "m" }, { text: "我", model: "other", off: [{ layer: 1, map: "cross" }] }],
    [{ text: "我", model: "m", force: { ...FORCE, weights: [1, 3], layer: 2 }, off: [{ layer: 1, head: 2, map: "encoder" }] }, { text: "我", model: "m" }],
  ];
  for (const list of lists) assert.deepEqual(questionsIn(stateOfQuestions(list)).map(questionKey), list.map(questionKey));
  assert.deepEqual(questionsIn({ text: "" }), []);
});

test("what is usual makes no other question", () => {
  const usual = { text: "a", prefix: "", target: null, force: null, off: [], explain: false, beam: 5, details: true };
  assert.deepEqual(plainQuestion(usual), { text: "a" });
  assert.equal(questionKey({ text: "a", force: { keys: [1, 2], step: 5, layer: null } }), questionKey({ text: "a", force: FORCE }));
  assert.notEqual(questionKey({ text: "a", force: FORCE }), questionKey({ text: "a", force: { ...FORCE, step: 0 } }));
});

test("a new text keeps the models that it was compared by, and nothing that was forced", () => {
  const asked = [{ text: "a", model: "m" }, { text: "a", model: "n" }, { text: "a", model: "m", force: FORCE }, { text: "z", model: "m" }];
  const next = withNewText(asked, { text: "b", model: "m" });
  assert.deepEqual(next, [{ text: "b", model: "m" }, { text: "b", model: "n" }, { text: "z", model: "m" }]);
  assert.deepEqual(withNewText(asked, { text: "a", model: "n" })[1], { text: "z", model: "m" }); // not the same twice
});

test("the same question is asked once", async () => {
  let asked = 0;
  const answer = { format: "regard.attention/1", sides: {}, maps: [] };
  const known = new AskedRecords(async (_, payload) => ({ ...answer, question: payload, asked: (asked += 1) }), ["m", "n"]);
  const one = await known.look({ text: "a" });
  assert.equal(await known.look({ text: "a", model: "m", prefix: "" }), one);
  assert.deepEqual(known.questionOf(one), { text: "a", model: "m" });
  assert.notEqual(await known.look({ text: "a", model: "n" }), one);
  assert.notEqual(await known.look({ text: "a" }, { fresh: true }), one);
  assert.equal(asked, 3);
  assert.ok(known.are([one], [{ text: "a" }]));
  assert.ok(!known.are([one], [{ text: "a", prefix: "b" }]));
  assert.ok(!known.are([one], []));
});

test("a row by hand names its keys, and their weights where these differ", () => {
  assert.deepEqual(forcedKeys([0, 1, 0, 1]), { keys: [1, 3], weights: null });
  assert.deepEqual(forcedKeys([0.5, 1, 0]), { keys: [0, 1], weights: [0.5, 1] });
  assert.deepEqual(forcedKeys([0, 0]), { keys: [], weights: null });
});

test("heads that are off are named as a question wants them", () => {
  const maps = [{ name: "cross", L: 2, H: 2 }, { name: "encoder", L: 1, H: 3 }];
  const off = [{ map: "cross", layer: 1 }, { map: "cross", layer: 2, head: 2 }, { map: "encoder", layer: 1, head: 1 }];
  assert.deepEqual([...switchedOff(off, maps)].sort(), ["cross.1.1", "cross.1.2", "cross.2.2", "encoder.1.1"]);
  assert.deepEqual(headsOff(switchedOff(off, maps), maps), off);
});

test("the empty page says what a model of any task reads and writes", () => {
  assert.equal(languageName("zh"), "中文");
  assert.equal(languageName("und") + languageName(undefined), "");
  assert.equal(languageName("no such"), "no such");
  assert.equal(aboutLine({ name: "a", task: "translate", source: "zh", target: "en" }), "reads 中文, writes English");
  const classifier = { name: "b", task: "classify", verb: "classify", source: "en", reads: "a text", writes: "a label (bad, good)" };
  assert.equal(aboutLine(classifier), "trained to classify · reads a text (English) · writes a label (bad, good)");
  assert.equal(aboutLine({ name: "c", task: "language", verb: "continue texts", source: "und", reads: "a text", writes: "" }), "trained to continue texts · reads a text");
});

test("each step of the walk is a state that asks for what it shows", () => {
  const story = { text: "他", prefix: "He", force: FORCE, word: "store", read: "商店", instead: "图书馆" };
  const [plain, forced, both] = walkSteps(story, "m").map(({ state }) => state);
  assert.deepEqual(questionsIn(plain), [{ text: "他", model: "m" }]);
  for (const state of [forced, both]) assert.deepEqual(questionsIn(state)[1], { text: "他", model: "m", prefix: "He", force: { keys: [1, 2], step: 5 } });
  assert.equal(forced.record, 1);
  assert.equal(walkSteps(story, "m")[1].said([{}, { output: "in this library" }]).includes("in this library"), true);
});
