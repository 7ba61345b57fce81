// A picture and how it was looked at as a part of an exported figure: the step, or the warp, that is on the screen.

import { s } from "../elements/dom.js";
import { believed, shareIn, stepIn, warpIn } from "../record/sight.js";
import { weightText } from "../record/levels.js";
import { t } from "../words/messages.js";
import { glimpseFrame, glimpseMarks, INKS, pictured, pictureFrame, warpMarks, windowFrame, windowMarks } from "./sight_marks.js";

/** @typedef {import("../record/sight.js").Still} Still */
/** @typedef {import("./svg_figure.js").Paper} Paper */
/** @typedef {{width: number, height: number, nodes: any}} Part */

const [GAP, SMALL, LINE, BAR] = [24, 112, 22, 150];

/**
 * @param {import("./view.js").View & {sight: import("../record/sight.js").Sight}} view
 * @param {Paper} paper @param {(text: string) => number} measure @returns {Part}
 */
export function sightFigure({ sight, state }, paper, measure) {
  if (sight.kind === "warp") {
    const warp = sight.warps[warpIn(sight, state)];
    const frame = pictureFrame(sight.image);
    return row([
      named(drawn(sight.image, frame, warpMarks(warp, frame, shareIn(state))), t("the picture, and where it is read"), paper),
      named(drawn(warp.image, pictureFrame(warp.image), null), t("what is seen"), paper),
    ]);
  }
  const now = stepIn(sight, state);
  const { beliefs } = sight.steps[now];
  const bars = beliefs.length ? [beliefPart(sight.labels, beliefs, paper, measure)] : [];
  const count = t("{n} of {count}", { n: now + 1, count: sight.steps.length });
  if (sight.kind === "glimpses") {
    const frame = glimpseFrame(sight);
    const seen = sight.steps[now].seen.map((image, n) => named(drawn(image, pictureFrame(image, SMALL), null), t("{n} × {n} pixels", { n: sight.widths[n] }), paper));
    const beside = column([...seen]);
    return row([named(drawn(sight.image, frame, glimpseMarks(sight, frame, now)), count, paper), ...(seen.length ? [beside] : []), ...bars]);
  }
  const { canvas, read, write } = sight.steps[now];
  const windows = sight.steps.flatMap((step) => [step.read, step.write]);
  const parts = [];
  if (sight.image) {
    const frame = windowFrame(sight.image, windows);
    parts.push(named(drawn(sight.image, frame, read && windowMarks(read, frame, INKS.read)), t("the picture, and what is read of it"), paper));
  }
  if (canvas) {
    const frame = windowFrame(canvas, windows);
    parts.push(named(drawn(canvas, frame, write && windowMarks(write, frame, INKS.write)), `${t("the canvas, and where it is written")} · ${count}`, paper));
  }
  return row([...parts, ...bars]);
}

/** @param {Still} image @param {import("./sight_marks.js").Frame} frame @param {any} marks @returns {Part} */
function drawn(image, frame, marks) {
  const [width, height] = [frame.width * frame.zoom, frame.height * frame.zoom];
  return { width, height, nodes: pictured(image, frame, marks, { width, height, overflow: "hidden" }) };
}

/** @param {Part} part @param {string} text @param {Paper} paper @returns {Part} */
function named(part, text, paper) {
  const below = s("text", { x: 0, y: part.height + 17, "font-size": 13, fill: paper.soft }, text);
  return { width: part.width, height: part.height + 22, nodes: [part.nodes, below] };
}

/** @param {Part[]} parts @returns {Part} */
function row(parts) {
  let width = 0;
  const nodes = parts.map((part) => {
    const node = s("g", { transform: `translate(${width.toFixed(1)} 0)` }, part.nodes);
    width += part.width + GAP;
    return node;
  });
  return { width: width - GAP, height: Math.max(...parts.map((part) => part.height)), nodes };
}

/** @param {Part[]} parts @returns {Part} */
function column(parts) {
  let height = 0;
  const nodes = parts.map((part) => {
    const node = s("g", { transform: `translate(0 ${height.toFixed(1)})` }, part.nodes);
    height += part.height + 10;
    return node;
  });
  return { width: Math.max(...parts.map((part) => part.width), 0), height: height - 10, nodes };
}

/** @param {string[]} labels @param {number[]} beliefs @param {Paper} paper @param {(text: string) => number} measure @returns {Part} */
function beliefPart(labels, beliefs, paper, measure) {
  const shown = believed(labels, beliefs);
  const left = Math.max(...shown.map(({ label }) => measure(label))) + 10;
  const nodes = shown.map(({ label, belief, best }, n) => {
    const y = n * LINE;
    const weight = best ? 650 : null;
    return [
      s("text", { x: left - 10, y: y + 14, "text-anchor": "end", "font-size": 13, "font-weight": weight, fill: paper.ink }, label),
      s("rect", { x: left, y: y + 3, width: BAR, height: 13, rx: 3, fill: paper.track }),
      s("rect", { x: left, y: y + 3, width: BAR * Math.min(Math.max(belief, 0), 1), height: 13, rx: 3, fill: paper.line, "fill-opacity": best ? 1 : 0.55 }),
      s("text", { x: left + BAR + 8, y: y + 14, "font-size": 12, fill: paper.soft }, weightText(belief)),
    ];
  });
  return { width: left + BAR + 50, height: shown.length * LINE, nodes };
}
