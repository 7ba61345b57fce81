// From the scores of one query to its weights, again, by the formulas of the normalisers.

import { t } from "../../words/messages.js";

/**
 * @typedef {object} QueryRow  one query of one layer and head; null: was not kept
 * @property {Float32Array | null} scores
 * @property {boolean[]} allowed
 * @property {Float32Array | null} factor
 * @property {Float32Array} weights as recorded
 * @property {Float32Array[] | null} [values] of each key
 * @property {Float32Array|null} [asking] the vector of the query, scaled
 * @property {Float32Array[]|null} [keys] the vector of each key
 * @property {Float32Array|null} [vector] v of an additive score
 * @property {string} normalizer "softmax", "softmax(temperature=2)", "sparsemax", …
 */

/**
 * "softmax(temperature=2)" -> { name: "softmax", temperature: 2 }. A Gumbel softmax draws no noise
 * in evaluation: it is a softmax then, or (straight through) its largest key.
 * @param {string} normalizer
 */
export function parseNormalizer(normalizer) {
  const written = (/^[a-z-]+/i.exec(normalizer) || [""])[0].toLowerCase();
  const quiet = /straight_through=true/.test(normalizer) ? "hard" : "softmax";
  const temperature = /temperature\s*=\s*([\d.eE+-]+)/.exec(normalizer);
  return { name: written === "gumbel" ? quiet : written, temperature: temperature ? Number(temperature[1]) : 1 };
}

/**
 * e = exp((s − max s) / τ) where allowed, else 0.
 * @param {Float32Array} scores @param {boolean[]} allowed @param {number} temperature
 */
export function exponentials(scores, allowed, temperature) {
  let highest = -Infinity;
  scores.forEach((score, at) => allowed[at] && (highest = Math.max(highest, score)));
  return Array.from(scores, (score, at) =>
    allowed[at] ? Math.exp((score - highest) / temperature) : 0,
  );
}

/**
 * The weights that the scores lead to; null where this page does not know the normaliser.
 * @param {QueryRow} row
 */
export function recomputedWeights(row) {
  const { scores, allowed } = row;
  const { name, temperature } = parseNormalizer(row.normalizer);
  if (name === "uniform") return sharesOf(allowed.map(Number));
  if (!scores) return null;
  const open = Array.from(scores, (score, at) => (allowed[at] ? score : -Infinity));
  if (name === "softmax") return sharesOf(exponentials(scores, allowed, temperature));
  if (name === "sparsemax") return sparsemax(open);
  if (name === "raw") return open.map((score) => (score === -Infinity ? 0 : score));
  if (name === "hard") {
    const best = open.indexOf(Math.max(...open));
    return open.map((score, at) => Number(at === best && score !== -Infinity));
  }
  return null;
}

/** @param {number[]} numbers */
function sharesOf(numbers) {
  const sum = numbers.reduce((a, b) => a + b, 0);
  return numbers.map((x) => (sum ? x / sum : 0));
}

/** The point of the simplex nearest to the scores. @param {number[]} scores */
function sparsemax(scores) {
  const ordered = scores.filter((x) => x !== -Infinity).sort((a, b) => b - a);
  let total = 0;
  let threshold = 0;
  ordered.forEach((score, at) => {
    total += score;
    if (1 + (at + 1) * score > total) threshold = (total - 1) / (at + 1);
  });
  return scores.map((score) => Math.max(score - threshold, 0));
}

/**
 * One line: do the recorded weights follow from the scores?
 * @param {QueryRow} row
 * @returns {{agrees: boolean | null, text: string}} null: cannot be said
 */
export function checkWeights(row) {
  const again = recomputedWeights(row);
  const sum = row.weights.reduce((a, b) => a + b, 0);
  if (!again) return { agrees: null, text: uncheckedNote(row, sum) };
  const { factor } = row;
  const factored = factor ? again.map((x, at) => x * factor[at]) : again;
  const whole = factored.reduce((a, b) => a + b, 0);
  const ways = [
    { made: factored, words: "" },
    // a predicted window may be renormalised; a sink takes the same share of every key
    { made: factored.map((x) => (whole ? (x * sum) / whole : 0)), words: missingNote(sum) },
  ];
  for (const { made, words } of ways) {
    const off = Math.max(0, ...made.map((x, at) => Math.abs(x - row.weights[at])));
    if (off < 2e-3) {
      const said = off < 5e-5
        ? t("Recomputed here from the scores: agrees with the recorded weights to four decimals.")
        : t("Recomputed here from the scores: agrees with the recorded weights within {off}.", { off: off.toFixed(4) });
      return { agrees: true, text: said + words };
    }
  }
  const off = Math.max(...factored.map((x, at) => Math.abs(x - row.weights[at])));
  return {
    agrees: false,
    text: t("Recomputed here from the scores, the weights differ by up to {off}: something else took part (dropout, a bias, a forced weight).", { off: off.toFixed(3) }),
  };
}

/** @param {number} sum */
function missingNote(sum) {
  return Math.abs(1 - sum) < 1e-3 ? "" : ` ${t("The keys share {sum}; the missing {rest} went to a sink.", { sum: sum.toFixed(3), rest: (1 - sum).toFixed(3) })}`;
}

/** @param {QueryRow} row @param {number} sum */
function uncheckedNote(row, sum) {
  const why = row.scores
    ? row.normalizer
      ? t("“{normalizer}” is not recomputed on this page", { normalizer: row.normalizer })
      : t("the record does not name the normaliser")
    : t("the scores were not kept in this record");
  const values = { why, sum: sum.toFixed(3), rest: (1 - sum).toFixed(3) };
  return Math.abs(1 - sum) < 1e-3
    ? t("Not checked: {why}. The weights sum to {sum}.", { why, sum: values.sum })
    : t("Not checked: {why}. The weights sum to {sum} ({rest} is missing to 1).", values);
}
