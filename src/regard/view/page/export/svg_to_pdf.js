// A figure of this page as PDF: shapes as shapes, what Helvetica has as letters, other scripts as fine pixels.
// What it does not know is drawn as pixels, the whole figure then. As regard/view/pdf/svg_to_pdf.py.

import widths from "../../pdf/helvetica.json" with { type: "json" };
import { h, penOf } from "../elements/dom.js";
import { PdfFile, textString } from "./pdf_file.js";

/** @typedef {(number|string)[]} Numbers */

const [POINT, KAPPA, ZOOM] = [0.75, 0.5523, 4];
const KNOWN = new Set(["svg", "g", "rect", "path", "circle", "line", "text", "image", "use", "defs", "title"]);
const MARKS = /[\u2067\u2069]/g; // they take no room
const WIN_ANSI = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ"; // from 0x80 on
/** @type {Record<string, number>} */
const ANCHORS = { middle: 0.5, end: 1 };

/** @param {SVGElement} figure @returns {Promise<Uint8Array<ArrayBuffer>>} */
export async function pdfOf(figure) {
  const [width, height] = [numberIn(figure, "width"), numberIn(figure, "height")];
  const all = [...figure.querySelectorAll("*")];
  const known = all.every((node) => KNOWN.has(node.tagName) && node.tagName !== "svg");
  const sheet = new PdfSheet(figure);
  if (known) for (const child of figure.children) await sheet.draw(child, 1);
  else sheet.put(await sheet.file.image(await pixelsOf(await pictureOf(figure), 3)), 0, 0, width, height);
  return sheet.finished(width, height, figure.querySelector("title")?.textContent ?? "");
}

/** The figure as an image that a canvas can draw. @param {SVGElement} figure */
export async function pictureOf(figure) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(figure))}`;
  await image.decode();
  return image;
}

class PdfSheet {
  /** @param {SVGElement} figure */
  constructor(figure) {
    this.figure = figure;
    this.file = new PdfFile();
    this.family = figure.getAttribute("font-family") ?? "sans-serif";
    /** @type {string[]} */
    this.operators = [];
    /** @type {Map<number, string>} object number → name */
    this.images = new Map();
    /** @type {Map<string, any>} what is drawn already */
    this.made = new Map();
    /** @type {Map<string, string>} */
    this.opacities = new Map();
  }

  /** @param {Element} node @param {number} opacity */
  async draw(node, opacity) {
    const tag = node.tagName;
    if (tag === "title" || tag === "defs") return;
    this.operators.push("q");
    for (const matrix of movesOf(node.getAttribute("transform") ?? "")) this.operators.push(`${written(...matrix)} cm`);
    const seen = opacity * numberIn(node, "opacity", 1);
    if (tag === "g") for (const child of node.children) await this.draw(child, seen);
    else if (tag === "use") {
      const wanted = this.figure.querySelector(`[id="${CSS.escape((node.getAttribute("href") ?? "").slice(1))}"]`);
      if (wanted) await this.draw(wanted, seen);
    } else if (tag === "text") await this.text(node, seen);
    else if (tag === "image") await this.image(node);
    else this.shape(tag, node, seen);
    this.operators.push("Q");
  }

  /** @param {string} tag @param {Element} node @param {number} opacity */
  shape(tag, node, opacity) {
    const [fill, stroke] = [inherited(node, "fill") ?? "#000000", inherited(node, "stroke") ?? "none"];
    const [filled, stroked] = [fill !== "none" && tag !== "line", stroke !== "none"];
    if (!filled && !stroked) return;
    this.opacity(opacity * numberIn(node, "fill-opacity", 1), opacity * numberIn(node, "stroke-opacity", 1));
    if (filled) this.operators.push(`${colourOf(fill)} rg`);
    if (stroked) {
      this.operators.push(`${colourOf(stroke)} RG ${numberIn(node, "stroke-width", 1)} w`);
      const dashes = node.getAttribute("stroke-dasharray");
      if (dashes) this.operators.push(`[${dashes.replaceAll(",", " ")}] 0 d`);
    }
    this.operators.push(...outlineOf(tag, node), filled && stroked ? "B" : filled ? "f" : "S");
  }

  /** @param {Element} node @param {number} opacity */
  async text(node, opacity) {
    const text = (node.textContent ?? "").replace(MARKS, "");
    if (!text) return;
    const [size, bold, fill] = [Number(inherited(node, "font-size") ?? 12), Number(inherited(node, "font-weight") ?? 400) >= 600, inherited(node, "fill") ?? "#000000"];
    const anchor = ANCHORS[inherited(node, "text-anchor") ?? ""] ?? 0;
    this.opacity(opacity, opacity);
    const [x, y, plain] = [numberIn(node, "x"), numberIn(node, "y"), asHelvetica(text)];
    if (plain === null) {
      const patch = await this.patch(text, size, bold, fill, node.getAttribute("lang") ?? "");
      this.put(patch.number, x + patch.left - anchor * patch.advance, y + patch.top, patch.width, patch.height);
      return;
    }
    const left = x - anchor * helveticaWidth(text, size, bold);
    const codes = plain.map((byte) => byte.toString(16).padStart(2, "0").toUpperCase()).join("");
    this.operators.push(`BT ${colourOf(fill)} rg /${bold ? "F2" : "F1"} ${size} Tf 1 0 0 -1 ${written(left, y)} Tm <${codes}> Tj ET`);
  }

  /** Letters as pixels, and where they are seen from the start of the baseline. @param {string} text @param {number} size @param {boolean} bold @param {string} fill @param {string} language */
  async patch(text, size, bold, fill, language) {
    const key = JSON.stringify([text, size, bold, fill, language]);
    if (!this.made.has(key)) {
      const canvas = h("canvas", { lang: language || null });
      const font = `${bold ? 600 : 400} ${size}px ${this.family}`;
      const pen = penOf(canvas);
      pen.font = font;
      const advance = pen.measureText(text).width;
      const [pad, width, height] = [size * 0.3, advance + size * 0.6, size * 1.7];
      Object.assign(canvas, { width: Math.ceil(width * ZOOM), height: Math.ceil(height * ZOOM) });
      pen.scale(ZOOM, ZOOM);
      Object.assign(pen, { font, fillStyle: fill });
      pen.fillText(text, pad, size * 1.2);
      const number = await this.file.image(pen.getImageData(0, 0, canvas.width, canvas.height));
      this.made.set(key, { number, advance, left: -pad, top: -size * 1.2, width: canvas.width / ZOOM, height: canvas.height / ZOOM });
    }
    return this.made.get(key);
  }

  /** @param {Element} node */
  async image(node) {
    const source = node.getAttribute("href") ?? "";
    if (!this.made.has(source)) {
      const image = new Image();
      image.src = source;
      await image.decode();
      this.made.set(source, await this.file.image(await pixelsOf(image, 1)));
    }
    this.put(this.made.get(source), numberIn(node, "x"), numberIn(node, "y"), numberIn(node, "width"), numberIn(node, "height"));
  }

  /** An image stands on its feet in a PDF, whose y points up. @param {number} number @param {number} x @param {number} y @param {number} width @param {number} height */
  put(number, x, y, width, height) {
    const name = this.images.get(number) ?? `I${this.images.size}`;
    this.images.set(number, name);
    this.operators.push(`q ${written(width, 0, 0, -height, x, y + height)} cm /${name} Do Q`);
  }

  /** @param {number} fill @param {number} stroke */
  opacity(fill, stroke) {
    if (fill === 1 && stroke === 1) return;
    const wanted = `/ca ${written(fill)} /CA ${written(stroke)}`;
    const name = this.opacities.get(wanted) ?? `G${this.opacities.size}`;
    this.opacities.set(wanted, name);
    this.operators.push(`/${name} gs`);
  }

  /** @param {number} width @param {number} height @param {string} title */
  async finished(width, height, title) {
    const { file } = this;
    const [across, up] = [width * POINT, height * POINT];
    const content = await file.stream("", new TextEncoder().encode([`${written(POINT, 0, 0, -POINT, 0, up)} cm`, ...this.operators].join("\n")));
    const fonts = [["F1", "Helvetica"], ["F2", "Helvetica-Bold"]].map(([name, family]) => `/${name} << /Type /Font /Subtype /Type1 /BaseFont /${family} /Encoding /WinAnsiEncoding >>`);
    const images = [...this.images].map(([number, name]) => `/${name} ${number} 0 R`);
    const states = [...this.opacities].map(([state, name]) => `/${name} << ${state} >>`);
    const named = `/Font << ${fonts.join(" ")} >> /XObject << ${images.join(" ")} >> /ExtGState << ${states.join(" ")} >>`;
    const [pages, page] = [file.reserve(), file.reserve()];
    file.put(page, `<< /Type /Page /Parent ${pages} 0 R /MediaBox [0 0 ${written(across, up)}] /Contents ${content} 0 R /Resources << ${named} >> >>`);
    file.put(pages, `<< /Type /Pages /Kids [${page} 0 R] /Count 1 >>`);
    const catalog = file.add(`<< /Type /Catalog /Pages ${pages} 0 R >>`);
    return file.written(catalog, file.add(`<< /Title ${textString(title)} /Producer (regard) >>`));
  }
}

/** @param {HTMLImageElement} image @param {number} zoom */
async function pixelsOf(image, zoom) {
  const canvas = h("canvas", { width: Math.max(Math.round(image.naturalWidth * zoom), 1), height: Math.max(Math.round(image.naturalHeight * zoom), 1) });
  const pen = penOf(canvas);
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  return pen.getImageData(0, 0, canvas.width, canvas.height);
}

/** In WinAnsi encoding; null where a character is not in it. @param {string} text */
export function asHelvetica(text) {
  const bytes = Array.from(text.replaceAll("−", "–"), (character) => {
    const code = /** @type {number} */ (character.codePointAt(0));
    if ((code >= 32 && code < 127) || (code >= 160 && code < 256)) return code;
    const place = WIN_ANSI.indexOf(character);
    return place >= 0 && code > 255 ? 128 + place : -1;
  });
  return bytes.includes(-1) ? null : bytes;
}

/** @param {string} text @param {number} size @param {boolean} bold */
export function helveticaWidth(text, size, bold) {
  const signs = /** @type {Record<string, number[]>} */ (widths.signs);
  const letters = bold ? widths.bold : widths.regular;
  /** @param {string} character */
  const advance = (character) => signs[character]?.[Number(bold)] ?? letters[character.normalize("NFD").charCodeAt(0) - 32] ?? 556;
  return (Array.from(text, advance).reduce((a, b) => a + b, 0) * size) / 1000;
}

/** @param {Element} node @param {string} name @returns {string|null} */
function inherited(node, name) {
  return node.closest(`[${name}]`)?.getAttribute(name) ?? null;
}

/** @param {Element} node @param {string} name */
const numberIn = (node, name, usual = 0) => Number(node.getAttribute(name) ?? usual);

/** @param {string} transform @returns {number[][]} */
function movesOf(transform) {
  return [...transform.matchAll(/(translate|rotate|scale)\(([^)]*)\)/g)].map(([, kind, given]) => {
    const numbers = numbersIn(given);
    if (kind === "translate") return [1, 0, 0, 1, numbers[0], numbers[1] ?? 0];
    if (kind === "scale") return [numbers[0], 0, 0, numbers[numbers.length - 1], 0, 0];
    const turn = (numbers[0] * Math.PI) / 180;
    return [Math.cos(turn), Math.sin(turn), -Math.sin(turn), Math.cos(turn), 0, 0];
  });
}

/** @param {string} text */
const numbersIn = (text) => (text.match(/[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?/g) ?? []).map(Number);

/** @param {string} tag @param {Element} node */
function outlineOf(tag, node) {
  /** @param {...string} names */
  const given = (...names) => names.map((name) => numberIn(node, name));
  if (tag === "path") return pathOf(node.getAttribute("d") ?? "");
  if (tag === "line") {
    const [x1, y1, x2, y2] = given("x1", "y1", "x2", "y2");
    return [`${written(x1, y1)} m ${written(x2, y2)} l`];
  }
  if (tag === "circle") {
    const [x, y, r] = given("cx", "cy", "r");
    return roundedBox(x - r, y - r, 2 * r, 2 * r, r);
  }
  const [x, y, width, height, rx] = given("x", "y", "width", "height", "rx");
  const by = Math.min(rx, width / 2, height / 2);
  return by > 0 ? roundedBox(x, y, width, height, by) : [`${written(x, y, width, height)} re`];
}

/** @param {number} x @param {number} y @param {number} width @param {number} height @param {number} r */
function roundedBox(x, y, width, height, r) {
  const [k, right, low] = [r * (1 - KAPPA), x + width, y + height];
  return [
    `${written(x + r, y)} m ${written(right - r, y)} l`,
    `${written(right - k, y, right, y + k, right, y + r)} c ${written(right, low - r)} l`,
    `${written(right, low - k, right - k, low, right - r, low)} c ${written(x + r, low)} l`,
    `${written(x + k, low, x, low - k, x, low - r)} c ${written(x, y + r)} l`,
    `${written(x, y + k, x + k, y, x + r, y)} c h`,
  ];
}

/** Absolute moves, lines and curves. @param {string} d */
function pathOf(d) {
  let [x, y] = [0, 0];
  const made = [];
  for (const [, kind, given] of d.matchAll(/([MLCHVZz])([^MLCHVZz]*)/g)) {
    if (kind === "Z" || kind === "z") {
      made.push("h");
      continue;
    }
    let numbers = numbersIn(given);
    if (kind === "H") numbers = [numbers[0], y];
    else if (kind === "V") numbers = [x, numbers[0]];
    const each = kind === "C" ? 6 : 2;
    for (let at = 0; at < numbers.length; at += each) {
      made.push(`${written(...numbers.slice(at, at + each))} ${kind === "C" ? "c" : kind === "M" && at === 0 ? "m" : "l"}`);
    }
    [x, y] = numbers.slice(-2);
  }
  return made;
}

/** @param {...number} numbers */
const written = (...numbers) => numbers.map((number) => String(Number(number.toFixed(3)))).join(" ");

/** @param {string} colour #rrggbb or #rgb */
function colourOf(colour) {
  const digits = colour.slice(1).length === 3 ? Array.from(colour.slice(1), (digit) => digit + digit).join("") : colour.slice(1);
  return written(...[0, 2, 4].map((at) => parseInt(digits.slice(at, at + 2), 16) / 255));
}
