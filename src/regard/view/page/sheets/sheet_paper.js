// What exported pictures are drawn with: their colours, how wide text is, and text itself. As regard/view/stills/paper.py has it.

import palettes from "../../palettes.json" with { type: "json" };
import { diverging, luminance, overPicture, sequential } from "../drawing/colours.js";
import { s } from "../elements/dom.js";
import { visibleText } from "../record/token_words.js";

/** @typedef {import("../drawing/colours.js").Rgb} Rgb */
/** @typedef {{ground: string, ink: string, muted: string, rule: string, name: "light"|"dark"}} Paper */
/** @typedef {{width: number, height: number, nodes: any}} Part a drawing whose upper left corner is 0, 0 */

/**
 * @typedef {object} Scale
 * @property {number} full what the strongest colour stands for
 * @property {boolean} signed
 * @property {Paper} paper
 * @property {ArrayLike<number>} [rows] of each row, where each has its own
 */

export const FONT = "system-ui, 'Noto Sans', 'Noto Sans CJK SC', 'Noto Sans Arabic', 'Liberation Sans', Arial, sans-serif";
export const EM = 0.56; // of the size: about how wide half a Han character is, and a Latin one
const LONGEST = 26; // cells of a label; more is cut off with …
const [RTL_ISOLATE, END_ISOLATE] = ["\u2067", "\u2069"];
const WIDE = /[\u1100-\u115f\u231a\u231b\u23e9-\u23ec\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const NOTHING = /[\p{Mn}\p{Me}\p{Cf}]/u;
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}]|[^\S ]/u;

/** @param {"light"|"dark"} theme @returns {Paper} */
export function paperOf(theme) {
  return { ...palettes.paper[theme], name: theme };
}

/** @param {Scale} scale @param {number} weight @param {number} [row] @returns {Rgb} */
export function colourIn({ full, signed, paper, rows }, weight, row = 0) {
  const share = weight / ((rows ? rows[row] : full) || 1);
  return signed ? diverging(share, paper.name) : sequential(Math.abs(share), paper.name);
}

/** @param {ArrayLike<number>} rgb */
export function hexadecimal(rgb) {
  return `#${Array.from(rgb, (part) => part.toString(16).padStart(2, "0")).join("")}`;
}

/** Black or white, whichever has more contrast. @param {Rgb} ground */
export function inkFor(ground) {
  const light = luminance(ground);
  return (light + 0.05) / 0.05 >= 1.05 / (light + 0.05) ? "#000000" : "#ffffff";
}

/** The colour and opacity over a place of a picture. @param {number} share */
export function overlayOf(share) {
  const [red, green, blue, opacity] = overPicture(share);
  return { fill: hexadecimal([red, green, blue]), "fill-opacity": Math.round((1000 * opacity) / 255) / 1000 };
}

/** Cells that a text takes: 学 two, an accent none. @param {string} text */
export function cellsOf(text) {
  let cells = 0;
  for (const character of text) cells += NOTHING.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return cells;
}

/** About how many units text takes. @param {string} text @param {number} size */
export const lengthOf = (text, size) => cellsOf(text) * size * EM;

/** A text that hides nothing: blanks have signs, control characters are written as codes. @param {string} text */
export function shownText(text) {
  if (text.trim() === "") return visibleText(text);
  return Array.from(text, (character) => (HIDDEN.test(character) && !/[\u200c\u200d]/.test(character) ? codeOf(character) : character)).join("");
}

/** @param {string} character */
function codeOf(character) {
  const short = { "\n": "\\n", "\r": "\\r", "\t": "\\t" }[character];
  const code = /** @type {number} */ (character.codePointAt(0)).toString(16);
  return short ?? (code.length <= 2 ? `\\x${code.padStart(2, "0")}` : code.length <= 4 ? `\\u${code.padStart(4, "0")}` : `\\U${code.padStart(8, "0")}`);
}

/** At most so many cells, with an ellipsis for what is missing. @param {string} text @param {number} cells */
export function shorten(text, cells) {
  if (cellsOf(text) <= cells) return text;
  let kept = "";
  for (const character of text) {
    if (cellsOf(kept + character) >= cells) break;
    kept += character;
  }
  return `${kept}…`;
}

/** What is written for a token: one short line. @param {string} text */
export const labelOf = (text) => shorten(shownText(text), LONGEST);

/** The same for the title of a column, which may have none. @param {string} text */
export const titleLabel = (text) => (text === "" ? "" : labelOf(text));

/** Text in lines of at most `cells`, broken between words. @param {string} text @param {number} cells @param {number} [lines] */
export function wrapped(text, cells, lines = 2) {
  const found = [""];
  for (const word of (text === "" ? "" : shownText(text)).split(" ")) {
    const joined = `${found[found.length - 1]} ${word}`.trimStart();
    if (cellsOf(joined) <= cells) found[found.length - 1] = joined;
    else found.push(word);
  }
  const folded = found.flatMap((line) => foldedLine(line, cells, lines)).filter(Boolean);
  return folded.length <= lines ? folded : [...folded.slice(0, lines - 1), shorten(folded.slice(lines - 1).join(" "), cells)];
}

/** @param {string} line @param {number} cells @param {number} lines */
function foldedLine(line, cells, lines) {
  if (cellsOf(line) <= cells) return [line];
  const folded = [""];
  for (const character of line) {
    if (cellsOf(folded[folded.length - 1] + character) > cells && folded[folded.length - 1]) folded.push("");
    folded[folded.length - 1] += character;
  }
  return folded.length <= lines ? folded : [...folded.slice(0, lines - 1), shorten(folded.slice(lines - 1).join(""), cells)];
}

/** By its first letter. @param {string} text */
export function runsRightToLeft(text) {
  const letter = /[\p{L}]/u.exec(text);
  return letter !== null && /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u.test(letter[0]);
}

/**
 * @typedef {object} TextStyle
 * @property {number} size
 * @property {string} fill
 * @property {"start"|"middle"|"end"} [anchor]
 * @property {string} [language]
 * @property {number|null} [weight]
 * @property {number} [turned] degrees
 */

/** Text at a place. @param {string} text @param {number} x @param {number} y @param {TextStyle} style */
export function write(text, x, y, { size, fill, anchor = "start", language = "", weight = null, turned = 0 }) {
  const place = turned ? { transform: `translate(${fixed(x)} ${fixed(y)}) rotate(${turned})` } : { x: fixed(x), y: fixed(y) };
  const shown = runsRightToLeft(text) ? `${RTL_ISOLATE}${text}${END_ISOLATE}` : text;
  return s("text", { ...place, "font-size": size, "font-weight": weight, fill, "text-anchor": anchor === "start" ? null : anchor, lang: language || null }, shown);
}

/** @param {number} x @param {number} y @param {number} width @param {number} height @param {Record<string, any>} style */
export function rectangle(x, y, width, height, style) {
  return s("rect", { x: fixed(x), y: fixed(y), width: fixed(width), height: fixed(height), ...style });
}

/** A number with at most two decimals. @param {number} x */
export const fixed = (x) => Math.round(100 * x) / 100;

/** @param {Part[]} parts @param {number} gap @returns {Part} */
export function below(parts, gap = 16) {
  let y = 0;
  const nodes = parts.map((part) => {
    const node = s("g", { transform: `translate(0 ${y.toFixed(1)})` }, part.nodes);
    y += part.height + gap;
    return node;
  });
  return { width: Math.max(0, ...parts.map((part) => part.width)), height: y - gap, nodes };
}

/** @param {Part[]} parts @param {number} gap @returns {Part} */
export function beside(parts, gap = 36) {
  if (parts.length === 1) return parts[0];
  let x = 0;
  const nodes = parts.map((part) => {
    const node = s("g", { transform: `translate(${x.toFixed(1)} 0)` }, part.nodes);
    x += part.width + gap;
    return node;
  });
  return { width: x - gap, height: Math.max(0, ...parts.map((part) => part.height)), nodes };
}
