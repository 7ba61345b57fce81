// Questions to the host: each has a number, and its answer comes back with it.

/**
 * @param {object} model of anywidget's shape
 * @param {(message: object) => void} model.send
 * @param {(event: string, listener: Function) => void} model.on
 * @param {(event: string, listener: Function) => void} model.off
 */
export function createAsk(model) {
  const waiting = new Map();
  let last = 0;
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
        model.send({ id: last, kind, payload });
      }),
    stop: () => model.off("msg:custom", hear),
  };
}
