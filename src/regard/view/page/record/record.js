// A record as the page uses it: sides, maps whose numbers are decoded when they are first asked for,
// and the one matrix that is on the screen.

import { unpack } from "./packed_arrays.js";
import { aggregate, allowedPairs } from "./aggregation.js";
import { readLevels } from "./levels.js";
import { readSight } from "./sight.js";
import { groupLabel, isRightToLeft, wordGroups } from "./token_words.js";
import { caption, captions, t } from "../words/messages.js";

const FORMAT = "regard.attention/1";
/** @type {Record<string, number>} how far packing may take the sum of a row from 1 */
const ROUNDING = { sqrt8: 0.03, float16: 0.01 };
/** @type {Record<string, string>} */
const SIDES = captions.sides;
/** @type {Record<string, string>} */
const KINDS = captions.kinds;
/** @type {Record<string, string>} */
const LAYERS = captions.layers;
const NO_TEXT = ["label", "number", "answer", "own queries"]; // titles of rows that are no text, as in captions.py

/** @typedef {import("./packed_arrays.js").Packed} Packed */
/** @typedef {number|"mean"|"max"} Chosen one of them by its number from 0, or all together */

/**
 * A record as JSON gives it: docs/viewer/record.md.
 * @typedef {object} GivenRecord
 * @property {"regard.attention/1"} format
 * @property {string} [title]
 * @property {string} [model]
 * @property {string} [output]
 * @property {string[]} [notes]
 * @property {Record<string, GivenSide>} sides
 * @property {GivenMap[]} maps
 * @property {{keys: string|null, nodes: BeamNode[], weights?: Packed|null}|null} [beam]
 * @property {GivenExplanation[]} [explanations]
 * @property {number[][][]} [glimpses] for each query boxes: left, top, width, height in shares of the picture
 * @property {Record<string, any>} [question]
 * @property {import("./levels.js").GivenLevels|null} [levels]
 * @property {object|null} [sight] as records.sights writes it
 * @property {Record<string, number[][]>} [answer_places] of each side: where the answer stands in its text
 * @property {string[]} [changes] what was given or forced, in a few words each
 * @property {GivenLens|null} [lens]
 * @property {string} [command] what puts the model behind the page
 * @property {string} [steerable] the map whose rows can be forced; "": the cross-attention
 */

/** @typedef {{side: string, layers: string[], tokens: string[][][], probabilities: Packed}} GivenLens lines × positions × likeliest */
/** @typedef {Omit<GivenLens, "probabilities"> & {probabilities: Float32Array}} Lens */

/**
 * @typedef {object} GivenSide
 * @property {string} [title]
 * @property {string} [language]
 * @property {string} text
 * @property {string[]} tokens
 * @property {number[][]} offsets
 * @property {number[]} words
 * @property {number[]} special 0 or 1
 * @property {Picture|null} [picture]
 * @property {number[]} [parts] of a pair of texts: 0 the first, 1 the second, −1 neither
 * @property {boolean} [corrected] its words were put together by hand
 */

/** @typedef {{source: string, rows: number, columns: number}} Picture whose cells are the tokens, row by row */

/**
 * @typedef {object} GivenMap
 * @property {string} name
 * @property {string} queries
 * @property {string} keys
 * @property {string[]} [layers]
 * @property {string} [mechanism]
 * @property {string} [normalizer]
 * @property {string} [reported]
 * @property {[Chosen, Chosen]} [shown]
 * @property {Packed} weights
 * @property {Packed|null} [scores]
 * @property {Packed|null} [allowed]
 * @property {Packed|null} [factor]
 * @property {Packed|null} [values]
 * @property {Packed|null} [query_vectors]
 * @property {Packed|null} [key_vectors]
 * @property {Packed|null} [score_vector]
 */

/**
 * @typedef {object} BeamNode
 * @property {number} parent −1: it is a first token
 * @property {string} token
 * @property {number} log_prob
 * @property {number} total
 * @property {"open"|"ended"|"dropped"} fate
 * @property {number|null} score
 * @property {number|null} rank
 */

/**
 * @typedef {object} GivenExplanation
 * @property {string} name
 * @property {string} title
 * @property {string} reading
 * @property {string} map
 * @property {Packed|null} matrix
 * @property {boolean} signed
 * @property {Record<string, (number|null)[]>} rows
 */

/** @typedef {Omit<GivenExplanation, "matrix"> & {matrix: Float32Array|null}} Explanation with its numbers decoded */
/** @typedef {{keys: string|null, nodes: BeamNode[], weights: Float32Array|null}} Beam */

/**
 * A record as the page uses it.
 * @typedef {object} AttentionRecord
 * @property {GivenRecord} given
 * @property {string} title
 * @property {string} model
 * @property {string} output
 * @property {string[]} notes
 * @property {string[]} changes what was given or forced, in a few words each
 * @property {Record<string, any>} question
 * @property {number[][][]} glimpses
 * @property {Record<string, Side>} sides
 * @property {AttentionMap[]} maps
 * @property {Beam|null} beam
 * @property {Explanation[]} explanations
 * @property {import("./levels.js").Levels|null} levels of a document
 * @property {import("./sight.js").Sight|null} sight of a picture
 * @property {Lens|null} lens what is predicted at each position, layer by layer
 * @property {string} command what puts the model behind the page
 * @property {string} steerable the map whose rows can be forced
 * @property {(name: string) => AttentionMap} map of that name, or the first; an empty one where there is none
 * @property {(mapName: string, choice: Choice) => Matrix} matrix
 */

/**
 * @typedef {object} Side
 * @property {string} name
 * @property {string} title
 * @property {string} language
 * @property {string} text
 * @property {string[]} characters the text by code points, which is how offsets count
 * @property {string[]} tokens
 * @property {number[][]} offsets
 * @property {number[]} words
 * @property {boolean[]} special
 * @property {boolean} [corrected] its words were put together by hand
 * @property {Picture|null} picture
 * @property {number[]} parts of a pair of texts: 0 the first, 1 the second, −1 neither; none where there is one
 * @property {boolean} rightToLeft
 * @property {number[][]} groups the tokens of each word
 * @property {string[]} labels what is written on each token
 */

/**
 * @typedef {object} AttentionMap
 * @property {string} name
 * @property {string} kind what it is called
 * @property {Side} queries
 * @property {Side} keys
 * @property {number} L
 * @property {number} H
 * @property {number} Q
 * @property {number} K
 * @property {number} D 0 where no values were kept
 * @property {string[]} layers
 * @property {string} mechanism
 * @property {string} normalizer
 * @property {string} reported
 * @property {[Chosen, Chosen]} shown the layer and the head that it is shown by at first
 * @property {Float32Array} weights (L, H, Q, K)
 * @property {Float32Array|null} scores (L, H, Q, K)
 * @property {Float32Array|null} factor (L, H, Q, K)
 * @property {Float32Array|null} values (L, H, K, D)
 * @property {Float32Array|null} queryVectors (L, H, Q, E), scaled: their products with keys are the scores, without a bias
 * @property {Float32Array|null} keyVectors (L, H, K, E)
 * @property {Float32Array|null} scoreVector (L, H, E): of an additive score, Σ v ⊙ tanh(q + k)
 * @property {number} E 0 where no vectors were kept
 * @property {Uint8Array|null} allowedBits (L, H, Q, K)
 * @property {(layer: number, head: number, query: number, key: number) => boolean} allowed
 * @property {number} rounding how far a sum of a row may be from 1 by its packing
 */

/**
 * @typedef {object} Choice
 * @property {Chosen|"auto"} layer
 * @property {Chosen|"auto"} head
 * @property {"words"|"tokens"} units
 * @property {boolean} specials
 * @property {string} [between] "AB": from the first text of a pair to the second; "" or "all": everything
 */

/**
 * @typedef {object} Matrix
 * @property {Float32Array} data (rows, cols)
 * @property {number} rows
 * @property {number} cols
 * @property {string[]} rowTokens
 * @property {string[]} colTokens
 * @property {number[][]} rowMembers the tokens of each row
 * @property {number[][]} colMembers
 * @property {Uint8Array} [allowed] (rows, cols); left out where all pairs are
 * @property {Float32Array|null} missing for each row 1 − the sum of all its weights; null for a maximum
 * @property {Float32Array} hidden for each row the weights of columns that are not shown
 * @property {string} title how the weights were put together
 * @property {Side} rowSide
 * @property {Side} colSide
 */

/** @param {GivenRecord} given @returns {AttentionRecord} */
export function readRecord(given) {
  if (given === null || typeof given !== "object" || given.format !== FORMAT) {
    throw new Error(t("This is no record of the format {format}: it says “{said}”.", { format: FORMAT, said: given?.format ?? "" }));
  }
  const sides = Object.fromEntries(Object.entries(given.sides).map(([name, side]) => [name, readSide(name, side)]));
  const maps = given.maps.map((map) => readMap(map, sides));
  const cache = new Map();
  return {
    given,
    title: given.title ?? "",
    model: given.model ?? "",
    output: given.output ?? "",
    notes: given.notes ?? [],
    changes: given.changes ?? [],
    question: given.question ?? {},
    glimpses: given.glimpses ?? [],
    sides,
    maps,
    beam: given.beam ? lazily({ ...given.beam }, { weights: given.beam.weights }) : null,
    explanations: (given.explanations ?? []).map((each) => lazily({ ...each }, { matrix: each.matrix })),
    levels: given.levels ? readLevels(given.levels, sides) : null,
    sight: readSight(given.sight ?? null),
    lens: given.lens ? lazily({ ...given.lens }, { probabilities: given.lens.probabilities }) : null,
    command: given.command ?? "",
    steerable: given.steerable || "cross",
    map: (name) => maps.find((map) => map.name === name) ?? maps[0] ?? noMap(),
    /** @returns {Matrix} */
    matrix(mapName, choice) {
      const key = [mapName, choice.layer, choice.head, choice.units, choice.specials, choice.between ?? ""].join("|");
      if (!cache.has(key)) {
        if (cache.size >= 8) cache.delete(cache.keys().next().value);
        cache.set(key, matrixOf(this.map(mapName), choice));
      }
      return cache.get(key);
    },
  };
}

/** What a record without weights is drawn by. */
function noMap() {
  const nobody = { text: "", tokens: [], offsets: [], words: [], special: [] };
  /** @type {Packed} */
  const weights = { type: "float32", shape: [1, 1, 0, 0], data: "" };
  return readMap({ name: "", queries: "nobody", keys: "nobody", weights }, { nobody: readSide("nobody", nobody) });
}

/** @param {string} name @param {GivenSide} given @returns {Side} */
function readSide(name, given) {
  const side = {
    ...given,
    name,
    title: sideTitle(given.title || name),
    language: given.language || "",
    picture: given.picture ?? null,
    parts: given.parts ?? [],
    special: given.special.map(Boolean),
    characters: Array.from(given.text),
    rightToLeft: isRightToLeft(given.text),
  };
  const labels = side.tokens.map((_, place) => groupLabel(side, [place]));
  return { ...side, groups: wordGroups(side), labels };
}

/** @param {GivenMap} given @param {Record<string, Side>} sides @returns {AttentionMap} */
function readMap(given, sides) {
  const [L, H, Q, K] = given.weights.shape;
  const map = {
    name: given.name,
    kind: kindOf(given.name, sides[given.queries], sides[given.keys]),
    queries: sides[given.queries],
    keys: sides[given.keys],
    L,
    H,
    Q,
    K,
    D: given.values?.shape[3] ?? 0,
    E: given.key_vectors?.shape[3] ?? 0,
    layers: given.layers?.length === L ? given.layers.map(layerName) : Array.from(
      { length: L },
      (_, n) => layerName(`${n + 1}`),
    ),
    mechanism: given.mechanism ?? "",
    normalizer: given.normalizer ?? "",
    reported: given.reported ?? "",
    shown: given.shown ?? ["mean", "mean"],
    rounding: ROUNDING[given.weights.type] ?? 0.005,
  };
  /** @type {AttentionMap} */
  const whole = lazily(map, {
    weights: given.weights,
    scores: given.scores,
    factor: given.factor,
    values: given.values,
    queryVectors: given.query_vectors,
    keyVectors: given.key_vectors,
    scoreVector: given.score_vector,
    allowedBits: given.allowed,
  });
  whole.allowed = (layer, head, query, key) =>
    whole.allowedBits === null || whole.allowedBits[((layer * H + head) * Q + query) * K + key] === 1;
  return whole;
}

/** @param {string} name of a map @param {Side} queries @param {Side} keys */
function kindOf(name, queries, keys) {
  if (name === "cross" && NO_TEXT.map(sideTitle).includes(queries.title)) return caption(captions.over, { side: keys.title });
  return Object.hasOwn(KINDS, name) ? caption(KINDS[name]) : caption(captions["other kind"], { name });
}

/** What a side is called, where it has one of the usual names. @param {string} title */
function sideTitle(title) {
  return Object.hasOwn(SIDES, title) ? caption(SIDES[title]) : title;
}

/** What the heads of a map are called. @param {number} count */
export function headNames(count) {
  return Array.from({ length: count }, (_, n) => t("head {n}", { n: n + 1 }));
}

/** "1" is shown as “layer 1”, "decoder 1" in the reader’s language, another name as it is. @param {string} name */
function layerName(name) {
  const [, kind, n] = /^(?:(.+) )?(\d+)$/.exec(name) ?? [];
  if (n && !kind) return t("layer {n}", { n });
  return n && Object.hasOwn(LAYERS, kind) ? caption(LAYERS[kind], { n }) : name;
}

/**
 * Adds properties that are decoded when they are first read.
 * @param {object} target @param {Record<string, Packed|null|undefined>} packed
 * @returns {any}
 */
function lazily(target, packed) {
  for (const [name, array] of Object.entries(packed)) {
    Object.defineProperty(target, name, {
      configurable: true,
      enumerable: true,
      get() {
        const numbers = array ? unpack(array) : null;
        Object.defineProperty(target, name, { value: numbers, enumerable: true });
        return numbers;
      },
    });
  }
  return target;
}

/** @param {AttentionMap} map @param {Choice} choice @returns {Matrix} */
function matrixOf(map, choice) {
  const rowGroups = choice.units === "words" ? map.queries.groups : map.queries.tokens.map((_, n) => [n]);
  const colGroups = choice.units === "words" ? map.keys.groups : map.keys.tokens.map((_, n) => [n]);
  /** @type {(side: Side) => (group: number[]) => boolean} */
  const shown = (side) => (group) => choice.specials || !group.every((place) => side.special[place]);
  const [from, to] = partsOf(map, choice.between);
  /** @type {(side: Side, part: number|null) => (group: number[]) => boolean} */
  const within = (side, part) => (group) => part === null || group.some((place) => side.parts[place] === part);
  const rowMembers = rowGroups.filter(shown(map.queries)).filter(within(map.queries, from));
  const colMembers = colGroups.filter(shown(map.keys)).filter(within(map.keys, to));
  const whole = aggregate(map, choice.layer, choice.head);
  const { data, missing, hidden } = mergeGroups(whole, map.K, rowMembers, colMembers);
  const isMaximum = (choice.layer === "max" && map.L > 1) || (choice.head === "max" && map.H > 1);
  return {
    data,
    rows: rowMembers.length,
    cols: colMembers.length,
    rowMembers,
    colMembers,
    rowTokens: rowMembers.map((members) => groupLabel(map.queries, members)),
    colTokens: colMembers.map((members) => groupLabel(map.keys, members)),
    ...allowedGroups(map, choice, rowMembers, colMembers),
    missing: isMaximum ? null : missing,
    hidden,
    title: aggregationTitle(map, choice, {
      merged: rowMembers.length + colMembers.length < tokensIn(rowMembers) + tokensIn(colMembers),
      hides: from === null && (rowMembers.length < rowGroups.length || colMembers.length < colGroups.length),
      between: from === null ? "" : String(choice.between),
    }),
    rowSide: map.queries,
    colSide: map.keys,
  };
}

/** Whether rows and columns are tokens of a pair of texts. @param {AttentionMap} map */
export const hasParts = (map) => map.queries.parts.length > 0 && map.keys.parts.length > 0;

/** "AB" -> the first text of a pair and the second; nulls: everything. @param {AttentionMap} map @param {string|undefined} between @returns {(number|null)[]} */
function partsOf(map, between) {
  if (!hasParts(map) || !/^[AB]{2}$/.test(between ?? "")) return [null, null];
  return Array.from(String(between), (part) => "AB".indexOf(part));
}

/** @param {number[][]} groups */
const tokensIn = (groups) => groups.reduce((count, group) => count + group.length, 0);

/**
 * Weights of words: summed over the keys of a word, averaged over its queries, so that rows sum to what they did.
 * @param {ArrayLike<number>} whole @param {number} K @param {number[][]} rowMembers @param {number[][]} colMembers
 */
export function mergeGroups(whole, K, rowMembers, colMembers) {
  const data = new Float32Array(rowMembers.length * colMembers.length);
  const missing = new Float32Array(rowMembers.length);
  const hidden = new Float32Array(rowMembers.length);
  rowMembers.forEach((queries, row) => {
    let total = 0;
    for (const query of queries) for (let key = 0; key < K; key++) total += whole[query * K + key];
    let shown = 0;
    colMembers.forEach((keys, col) => {
      let sum = 0;
      for (const query of queries) for (const key of keys) sum += whole[query * K + key];
      data[row * colMembers.length + col] = sum / queries.length;
      shown += sum;
    });
    missing[row] = 1 - total / queries.length;
    hidden[row] = (total - shown) / queries.length;
  });
  return { data, missing, hidden };
}

/**
 * A pair of words is allowed where any pair of their tokens is.
 * @param {AttentionMap} map @param {Choice} choice @param {number[][]} rowMembers @param {number[][]} colMembers
 */
function allowedGroups(map, choice, rowMembers, colMembers) {
  if (map.allowedBits === null) return {};
  const pairs = allowedPairs(map, choice.layer, choice.head);
  if (pairs.every(Boolean)) return {};
  const allowed = new Uint8Array(rowMembers.length * colMembers.length);
  rowMembers.forEach((queries, row) =>
    colMembers.forEach((keys, col) => {
      allowed[row * colMembers.length + col] = Number(queries.some((q) => keys.some((k) => pairs[q * map.K + k])));
    }),
  );
  return { allowed };
}

/**
 * “cross-attention · layer 2 · mean over 8 heads · words: sum over keys, mean over queries”
 * @param {AttentionMap} map @param {Choice} choice @param {{merged: boolean, hides: boolean, between?: string}} done
 */
export function aggregationTitle(map, choice, { merged, hides, between }) {
  const parts = [map.kind];
  if (map.L > 1) parts.push(placeTitle(choice.layer, map.layers, "layer"));
  if (map.H > 1) parts.push(placeTitle(choice.head, headNames(map.H), "head"));
  if (between) parts.push(t("from text {first} to text {second}, weights as they were", { first: between[0], second: between[1] }));
  if (merged) parts.push(caption(captions.words));
  if (hides) parts.push(t("special tokens hidden, weights as they were"));
  return parts.join(" · ");
}

/** @param {Chosen|"auto"} chosen @param {string[]} names @param {"layer"|"head"} axis */
function placeTitle(chosen, names, axis) {
  if (typeof chosen === "number") return names[Math.min(chosen, names.length - 1)];
  return caption(captions[chosen === "max" ? "max" : "mean"][axis], { n: names.length });
}
