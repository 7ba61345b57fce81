// Questions to the host: each has a number, and its answer comes back with it.

import { spoken } from "../words/messages.js";

/**
 * What the page lives in, in anywidget's shape.
 * @typedef {object} Model
 * @property {(name: string) => any} get
 * @property {(name: string, value: any) => void} set
 * @property {() => void} save_changes
 * @property {(message: any) => void} send
 * @property {(event: string, listener: (message?: any) => void) => void} on
 * @property {(event: string, listener: (message?: any) => void) => void} off
 */

/** What an error says. @param {unknown} error */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/** @param {Pick<Model, "send"|"on"|"off">} model */
export function createAsk(model) {
  /** @type {Map<number, {resolve: (answer: any) => void, reject: (error: Error) => void}>} */
  const waiting = new Map();
  let last = 0;
  /** @param {any} message */
  const hear = (message) => {
    const question = waiting.get(message?.id);
    if (!question) return;
    waiting.delete(message.id);
    if (message.error !== undefined) question.reject(new Error(String(message.error?.message ?? message.error)));
    else question.resolve(message.answer);
  };
  model.on("msg:custom", hear);
  return {
    /** @param {string} kind @param {object} payload @returns {Promise<any>} */
    ask: (kind, payload) =>
      new Promise((resolve, reject) => {
        last += 1;
        waiting.set(last, { resolve, reject });
        model.send({ id: last, kind, payload, language: spoken() });
      }),
    stop: () => model.off("msg:custom", hear),
  };
}
