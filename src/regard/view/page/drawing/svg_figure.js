// What is on the screen as one SVG picture, drawn by code from the same matrix.

import { columnAt, matrixImage, stripesOf } from "./painted_cells.js";
import { hexColour, inkOn } from "./colours.js";
import { penOf, s } from "../elements/dom.js";
import { levelsFigure } from "./levels_figure.js";
import { chooseLinks, curve, MOST_TOKENS_WITH_ALL_LINES } from "./link_lines.js";
import { sightFigure } from "./sight_figure.js";
import { colourOf, isAllowed, placeholderName, shortWeight, viewTitle, weightAt } from "./view.js";
import { t } from "../words/messages.js";

/** @typedef {import("./view.js").View} View */
/** @typedef {import("../stage/heatmap.js").Active} Active */

/** @typedef {import("./painted_cells.js").Cell} Cell */
/** @typedef {typeof PAPER.light} Paper */
/** @typedef {{x: number, y: number, width: number, height: number}} Box */
/** @typedef {{whole: number, boxes: {text: string, left: number, width: number}[]}} Line the words of a sentence, placed */

const MOST_RECTS = 128 * 128;
const MARGIN = 32;
const REST_WIDTH = 46;
const FONT = "system-ui, 'Noto Sans', 'Noto Sans CJK SC', sans-serif";
const PAPER = {
  light: { ground: "#fbfbf9", ink: "#1b1e25", soft: "#626875", hatch: "#b3b6bd", line: "#2f62b0", track: "#ececea" },
  dark: { ground: "#14161b", ink: "#e9ebf0", soft: "#9aa1b0", hatch: "#4d535f", line: "#8fb6f5", track: "#24272e" },
};

/**
 * @param {import("./view.js").View} view
 * @param {{row: number|null, col: number|null}} active
 * @returns {SVGElement} with its width and height
 */
export function figureOf(view, active) {
  const paper = PAPER[view.theme];
  const captions = captionsOf(view, paper);
  const parts = [captions, ...figureParts(view, active, paper)];
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

/** @param {View} view @param {Active} active @param {Paper} paper */
function figureParts(view, active, paper) {
  const { levels, sight, matrix } = view;
  if (sight) return [sightFigure({ ...view, sight }, paper, penWidth(13))];
  if (levels) return [levelsFigure({ ...view, levels }, paper, penWidth(15))];
  const long = Math.max(matrix.rows, matrix.cols) > MOST_TOKENS_WITH_ALL_LINES;
  const legend = view.heads.length ? [headsFigure(view, paper)] : [];
  return [...(long ? [] : [sentencesFigure(view, active, paper)]), cellsFigure(view, paper), ...legend];
}

/** @param {View} view */
const captionText = (view) => [view.record.model, placeholderName(view) || viewTitle(view)].filter(Boolean).join(" · ");

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

/** @param {View} view @param {Active} active @param {Paper} paper */
function sentencesFigure(view, active, paper) {
  const width = penWidth(15);
  /** @type {(texts: string[], rightToLeft: boolean) => Line} */
  const place = (texts, rightToLeft) => {
    let end = 0;
    const boxes = texts.map((text) => {
      const box = { text, left: end, width: width(text) + 14 };
      end += box.width + 4;
      return box;
    });
    const whole = end - 4;
    return {
      whole,
      boxes: boxes.map((box) => ({ ...box, left: rightToLeft ? whole - box.left - box.width : box.left })),
    };
  };
  const keys = place(view.matrix.colTokens, view.map.keys.rightToLeft);
  const queries = place(view.matrix.rowTokens, view.map.queries.rightToLeft);
  const whole = Math.max(keys.whole, queries.whole);
  /** @type {(line: Line, n: number) => number} */
  const centre = (line, n) => line.boxes[n].left + line.boxes[n].width / 2 + (whole - line.whole) / 2;
  /** @type {(line: Line, y: number, chosen: number|null) => any[]} */
  const words = (line, y, chosen) =>
    line.boxes.map((box, n) => [
      n === chosen && s(
        "rect",
        {
          x: centre(line, n) - box.width / 2,
          y: y - 18,
          width: box.width,
          height: 25,
          rx: 6,
          fill: "none",
          stroke: paper.line,
          "stroke-width": 1.8,
        },
      ),
      s("text", { x: centre(line, n), y, "text-anchor": "middle", "font-size": 15, fill: paper.ink }, box.text),
    ]);
  const links = chooseLinks(view, active).map(({ row, col, share, colour }) =>
    s(
      "path",
      {
        d: curve({ x: centre(queries, row), y: 127 }, { x: centre(keys, col), y: 28 }),
        fill: "none",
        stroke: colour ?? paper.line,
        "stroke-width": (0.8 + 3.2 * share).toFixed(2),
        "stroke-opacity": (0.08 + 0.7 * share).toFixed(3),
      },
    ),
  );
  return { width: whole, height: 156, nodes: [links, words(keys, 18, active.col), words(queries, 148, active.row)] };
}

/** @param {View} view @param {Paper} paper */
function cellsFigure(view, paper) {
  const { rows, cols, rowTokens, colTokens } = view.matrix;
  const cell = figureCell(Math.max(rows, cols));
  const size = Math.min(14, Math.max(cell.height - 1, 9));
  const widthOf = penWidth(size);
  /** @param {string[]} texts */
  const widest = (texts) => Math.max(...texts.map(widthOf), 0);
  const flat = widest(colTokens) + 6 <= cell.width;
  const [left, top] = [widest(rowTokens) + 12, flat ? 24 : widest(colTokens) + 12];
  const every = Math.max(Math.ceil(13 / cell.height), 1);
  const rowLabels = rowTokens.map((text, row) =>
    row % every === 0 && s(
      "text",
      {
        x: left - 8,
        y: top + (row + 0.5) * cell.height + size * 0.35,
        "text-anchor": "end",
        "font-size": size,
        fill: paper.ink,
      },
      text,
    ),
  );
  const colLabels = colTokens.map((text, col) => {
    const x = left + (columnAt(view, col) + 0.5) * cell.width;
    if (col % every) return null;
    if (flat) return s("text", { x, y: top - 8, "text-anchor": "middle", "font-size": size, fill: paper.ink }, text);
    return s(
      "text",
      { transform: `translate(${x + size * 0.35} ${top - 6}) rotate(-90)`, "font-size": size, fill: paper.ink },
      text,
    );
  });
  const cells = rows * cols * Math.max(view.heads.length, 1) <= MOST_RECTS || view.heads.length ? rectangles(view, cell, paper) : [pictureOfCells(view, cell)];
  const rest = view.rest ? restBars(view.rest, cell, paper) : null;
  return {
    width: left + cols * cell.width + (rest ? REST_WIDTH + 12 : 0),
    height: top + rows * cell.height,
    nodes: [
      rowLabels,
      colLabels,
      s("g", { transform: `translate(${left} ${top})` }, cells),
      rest && s("g", { transform: `translate(${left + cols * cell.width + 12} ${top})` }, rest),
    ],
  };
}

/** Which colour is which head. @param {View} view @param {Paper} paper */
function headsFigure({ heads }, paper) {
  const widthOf = penWidth(13);
  let x = 0;
  const nodes = heads.map(({ short, colour }) => {
    const at = x;
    x += 34 + widthOf(short) + 16;
    return [s("rect", { x: at, y: 2, width: 26, height: 12, rx: 3, fill: hexColour(colour) }), s("text", { x: at + 34, y: 13, "font-size": 13, fill: paper.ink }, short)];
  });
  return { width: x - 16, height: 18, nodes };
}

/**
 * For each row how much of it is not among the columns.
 * @param {Float32Array} shares @param {Cell} cell @param {Paper} paper
 */
function restBars(shares, cell, paper) {
  /** @param {number} share @param {number} row @param {string} fill */
  /** @type {(share: number, row: number, fill: string) => SVGElement} */
  const bar = (share, row, fill) => s(
    "rect",
    { x: 0, y: (row + 0.3) * cell.height, width: REST_WIDTH * share, height: cell.height * 0.4, fill },
  );
  const label = s("text", { x: 0, y: -8, "font-size": 12, fill: paper.soft }, t("rest"));
  return [
    label,
    ...[...shares].map((share, row) =>
      [bar(1, row, paper.track), bar(Math.min(Math.max(share, 0), 1), row, paper.soft)],
    ),
  ];
}

/** @param {number} longer */
function figureCell(longer) {
  const height = longer > 128 ? 2 : longer > 48 ? 9 : longer > 24 ? 18 : 36;
  return { width: longer > 24 ? height : 52, height };
}

/** @param {View} view @param {Cell} cell @param {Paper} paper */
function rectangles(view, cell, paper) {
  const gap = cell.height >= 16 ? 2 : 0;
  const nodes = [];
  for (let row = 0; row < view.matrix.rows; row++) {
    for (let col = 0; col < view.matrix.cols; col++) {
      const box = {
        x: columnAt(view, col) * cell.width + gap / 2,
        y: row * cell.height + gap / 2,
        width: cell.width - gap,
        height: cell.height - gap,
      };
      const weight = weightAt(view, row, col);
      if (!isAllowed(view, row, col)) {
        nodes.push(s("path", { d: hatchingOf(box), stroke: paper.hatch, "stroke-width": 0.8 }));
        continue;
      }
      if (view.heads.length) {
        nodes.push(...stripesOf(view, row, col, box.width).map(({ x, width, colour }) => s("rect", { ...box, x: box.x + x, width, fill: hexColour(colour) })));
        continue;
      }
      const colour = colourOf(view, row, weight);
      nodes.push(s("rect", { ...box, rx: gap ? 3 : null, fill: hexColour(colour) }));
      if (cell.width >= 30 && Math.abs(weight) >= 0.005) {
        nodes.push(s(
          "text",
          {
            x: box.x + box.width / 2,
            y: box.y + box.height / 2 + 4,
            "text-anchor": "middle",
            "font-size": 11,
            fill: inkOn(colour),
          },
          shortWeight(weight),
        ));
      }
    }
  }
  return nodes;
}

/** Slanted lines that fill a box: x + y = c, cut at its edges. @param {Box} box */
export function hatchingOf({ x, y, width, height }) {
  const lines = [];
  for (let c = 6; c < width + height; c += 6) {
    const [x1, y1] = c <= height ? [0, c] : [c - height, height];
    const [x2, y2] = c <= width ? [c, 0] : [width, c - width];
    lines.push(`M${x + x1} ${y + y1}L${x + x2} ${y + y2}`);
  }
  return lines.join("");
}

/** Many cells as one embedded picture; forbidden ones are left clear. @param {View} view @param {Cell} cell */
function pictureOfCells(view, cell) {
  const { rows, cols } = view.matrix;
  const canvas = document.createElement("canvas");
  canvas.width = cols;
  canvas.height = rows;
  penOf(canvas).putImageData(matrixImage(view), 0, 0);
  return s(
    "image",
    {
      href: canvas.toDataURL("image/png"),
      width: cols * cell.width,
      height: rows * cell.height,
      "image-rendering": "pixelated",
      preserveAspectRatio: "none",
    },
  );
}

/** @param {number} size */
function penWidth(size) {
  const pen = penOf(document.createElement("canvas"));
  pen.font = `${size}px ${FONT}`;
  return (/** @type {string} */ text) => pen.measureText(text).width;
}
