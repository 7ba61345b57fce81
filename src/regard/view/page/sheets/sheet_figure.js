// A sheet as one SVG: its heading, then its sections from top to bottom. The commands draw the same: regard/view/sheets.

import { s } from "../elements/dom.js";
import { t } from "../words/messages.js";
import { drawCells, drawLines, drawScale } from "./sheet_cells.js";
import { drawOverlayScale, drawPanels } from "./sheet_panels.js";
import { below, beside, EM, FONT, lengthOf, paperOf, shownText, wrapped, write } from "./sheet_paper.js";
import { drawTable } from "./sheet_table.js";
import { drawTree } from "./sheet_tree.js";

/** @typedef {import("./sheet_paper.js").Paper} Paper */
/** @typedef {import("./sheet_paper.js").Part} Part */
/** @typedef {import("./sheet_cells.js").SheetMatrix} SheetMatrix */

/**
 * @typedef {{words: string, heading?: boolean}} SheetWords
 * @typedef {{map: SheetMatrix, full: number, signed?: boolean, title?: string, name?: string, rows?: ArrayLike<number>, lines?: boolean}} ColourMap
 * @typedef {{table: import("./sheet_table.js").NumberTable}} SheetTable
 * @typedef {{tree: import("./sheet_tree.js").SearchTree}} SheetTree
 * @typedef {{pictures: import("./sheet_panels.js").LitPictures}} SheetPictures
 * @typedef {SheetWords|ColourMap|SheetTable|SheetTree|SheetPictures} Block
 */

/**
 * small: lines under the heading. sections: from top to bottom, each a row of blocks. said: the whole in a few words
 * @typedef {{heading: string, small: string[], sections: Block[][], languages: [string, string], said?: string}} Sheet
 */

const [MARGIN, NARROWEST, TITLE, SMALL, BOLD] = [20, 300, 15, 11, 1.15];
const WHOLE = 8; // lines of what says how the picture came about: it is not cut off
const [HEADING, TEXT, NAME, LINE, APART] = [14, 12, 12, 90, 18];

/** @param {Sheet} sheet @param {"light"|"dark"} theme @returns {SVGSVGElement} */
export function drawSheet(sheet, theme) {
  const paper = paperOf(theme);
  const sections = sheet.sections.map((blocks) => beside(drawRow(blocks, paper)));
  const alone = sections.length === 1 && "map" in sheet.sections[0][0]; // the picture of a map, as the commands draw it
  const whole = titled(sheet, alone ? sections[0] : below(sections, APART), paper);
  const [width, height] = [whole.width, whole.height].map((size) => Math.ceil(Number((size + 2 * MARGIN).toFixed(3))));
  const said = sheet.said ?? [sheet.heading, sheet.small[sheet.small.length - 1]].filter(Boolean).join(": ");
  return s(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "font-family": FONT },
    s("title", null, t("attention. {what}", { what: shownText(said) })),
    s("rect", { width, height, fill: paper.ground }),
    s("g", { transform: `translate(${MARGIN.toFixed(1)} ${MARGIN})` }, whole.nodes),
  );
}

/** @param {Sheet} sheet @param {Part} part @param {Paper} paper @returns {Part} */
function titled({ heading, small, languages }, part, paper) {
  let width = Math.max(part.width, NARROWEST);
  let y = 0;
  /** @type {any[]} */
  const lines = [];
  [heading, ...small].forEach((text, n) => {
    if (!text || (n && text === heading)) return;
    const size = n === 0 ? TITLE : SMALL + (n === 1 ? 2 : 0);
    for (const line of wrapped(text, Math.floor(width / (size * EM * (n ? 1 : BOLD))), n ? WHOLE : 2)) {
      y += size * 1.45;
      const shown = line.endsWith(" ·") ? line.slice(0, -2) : line; // what comes after the dot is in the next line
      lines.push(write(shown, 0, y, { size, fill: n < 2 ? paper.ink : paper.muted, language: languages[Math.min(n, 1)], weight: n ? null : 600 }));
      width = Math.max(width, lengthOf(line, size));
    }
  });
  const top = y + 20;
  return { width, height: top + part.height, nodes: [lines, s("g", { transform: `translate(0 ${top.toFixed(1)})` }, part.nodes)] };
}

/** Titles that need fewer lines than others get as many, so that what is below them is level. @param {Block[]} blocks @param {Paper} paper */
function drawRow(blocks, paper) {
  const first = blocks.map((block) => drawBlock(block, paper));
  if (blocks.filter((block) => "map" in block || "table" in block).length < 2) return first;
  const lines = Math.max(...blocks.map((block, n) => titleLines(block, first[n].width).length));
  return blocks.map((block) => drawBlock(block, paper, lines));
}

/** @param {Block} block @param {number} width */
function titleLines(block, width) {
  const title = "map" in block ? block.title : "table" in block ? block.table.title : "";
  return title ? wrapped(title, Math.max(Math.floor(width / (NAME * EM)), 40)) : [];
}

/** @param {Block} block @param {Paper} paper @param {number} lines that the title takes at least @returns {Part} */
function drawBlock(block, paper, lines = 0) {
  if ("words" in block) {
    return block.heading ? textLines([block.words], HEADING, paper.ink, 600) : textLines(wrapped(block.words, LINE, 4), TEXT, paper.muted);
  }
  if ("tree" in block) return drawTree(block.tree, paper);
  if ("pictures" in block) return below([drawPanels(block.pictures, paper), drawOverlayScale(paper)]);
  if ("table" in block) {
    const parts = [drawTable(block.table, paper)];
    if (block.table.signedFull) parts.push(drawScale(null, { full: block.table.signedFull, signed: true, paper }, t("strips")));
    if (block.table.shades) parts.push(drawScale(null, { full: 1, signed: false, paper }, block.table.shades));
    return named(block, parts, paper, lines);
  }
  const scale = { full: block.full || 1, signed: block.signed ?? false, paper, rows: block.rows };
  if (block.lines) return block.map.heads ? below([drawLines(block.map, scale), drawScale(block.map, scale)]) : drawLines(block.map, scale);
  return named(block, [drawCells(block.map, scale), drawScale(block.map, scale, block.name)], paper, lines);
}

/** @param {Block} block @param {Part[]} parts @param {Paper} paper @param {number} lines */
function named(block, parts, paper, lines) {
  const texts = titleLines(block, Math.max(...parts.map((part) => part.width)));
  while (texts.length < lines) texts.push("");
  return below(texts.length ? [textLines(texts, NAME, paper.ink), ...parts] : parts, texts.length || "table" in block ? 12 : 16);
}

/** @param {string[]} texts @param {number} size @param {string} fill @param {number|null} weight @returns {Part} */
function textLines(texts, size, fill, weight = null) {
  const nodes = texts.map((text, n) => text && write(text, 0, size * (1 + 1.4 * n), { size, fill, weight }));
  return { width: Math.max(0, ...texts.map((text) => lengthOf(text, size))), height: size * (1.4 * texts.length - 0.1), nodes };
}
