// What a record was before something in it was changed: another record of the same model and text, with fewer changes.

/** @typedef {import("../../record/record.js").AttentionRecord} AttentionRecord */

/** @typedef {"continued"|"forced"|"without"} How what was changed */

/**
 * @param {AttentionRecord[]} records @param {AttentionRecord} record
 * @returns {{how: How, record: AttentionRecord}|null} that with the most of its changes; null where there is none
 */
export function beforeChange(records, record) {
  /** @param {AttentionRecord} each */
  const isBefore = (each) => each.model === record.model && each.question.text === record.question.text && each.changes.length < record.changes.length;
  const found = records.filter(isBefore).sort((a, b) => b.changes.length - a.changes.length)[0];
  if (!found) return null;
  /** @param {"force"|"off"} part */
  const differs = (part) => JSON.stringify(found.question[part] ?? null) !== JSON.stringify(record.question[part] ?? null);
  return { how: differs("force") ? "forced" : differs("off") ? "without" : "continued", record: found };
}
