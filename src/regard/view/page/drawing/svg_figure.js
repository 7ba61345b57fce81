// A document at two levels, or a picture that was looked at, as one SVG picture.

import { penOf, s } from "../elements/dom.js";
import { levelsFigure } from "./levels_figure.js";
import { sightFigure } from "./sight_figure.js";
import { placeholderName } from "./view.js";

/** @typedef {import("./view.js").View} View */
/** @typedef {typeof PAPER.light} Paper */

const MARGIN = 32;
const FONT = "system-ui, 'Noto Sans', 'Noto Sans CJK SC', sans-serif";
const PAPER = {
  light: { ground: "#fbfbf9", ink: "#1b1e25", soft: "#626875", hatch: "#b3b6bd", line: "#2f62b0", track: "#ececea" },
  dark: { ground: "#14161b", ink: "#e9ebf0", soft: "#9aa1b0", hatch: "#4d535f", line: "#8fb6f5", track: "#24272e" },
};

/**
 * @param {import("./view.js").View} view
 * @returns {SVGElement} with its width and height
 */
export function figureOf(view) {
  const paper = PAPER[view.theme];
  const captions = captionsOf(view, paper);
  const parts = [captions, ...figureParts(view, paper)];
  const inner = Math.ceil(Math.max(...parts.map((part) => part.width)));
  const width = inner + 2 * MARGIN;
  let height = MARGIN;
  const stacked = parts.map((part) => {
    const left = part === captions ? MARGIN : MARGIN + (inner - part.width) / 2;
    const node = s("g", { transform: `translate(${left.toFixed(1)} ${height.toFixed(1)})` }, part.nodes);
    height += part.height + 30;
    return node;
  });
  height = Math.ceil(height - 30 + MARGIN);
  return s(
    "svg",
    { width, height, viewBox: `0 0 ${width} ${height}`, "font-family": FONT, "font-size": 14 },
    s("title", null, captionText(view)),
    s("rect", { width, height, fill: paper.ground }),
    stacked,
  );
}

/** @param {View} view @param {Paper} paper */
function figureParts(view, paper) {
  const { levels, sight } = view;
  if (sight) return [sightFigure({ ...view, sight }, paper, penWidth(13))];
  if (levels) return [levelsFigure({ ...view, levels }, paper, penWidth(15))];
  throw new Error("a map is drawn by sheets/sheet_figure.js");
}

/** @param {View} view */
const captionText = (view) => [view.record.model, placeholderName(view) || view.matrix.title].filter(Boolean).join(" · ");

/** @param {View} view @param {Paper} paper */
function captionsOf(view, paper) {
  /** @type {[string, number, string][]} */
  const all = [
    [view.levels ? "" : view.record.title, 15, paper.soft], // a document is drawn below
    [view.record.output, 20, paper.ink],
    [captionText(view), 12.5, paper.soft],
    [(view.levels ?? view.map).mechanism, 12.5, paper.soft],
  ];
  const lines = all.filter(([text]) => text);
  let bottom = 0;
  const nodes = lines.map(([text, size, fill]) => {
    bottom += size * 1.5;
    return s("text", { x: 0, y: bottom - size * 0.4, "font-size": size, fill }, text);
  });
  return { width: Math.max(...lines.map(([text, size]) => penWidth(size)(text)), 0), height: bottom, nodes };
}

/** @param {number} size */
function penWidth(size) {
  const pen = penOf(document.createElement("canvas"));
  pen.font = `${size}px ${FONT}`;
  return (/** @type {string} */ text) => pen.measureText(text).width;
}
