import assert from "node:assert/strict";
import test from "node:test";

import { textBefore } from "../../../src/regard/view/page/panels/beam/beam_questions.js";
import { textChanges } from "../../../src/regard/view/page/panels/beam/text_changes.js";
import {
  childrenOf,
  treeLayout,
  leadsToEnd,
  nodeAfterKey,
  pathTo,
  prefixUpTo,
  joinTokens,
} from "../../../src/regard/view/page/panels/beam/beam_tree.js";

const node = (parent, token, total, rank = null) => ({
  parent, token, total, rank, log_prob: total, fate: rank === null ? "open" : "ended", score: null,
});
// I ── am ── (end)     rank 1
//   └─ was ─ (end)     rank 0, although “was” is less likely so far
// We                   dropped
const nodes = [
  node(-1, "I", -0.1),
  node(-1, "We", -2),
  node(0, "am", -0.3),
  node(0, "was", -0.9),
  node(2, "(end)", -3, 1),
  node(3, "(end)", -1, 0),
];

test("the best hypothesis comes first, then the likelier", () => {
  assert.deepEqual(childrenOf(nodes).get(-1), [0, 1]);
  assert.deepEqual(childrenOf(nodes).get(0), [3, 2]);
});

test("no two nodes share a place, and the best path runs along the top row", () => {
  const { depth, row, rows, depths } = treeLayout(nodes);
  assert.equal(new Set(nodes.map((_, at) => `${depth[at]},${row[at]}`)).size, nodes.length);
  assert.deepEqual([row[0], row[3], row[5]], [0, 0, 0]);
  assert.deepEqual([depth[0], depth[3], depth[5]], [0, 1, 2]);
  assert.equal(rows, 3);
  assert.equal(depths, 3);
});

test("children lie at or below their parents", () => {
  const { row } = treeLayout(nodes);
  nodes.forEach(({ parent }, at) => assert.ok(parent < 0 || row[at] >= row[parent]));
});

test("a beam of nothing has no place for anything", () => {
  assert.deepEqual(treeLayout([]), { depth: [], row: [], rows: 0, depths: 0 });
});

test("arrow keys walk to the parent, the best child and the neighbours of the same step", () => {
  assert.equal(nodeAfterKey(nodes, 0, "ArrowRight"), 3);
  assert.equal(nodeAfterKey(nodes, 3, "ArrowDown"), 2);
  assert.equal(nodeAfterKey(nodes, 2, "ArrowUp"), 3);
  assert.equal(nodeAfterKey(nodes, 2, "ArrowLeft"), 0);
  assert.equal(nodeAfterKey(nodes, 4, "Home"), 0);
});

test("at an edge an arrow stays", () => {
  assert.equal(nodeAfterKey(nodes, 0, "ArrowLeft"), 0);
  assert.equal(nodeAfterKey(nodes, 0, "ArrowUp"), 0);
  assert.equal(nodeAfterKey(nodes, 5, "ArrowRight"), 5);
});

test("without what was dropped, only ways to an end are left", () => {
  const shown = leadsToEnd(nodes);
  assert.deepEqual(shown, [true, false, true, true, true, true]);
  assert.equal(treeLayout(nodes, shown).rows, 2);
  assert.equal(nodeAfterKey(nodes, 0, "ArrowDown", shown), 0, "“We” is not there");
  assert.deepEqual(leadsToEnd([node(-1, "a", -1)]), [true], "where nothing ended, all is shown");
});

test("the path to a node starts with a first token", () => {
  assert.deepEqual(pathTo(nodes, 5), [0, 3, 5]);
});

test("tokens become text as each script writes it", () => {
  assert.equal(joinTokens(["I", "am", ",", "too", "."], false), "I am, too.");
  assert.equal(joinTokens(["我", "是", "学", "生", "。"], false), "我是学生。");
  assert.equal(joinTokens(["a", "(", "b", ")"], false), "a (b)");
});

test("tokens that bring their blanks are joined as they are", () => {
  assert.equal(joinTokens(["I", " am", " a", " stu", "dent"], true), "I am a student");
});

const target = (text, tokens, offsets) => ({
  tokens, offsets, characters: Array.from(text), groups: tokens.map((_, at) => [at]),
});

test("the beginning up to a node is the output’s own text where the tokens are the same", () => {
  const side = target("I  was", ["I", "was", "(end)"], [[0, 1], [3, 6], [6, 6]]);
  assert.equal(prefixUpTo(side, nodes, 5), "I  was");
  assert.equal(prefixUpTo(side, nodes, 4), "I am", "another hypothesis is spelt from its tokens");
});

test("what stands before a step ends before its word", () => {
  const side = { ...target("a student", ["a", "stu", "dent"], [[0, 1], [2, 5], [5, 9]]), groups: [[0], [1, 2]] };
  assert.equal(textBefore(side, 2), "a");
  assert.equal(textBefore(side, 0), "");
});

test("only the words that changed are marked", () => {
  const { was, is, same } = textChanges("I am a student.", "I am a young pupil.");
  const marked = (pieces) => pieces.filter((piece) => piece.changed).map((piece) => piece.text);
  assert.deepEqual(marked(was), ["student"]);
  assert.deepEqual(marked(is), ["young", "pupil"]);
  assert.equal(same, false);
  assert.equal(is.map((piece) => piece.text).join(""), "I am a young pupil.", "nothing is lost");
});

test("Chinese is compared by characters", () => {
  const { is } = textChanges("我是学生。", "我是老师。");
  assert.deepEqual(is.filter((piece) => piece.changed).map((piece) => piece.text), ["老", "师"]);
});
