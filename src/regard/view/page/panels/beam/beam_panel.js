// The tree of a beam search: walk through the hypotheses, see what each looked at, go on from any.

import { beamQuestions, canForce } from "./beam_questions.js";
import { childrenOf, treeLayout, leadsToEnd, nodeAfterKey, pathTo, prefixUpTo } from "./beam_tree.js";
import { toggle } from "../../elements/controls.js";
import { fill, h, s } from "../../elements/dom.js";
import { matrixFigure } from "../small_matrix.js";
import { numberText } from "../row_numbers.js";
import { button, keepingFocus, largestSize } from "../panel_parts.js";
import { visibleText } from "../../record/token_words.js";
import { t } from "../../words/messages.js";

/** @typedef {import("../../record/record.js").BeamNode} BeamNode */
/** @typedef {import("../../host/view_state.js").State} State */

/** @typedef {import("../panel_parts.js").PanelContext} PanelContext */

/** @typedef {import("../../record/record.js").Beam} Beam */
/** @typedef {{el: HTMLElement, context: PanelContext, tree: HTMLElement, asked: HTMLElement}} Panel */
/** @typedef {{x: number, y: number, width: number}} Place of a node in pixels */

const ROW_HEIGHT = 34; // pixels from one hypothesis to the next
const STEP_GAP = 26; // between two steps
/** @returns {Record<string, string>} */
const fateNames = () => ({ open: t("went on"), ended: t("ended"), dropped: t("dropped: others were better") });

export const beamPanel = {
  name: "beam",
  get title() {
    return t("Beam · what if?");
  },

  /** Without a search there is no beam to speak of. @param {PanelContext} context */
  titleFor: ({ record }) => (record.beam?.nodes.length ? t("Beam · what if?") : t("What if?")),

  /** @param {PanelContext} context @returns {true | string | null} */
  available({ record, abilities }) {
    if (record.beam?.nodes.length) return true;
    if (!canForce(record)) return null; // nothing was written: texts were read, or judged
    if (!record.sides.target) return true; // what reads can be told where
    const canAsk = abilities.has("ask") && record.maps.some((map) => map.name === "cross" && !map.keys.picture);
    return canAsk || t("No search was recorded: this output was given or scored, not searched for.");
  },

  /** @param {HTMLElement} el @param {PanelContext} context */
  mount(el, context) {
    const panel = { el, context, tree: h("div"), asked: h("div") };
    const ask = beamQuestions(panel.asked);
    fill(el, panel.tree, panel.asked);
    /** @param {PanelContext} next */
    const update = (next) => {
      panel.context = next;
      keepingFocus(panel.tree, () => draw(panel, ask));
      ask.update(next);
    };
    update(context);
    return { update };
  },
};

/** @param {Panel} panel @param {ReturnType<typeof beamQuestions>} ask */
function draw(panel, ask) {
  const { context, tree } = panel;
  const { beam } = context.record;
  if (!beam?.nodes.length) {
    fill(tree, context.record.sides.target ? h("p", { class: "panel-empty" }, t("No search was recorded for this output. Continue it below to see one.")) : null);
    return;
  }
  const leads = leadsToEnd(beam.nodes);
  const all = String(context.state["beam-dropped"] ?? 0) === "1" || leads.every(Boolean);
  const shown = all ? beam.nodes.map(() => true) : leads;
  const chosen = chosenNode(beam.nodes, shown, context.state);
  /** @param {number} at */
  const choose = (at) => context.set({ "beam-node": at });
  const scroll = h("div", { class: "panel-scroll beam-scroll" }, treeDrawing(beam.nodes, shown, chosen, choose));
  fill(tree, treeLegend(context, leads, all, beam.nodes.filter((_, at) => shown[at])), scroll, nodeDetails(context, beam, chosen, ask));
  reveal(scroll, chosen);
}

/**
 * The node that is chosen; at first the end of the best hypothesis.
 * @param {BeamNode[]} nodes @param {boolean[]} shown @param {State} state
 */
function chosenNode(nodes, shown, state) {
  const at = Number(state["beam-node"] ?? -1);
  return shown[at] ? at : Math.max(nodes.findIndex((node) => node.rank === 0), 0);
}

/** @param {PanelContext} context @param {boolean[]} leads @param {boolean} all @param {BeamNode[]} shown */
function treeLegend({ set }, leads, all, shown) {
  const hidden = leads.filter((leading) => !leading).length;
  const dropped = toggle(t("Show what was dropped ({n})", { n: hidden }), (on) => set({ "beam-dropped": on ? 1 : 0 }));
  dropped.update(all);
  dropped.input.setAttribute("data-focus", "beam-dropped");
  const fates = Object.entries(fateNames()).filter(([fate]) => shown.some((each) => each.fate === fate));
  return h(
    "div",
    { class: "beam-legend" },
    fates.map(([fate, words]) => h("span", { class: `is-${fate}` }, h("i", { "aria-hidden": "true" }), words)),
    h("span", null, t("thick line: likely token")),
    h("span", null, t("at the end: place and score")),
    hidden ? dropped.element : null,
  );
}

/**
 * A drawing of the whole tree; one node of it takes the keyboard.
 * @param {BeamNode[]} nodes @param {boolean[]} shown @param {number} chosen @param {(at: number) => void} choose
 */
function treeDrawing(nodes, shown, chosen, choose) {
  const { depth, row, rows, depths } = treeLayout(nodes, shown);
  const drawn = nodes.map((_, at) => at).filter((at) => shown[at]);
  const widths = new Array(depths).fill(24);
  for (const at of drawn) widths[depth[at]] = Math.max(widths[depth[at]], nodeWidth(nodes[at]));
  /** @type {number[]} */
  const left = [];
  widths.reduce((x, width) => (left.push(x), x + width + STEP_GAP), 8);
  const places = nodes.map((node, at) => ({ x: left[depth[at]], y: 8 + row[at] * ROW_HEIGHT, width: nodeWidth(node) }));
  const onPath = new Set(pathTo(nodes, chosen));
  const size = { width: left[depths - 1] + widths[depths - 1] + 90, height: rows * ROW_HEIGHT + 12 };
  const tree = s(
    "svg",
    { class: "beam-tree", role: "tree", "aria-label": t("Hypotheses of the beam search; arrow keys walk"), ...size, viewBox: `0 0 ${size.width} ${size.height}` },
    drawn.map((at) => edgeTo(nodes[at], places, at, onPath.has(at))),
    drawn.map((at) => nodeElement(nodes[at], places[at], { at, depth: depth[at], chosen: at === chosen, onPath: onPath.has(at), choose })),
  );
  tree.addEventListener("keydown", (event) => {
    const to = nodeAfterKey(nodes, chosen, event.key, shown);
    if (to === chosen && !event.key.startsWith("Arrow")) return;
    event.preventDefault();
    choose(to);
  });
  return tree;
}

/** @param {{token: string}} node */
function nodeWidth({ token }) {
  let width = 18;
  for (const character of visibleText(token)) width += character > "\u2e7f" ? 14 : 8;
  return Math.min(width, 150);
}

/** @param {BeamNode} node @param {Place[]} places @param {number} at @param {boolean} onPath */
function edgeTo(node, places, at, onPath) {
  if (node.parent < 0) return null;
  const [from, to] = [places[node.parent], places[at]];
  const [x, y] = [from.x + from.width, from.y + 13];
  const [x2, y2] = [to.x, to.y + 13];
  const bend = x2 - STEP_GAP;
  const path = `M${x},${y} H${bend} C${bend + 14},${y} ${x2 - 14},${y2} ${x2},${y2}`;
  const likely = Math.exp(node.log_prob);
  return s("path", { d: path, class: `beam-edge${onPath ? " is-on-path" : ""}`, "stroke-width": (1 + 4 * likely).toFixed(2), "stroke-opacity": (0.35 + 0.65 * likely).toFixed(2) });
}

/** @param {BeamNode} node @param {Place} place @param {{at: number, depth: number, chosen: boolean, onPath: boolean, choose: (at: number) => void}} given */
function nodeElement(node, place, { at, depth, chosen, onPath, choose }) {
  const likely = Math.exp(node.log_prob);
  const said = t("{token}, probability {p}, log p so far {total}, {fate}", { token: visibleText(node.token), p: numberText(likely), total: numberText(node.total), fate: fateNames()[node.fate] ?? node.fate });
  const label = node.rank === null ? said : `${said}, ${t("place {n}", { n: node.rank + 1 })}. ${node.score === null ? "" : numberText(node.score)}`.trim();
  return s(
    "g",
    {
      class: `beam-node is-${node.fate}${chosen ? " is-chosen" : ""}${onPath ? " is-on-path" : ""}`,
      transform: `translate(${place.x} ${place.y})`,
      role: "treeitem",
      "aria-level": depth + 1,
      "aria-selected": String(chosen),
      "aria-label": label,
      tabindex: chosen ? 0 : -1,
      "data-node": at,
      "data-focus": chosen ? "beam-node" : null,
      on: { click: () => choose(at) },
    },
    s("title", null, label),
    s("rect", { width: place.width, height: 26, rx: 7, "fill-opacity": (0.25 + 0.75 * likely).toFixed(2) }),
    s("text", { x: place.width / 2, y: 17.5, "text-anchor": "middle" }, shortToken(node.token)),
    node.rank === null ? null : s("text", { class: "beam-score", "aria-hidden": "true", x: place.width + 8, y: 17.5 }, `${node.rank + 1}. ${node.score === null ? "" : numberText(node.score)}`),
  );
}

/** @param {string} token */
function shortToken(token) {
  const characters = Array.from(visibleText(token));
  return characters.length > 18 ? `${characters.slice(0, 17).join("")}…` : characters.join("");
}

/** Brings the chosen node into sight, without moving the page. @param {HTMLElement} scroll @param {number} chosen */
function reveal(scroll, chosen) {
  const node = scroll.querySelector(`[data-node="${chosen}"]`);
  if (!node) return;
  const [, x, y] = /translate\(([\d.]+) ([\d.]+)\)/.exec(node.getAttribute("transform") ?? "") ?? [0, 0, 0];
  scroll.scrollLeft = Math.max(0, Number(x) - scroll.clientWidth / 2);
  scroll.scrollTop = Math.max(0, Number(y) - scroll.clientHeight / 2);
}

/** @param {PanelContext} context @param {Beam} beam @param {number} chosen @param {ReturnType<typeof beamQuestions>} ask */
function nodeDetails(context, beam, chosen, ask) {
  const { record } = context;
  const { nodes } = beam;
  const node = nodes[chosen];
  /** @type {[string, string|null][]} */
  const facts = [
    [t("this token"), `p ${numberText(Math.exp(node.log_prob))} (log p ${numberText(node.log_prob)})`],
    [t("so far"), `log p ${numberText(node.total)}`],
    [t("score"), node.score === null ? null : numberText(node.score)],
    [t("place"), node.rank === null ? null : `${node.rank + 1}.`],
    [t("fate"), fateNames()[node.fate] ?? node.fate],
  ];
  const canGoOn = node.fate !== "ended" && context.abilities.has("ask");
  return h(
    "div",
    { class: "beam-details" },
    h("p", { class: "beam-hypothesis", "aria-live": "polite" }, h("bdi", { dir: "auto", lang: record.sides.target?.language || null }, prefixUpTo(record.sides.target, nodes, chosen)), node.fate === "ended" ? null : " …"),
    h("dl", { class: "beam-facts" }, facts.filter(([, value]) => value).map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value)))),
    canTake(context) ? takeWords(t("possible next words"), childrenOf(nodes).get(chosen) ?? [], context, nodes, ask) : takenAs(nodes, chosen),
    canTake(context) ? takeWords(t("other words here"), siblingsOf(nodes, chosen), context, nodes, ask) : null,
    canGoOn ? button(t("Continue from here"), () => ask.continueFrom(prefixUpTo(record.sides.target, nodes, chosen)), { class: "panel-button", "data-focus": "beam-continue" }) : null,
    attentionFigure(context, beam, chosen),
  );
}

/** @param {PanelContext} context */
const canTake = (context) => context.abilities.has("ask");

/** Other words that were tried after the same beginning. @param {BeamNode[]} nodes @param {number} at */
function siblingsOf(nodes, at) {
  return (childrenOf(nodes).get(nodes[at].parent) ?? []).filter((other) => other !== at);
}

/** @param {BeamNode} node */
const likelihood = (node) => numberText(Math.exp(node.log_prob));

/** Where nothing can be asked. @param {BeamNode[]} nodes @param {number} at */
function takenAs(nodes, at) {
  const words = (childrenOf(nodes).get(at) ?? []).map((child) => `${visibleText(nodes[child].token)} ${likelihood(nodes[child])}`);
  return words.length ? h("p", { class: "panel-hint" }, `${t("possible next words")}: ${words.join(" · ")}`) : null;
}

/**
 * Words of the beam; a click takes one, and the model goes on from there.
 * @param {string} title @param {number[]} places @param {PanelContext} context @param {BeamNode[]} nodes @param {ReturnType<typeof beamQuestions>} ask
 */
function takeWords(title, places, { record }, nodes, ask) {
  const { target } = record.sides;
  const words = places.filter((at) => !/^\(.+\)$/.test(nodes[at].token)); // the end is no word to go on from
  if (!words.length) return null;
  /** @param {number} at */
  const word = (at) =>
    button(
      h("span", null, h("bdi", { dir: "auto", lang: target?.language || null }, visibleText(nodes[at].token)), " ", h("small", null, likelihood(nodes[at]))),
      () => ask.continueFrom(prefixUpTo(target, nodes, at)),
      { class: "panel-chip", title: t("take this word, and go on from it"), "data-focus": `beam-take-${at}` },
    );
  return h("div", { class: "beam-take", role: "group", "aria-label": title }, h("span", { class: "panel-hint" }, title), words.map(word));
}

/**
 * One row of a token that went on; all rows of a hypothesis that ended.
 * @param {PanelContext} context @param {Beam} beam @param {number} chosen
 */
function attentionFigure({ record, state }, { keys, nodes, weights }, chosen) {
  const side = record.sides[keys ?? ""];
  if (!weights || !side) return h("p", { class: "panel-hint" }, t("What the hypotheses looked at was not kept."));
  const cols = side.tokens.length;
  const path = nodes[chosen].fate === "ended" ? pathTo(nodes, chosen) : [chosen];
  const data = new Float32Array(path.length * cols);
  path.forEach((at, row) => data.set(weights.subarray(at * cols, (at + 1) * cols), row * cols));
  const matrix = { data, rows: path.length, cols, rowTokens: path.map((at) => visibleText(nodes[at].token)), colTokens: side.labels, rowSide: record.sides.target, colSide: side };
  const title = path.length > 1 ? t("What this hypothesis looked at") : t("What this token looked at");
  return matrixFigure({ title, matrix, most: largestSize(data), state, space: 680 });
}
