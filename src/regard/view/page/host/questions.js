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

/** How far an answer is: share from 0 to 1, or null where nobody knows. @typedef {{share: number|null, left: number|null}} Progress */

/**
 * @param {Pick<Model, "send"|"on"|"off">} model
 * @param {(waiting: number, progress: Progress|null) => void} [tell] how many questions wait, and how far the oldest is
 */
export function createAsk(model, tell = () => {}) {
  /** @type {Map<number, {resolve: (answer: any) => void, reject: (error: Error) => void, progress: Progress|null}>} */
  const waiting = new Map();
  let last = 0;
  const changed = () => tell(waiting.size, waiting.values().next().value?.progress ?? null);
  /** @param {any} message */
  const hear = (message) => {
    const question = waiting.get(message?.id);
    if (!question) return;
    if (message.progress) {
      question.progress = message.progress;
      return changed();
    }
    waiting.delete(message.id);
    changed();
    if (message.error !== undefined) question.reject(new Error(String(message.error?.message ?? message.error)));
    else question.resolve(message.answer);
  };
  model.on("msg:custom", hear);
  return {
    /** @param {string} kind @param {object} payload @returns {Promise<any>} */
    ask: (kind, payload) =>
      new Promise((resolve, reject) => {
        last += 1;
        waiting.set(last, { resolve, reject, progress: null });
        changed();
        model.send({ id: last, kind, payload, language: spoken() });
      }),
    /** Nobody wants the answers any more; only a host that has the ability "stop" is told. */
    stopAll: () => {
      for (const id of waiting.keys()) model.send({ id, kind: "stop", payload: {} });
    },
    stop: () => model.off("msg:custom", hear),
  };
}
