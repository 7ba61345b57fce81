// Where the arrow keys lead in a grid.

/**
 * @param {string} key of a keyboard event
 * @param {{row: number, col: number}} from
 * @param {{rows: number, cols: number, reversed?: boolean, whole?: boolean}} grid
 *   reversed: columns run from right to left; whole: Home and End lead to the corners
 * @returns {{row: number, col: number}|null} null: the key leads nowhere
 */
export function stepInGrid(key, from, { rows, cols, reversed = false, whole = false }) {
  const right = reversed ? -1 : 1;
  const to = {
    ArrowRight: { row: from.row, col: from.col + right },
    ArrowLeft: { row: from.row, col: from.col - right },
    ArrowDown: { row: from.row + 1, col: from.col },
    ArrowUp: { row: from.row - 1, col: from.col },
    Home: { row: whole ? 0 : from.row, col: 0 },
    End: { row: whole ? rows - 1 : from.row, col: cols - 1 },
    PageDown: { row: from.row + 10, col: from.col },
    PageUp: { row: from.row - 10, col: from.col },
  }[key];
  if (!to) return null;
  return { row: Math.min(Math.max(to.row, 0), rows - 1), col: Math.min(Math.max(to.col, 0), cols - 1) };
}
