// What one side makes of the other’s output: it is told what to write, so that both have the same rows.

import { messageOf } from "../../host/questions.js";

/** @typedef {import("../panel_parts.js").PanelContext} PanelContext */
/** @typedef {import("../../record/record.js").AttentionRecord} AttentionRecord */

/** @typedef {{record?: AttentionRecord, error?: string, waiting?: boolean}} Scored of what was asked, the answer that there is */

export class ScoredOutputs {
  /** @param {() => void} heard is called when there is another answer */
  constructor(heard) {
    this.heard = heard;
    /** @type {Map<string, Scored>} */
    this.answers = new Map();
  }

  /**
   * The record of the same question with this output given; asked for where it is not known yet.
   * @param {PanelContext} context @param {AttentionRecord} record @param {string} output @returns {Scored}
   */
  of(context, record, output) {
    if (record.output === output) return { record };
    const key = scoredKey(record, output);
    const known = knownRecord(context, key);
    if (known) return { record: known };
    if (!context.abilities.has("ask")) return {};
    const answer = this.answers.get(key);
    if (answer) return answer;
    this.answers.set(key, { waiting: true });
    context.look(scoringQuestion(context, record, output)).then(
      (found) => this.answer(key, { record: found }),
      (error) => this.answer(key, { error: messageOf(error) }),
    );
    return { waiting: true };
  }

  /** @param {string} key @param {Scored} answer */
  answer(key, answer) {
    this.answers.set(key, answer);
    this.heard();
  }
}

/** @param {PanelContext} context @param {string} key */
function knownRecord({ records, scored }, key) {
  return [...records, ...scored].find((each) => scoredKey(each, each.question.target) === key);
}

/** @param {PanelContext} context @param {AttentionRecord} record @param {string} output */
function scoringQuestion(context, record, output) {
  return { force: null, off: [], ...context.questionOf(record), prefix: "", target: output, explain: false };
}

/** Whether a record is of an output that can be given to another. @param {AttentionRecord} record */
export function canBeScored(record) {
  return Boolean(record.output && record.question.text && record.sides.target && record.maps.some((map) => map.name === "cross" && !map.keys.picture));
}

/** log p of the output, where the record tells it. @param {AttentionRecord|undefined} record */
export function logProbability(record) {
  return record?.beam?.nodes.find((node) => node.rank === 0)?.total ?? null;
}

/** @param {AttentionRecord} record @param {unknown} output */
function scoredKey({ model, question }, output) {
  return JSON.stringify([model, question.text, output ?? null, question.force ?? null, question.off ?? []]);
}
