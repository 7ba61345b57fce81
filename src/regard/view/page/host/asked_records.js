// Records by what was asked for them: the same question is asked once, so that Back and Forward are there at once.

import { plainQuestion, questionKey } from "./asked_questions.js";
import { readRecord } from "../record/record.js";
import { spoken } from "../words/messages.js";

/** @typedef {import("../record/record.js").AttentionRecord} AttentionRecord */
/** @typedef {import("./asked_questions.js").Question} Question */

const MOST_KEPT = 24;

export class AskedRecords {
  /**
   * @param {(kind: string, payload: object) => Promise<any>} ask
   * @param {string[]} models the first is asked where none is named
   */
  constructor(ask, models) {
    this.ask = ask;
    this.models = models;
    /** @type {Map<string, AttentionRecord>} */
    this.kept = new Map();
    /** @type {WeakMap<AttentionRecord, Question>} */
    this.questions = new WeakMap();
  }

  /** The record in another language; what was answered in the old one is asked again. @param {AttentionRecord} record */
  readAgain(record) {
    this.kept.clear();
    return this.changed(record, record.given);
  }

  /** What stands for a record from now on, as an answer to the same question. @param {AttentionRecord} record @param {import("../record/record.js").GivenRecord} given */
  changed(record, given) {
    const made = readRecord(given);
    this.questions.set(made, this.questionOf(record));
    return made;
  }

  /** The question with the name of its model. @param {Question} question @returns {Question} */
  named(question) {
    return plainQuestion({ ...question, model: question.model || this.models[0] });
  }

  /** What was asked for a record; of one that came with the page, what it says itself. @param {AttentionRecord} record */
  questionOf(record) {
    const model = this.models.includes(record.model) ? record.model : "";
    return this.questions.get(record) ?? this.named({ text: "", ...record.question, model });
  }

  /** Whether these records answer these questions. @param {AttentionRecord[]} records @param {Question[]} questions */
  are(records, questions) {
    return records.length === questions.length && records.every((each, place) => questionKey(this.questionOf(each)) === questionKey(this.named(questions[place])));
  }

  /**
   * @param {Question} asked @param {object} [how]
   * @param {AttentionRecord} [how.like] whose beam and details are wanted
   * @param {boolean} [how.fresh] asked again, whatever is known
   * @returns {Promise<AttentionRecord>}
   */
  async look(asked, { like, fresh = false } = {}) {
    const question = this.named(asked);
    const key = questionKey(question);
    const known = this.kept.get(key);
    if (known && !fresh) return known;
    const language = spoken();
    const answer = await this.ask("look", { ...settingsOf(like), ...question });
    if (spoken() !== language) return this.look(asked, { like, fresh }); // its notes and measures are in the old one
    const record = readRecord(answer);
    this.questions.set(record, question);
    this.kept.delete(key); // the newest is the last to go
    this.kept.set(key, record);
    if (this.kept.size > MOST_KEPT) this.kept.delete(this.kept.keys().next().value ?? "");
    return record;
  }
}

/** How a record was asked for, beside its question. @param {AttentionRecord|undefined} record */
function settingsOf(record) {
  const { beam, nbest, details } = record?.question ?? {};
  return Object.fromEntries(Object.entries({ beam, nbest, details }).filter(([, value]) => value !== null && value !== undefined));
}
