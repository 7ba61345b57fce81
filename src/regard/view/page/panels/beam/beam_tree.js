// The tree of a beam search as places on a plane, and the ways to walk through it.

import { SPACELESS_OR_SIGN } from "../../record/scripts.js";

/** @typedef {import("../../record/record.js").BeamNode} BeamNode */

const BEGINS_CLOSE = new RegExp(`^[${SPACELESS_OR_SIGN}]`, "u");
const ENDS_CLOSE = new RegExp(`[${SPACELESS_OR_SIGN}]$`, "u");

/**
 * Which nodes lead to the end of a hypothesis; all of them where none does.
 * @param {BeamNode[]} nodes @returns {boolean[]}
 */
export function leadsToEnd(nodes) {
  const leads = nodes.map((node) => node.fate === "ended");
  if (!leads.includes(true)) return nodes.map(() => true);
  for (let at = nodes.length - 1; at >= 0; at--) if (leads[at] && nodes[at].parent >= 0) leads[nodes[at].parent] = true;
  return leads;
}

/**
 * The children of each node, the likeliest first; under −1, the first tokens.
 * @param {BeamNode[]} nodes @param {boolean[]} [shown] which nodes there are, of all
 * @returns {Map<number, number[]>}
 */
export function childrenOf(nodes, shown) {
  /** @type {Map<number, number[]>} */
  const children = new Map();
  nodes.forEach((node, at) => {
    if (shown && !shown[at]) return;
    const family = children.get(node.parent);
    if (family) family.push(at);
    else children.set(node.parent, [at]);
  });
  const best = bestRanks(nodes);
  for (const family of children.values()) {
    family.sort((a, b) => best[a] - best[b] || nodes[b].total - nodes[a].total);
  }
  return children;
}

/**
 * The best rank below each node, so that the best hypothesis runs along the top.
 * @param {BeamNode[]} nodes
 */
function bestRanks(nodes) {
  const best = nodes.map((node) => node.rank ?? Infinity);
  for (let at = nodes.length - 1; at >= 0; at--) {
    const { parent } = nodes[at];
    if (parent >= 0) best[parent] = Math.min(best[parent], best[at]);
  }
  return best.map((rank) => (rank === Infinity ? nodes.length : rank));
}

/**
 * Depth from the left, and a row: a leaf takes the next free row, a parent that of its best child.
 * @param {BeamNode[]} nodes @param {boolean[]} [shown]
 * @returns {{depth: number[], row: number[], rows: number, depths: number}}
 */
export function treeLayout(nodes, shown) {
  const children = childrenOf(nodes, shown);
  const depth = new Array(nodes.length).fill(0);
  const row = new Array(nodes.length).fill(0);
  let rows = 0;
  const waiting = [...(children.get(-1) || [])].reverse();
  while (waiting.length) {
    const at = /** @type {number} */ (waiting.pop());
    const { parent } = nodes[at];
    depth[at] = parent < 0 ? 0 : depth[parent] + 1;
    const isFirst = parent >= 0 && children.get(parent)?.[0] === at;
    row[at] = isFirst ? row[parent] : rows++;
    waiting.push(...[...(children.get(at) || [])].reverse());
  }
  return { depth, row, rows, depths: Math.max(0, ...depth.map((d) => d + 1)) };
}

/**
 * The nodes from the first token to this one.
 * @param {BeamNode[]} nodes @param {number} at
 */
export function pathTo(nodes, at) {
  const path = [];
  for (let here = at; here >= 0; here = nodes[here].parent) path.unshift(here);
  return path;
}

/**
 * Where an arrow key leads: left to the parent, right to the best child, up and down to the
 * neighbour of the same step.
 * @param {BeamNode[]} nodes @param {number} at @param {string} key @param {boolean[]} [shown]
 */
export function nodeAfterKey(nodes, at, key, shown) {
  const { depth, row } = treeLayout(nodes, shown);
  if (key === "ArrowLeft") return nodes[at].parent >= 0 ? nodes[at].parent : at;
  if (key === "ArrowRight") return childrenOf(nodes, shown).get(at)?.[0] ?? at;
  if (key === "Home") return pathTo(nodes, at)[0];
  const step = nodes.map((_, n) => n).filter((n) => (!shown || shown[n]) && depth[n] === depth[at]);
  step.sort((a, b) => row[a] - row[b]);
  const here = step.indexOf(at);
  if (key === "ArrowUp") return step[Math.max(here - 1, 0)];
  if (key === "ArrowDown") return step[Math.min(here + 1, step.length - 1)];
  return at;
}

/**
 * Tokens as a text. Where none brings the blank before it: no blank beside scripts that write none,
 * none before a sign.
 * @param {string[]} tokens @param {boolean} spaced whether blanks are part of the tokens
 */
export function joinTokens(tokens, spaced) {
  if (spaced) return tokens.join("").trim();
  let text = "";
  for (const token of tokens) {
    const close = /^[\p{Pe}\p{Pf}.,;:!?…%’']/u.test(token) || /[\p{Ps}\p{Pi}]$/u.test(text);
    const joined = ENDS_CLOSE.test(text) && BEGINS_CLOSE.test(token);
    text += (text && !close && !joined ? " " : "") + token;
  }
  return text;
}

/**
 * The text of a hypothesis up to a node, without marks; exact where the output has the same tokens.
 * @param {import("../../record/record.js").Side|undefined} target @param {BeamNode[]} nodes @param {number} at
 */
export function prefixUpTo(target, nodes, at) {
  const tokens = pathTo(nodes, at).map((node) => nodes[node].token);
  const same = target && tokens.every((token, place) => target.tokens[place]?.trim() === token.trim());
  if (same) return target.characters.slice(0, target.offsets[tokens.length - 1][1]).join("");
  const spaced = nodes.some(({ token }) => /^\s/.test(token));
  return joinTokens(tokens.filter((token) => !/^\(.+\)$/.test(token)), spaced);
}
