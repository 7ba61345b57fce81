// Colours of weights: perceptual ramps that begin near the page's ground, in both themes.
// The stops, which still pictures share, are in OKLCH (lightness, chroma, hue); lightness only falls (light) or only rises (dark),
// so that the order of the weights can be read without seeing hues.

import palettes from "../../palettes.json" with { type: "json" };

/** @typedef {"light"|"dark"} Theme */
/** @typedef {[number, number, number]} Rgb bytes */
/** @typedef {[number, number, number]} Lch lightness, chroma, hue in degrees */
/** @typedef {"sequential"|"negative"|"positive"} Ramp */

const STOPS = /** @type {Record<Theme, Record<Ramp, Lch[]>>} */ (/** @type {unknown} */ (palettes));
const HEADS = /** @type {Record<Theme, Lch[]>} */ (/** @type {unknown} */ (palettes.heads));
const { sheet: SHEET } = palettes["over picture"];
/** @type {Map<string, Uint8ClampedArray>} */
const TABLES = new Map();

/**
 * The colour of a share of the strongest weight.
 * @param {number} share 0 to 1
 * @param {Theme} theme
 * @returns {Rgb}
 */
export function sequential(share, theme) {
  return lookUp(rampTable(theme, "sequential"), share);
}

/** The colour of a signed share, −1 (orange) to 1 (blue). @param {number} share @param {Theme} theme */
export function diverging(share, theme) {
  return lookUp(rampTable(theme, share < 0 ? "negative" : "positive"), Math.abs(share));
}

/**
 * 256 colours, three bytes each.
 * @param {Theme} theme
 * @param {Ramp} ramp
 * @returns {Uint8ClampedArray}
 */
export function rampTable(theme, ramp) {
  const name = `${theme} ${ramp}`;
  const table = TABLES.get(name) ?? tableOf(STOPS[theme][ramp].map(fromLch));
  TABLES.set(name, table);
  return table;
}

/** How many heads can be told apart by their colours, also by who sees two hues only. */
export const MOST_HEADS = HEADS.light.length;

/** The colour of the n-th of several heads. @param {number} n @param {Theme} theme @returns {Rgb} */
export function headColour(n, theme) {
  const [red, green, blue] = fromOklab(fromLch(HEADS[theme][n % MOST_HEADS])).map((part) => Math.round(Math.min(Math.max(part, 0), 255)));
  return [red, green, blue];
}

/** So much of a colour on the ground of the weights. @param {Rgb} colour @param {number} share @param {Theme} theme @returns {Rgb} */
export function mixedColour(colour, share, theme) {
  const ground = sequential(0, theme);
  const kept = Math.min(Math.max(share || 0, 0), 1);
  const [red, green, blue] = colour.map((part, n) => Math.round(ground[n] + kept * (part - ground[n])));
  return [red, green, blue];
}

/**
 * What lies over a place of a picture: black, the less of it the more weight is there, so that the picture keeps its own colours.
 * @param {number} share of the strongest weight @returns {[number, number, number, number]} bytes
 */
export function overPicture(share) {
  const kept = Math.min(Math.max(share || 0, 0), 1);
  return [0, 0, 0, Math.round(255 * SHEET * (1 - kept))];
}

/** The ink, black or white, that is read better on a colour. @param {Rgb} rgb */
export function inkOn(rgb) {
  return luminance(rgb) > 0.179 ? "#000000" : "#ffffff"; // where both have a contrast of 4.58
}

/** @param {Rgb} rgb */
export function cssColour(rgb, opacity = 1) {
  return opacity === 1 ? `rgb(${rgb.join(" ")})` : `rgb(${rgb.join(" ")} / ${opacity})`;
}

/** "#1a2b3c", which every reader of SVG understands. @param {Rgb} rgb */
export function hexColour(rgb) {
  return `#${rgb.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

/** The theme that a state asks for; "auto" is that of the system. @param {Theme|"auto"} theme @returns {Theme} */
export function effectiveTheme(theme) {
  if (theme === "light" || theme === "dark") return theme;
  return globalThis.matchMedia?.("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/**
 * What the strongest colour of each row stands for.
 * @param {{data: Float32Array, rows: number, cols: number}} matrix
 * @param {"matrix"|"row"|"one"} scale
 * @returns {Float32Array} one number for each row, never 0
 */
export function strongest(matrix, scale) {
  const rows = new Float32Array(matrix.rows);
  for (let row = 0; row < matrix.rows; row++) {
    let most = 0;
    for (let n = row * matrix.cols; n < (row + 1) * matrix.cols; n++) most = Math.max(most, Math.abs(matrix.data[n]) || 0);
    rows[row] = most;
  }
  const all = rows.reduce((a, b) => Math.max(a, b), 0);
  if (scale === "one") return rows.fill(1);
  return rows.map((most) => (scale === "row" ? most : all) || 1);
}

/** WCAG's relative luminance. @param {Rgb} rgb */
export function luminance(rgb) {
  const [r, g, b] = rgb.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** @param {Uint8ClampedArray} table @param {number} share @returns {Rgb} */
function lookUp(table, share) {
  const place = 3 * Math.round(255 * Math.min(Math.max(share || 0, 0), 1));
  return [table[place], table[place + 1], table[place + 2]];
}

/** @param {number[][]} stops in OKLab */
function tableOf(stops) {
  const table = new Uint8ClampedArray(256 * 3);
  for (let n = 0; n < 256; n++) {
    const along = (n / 255) * (stops.length - 1);
    const before = Math.min(Math.floor(along), stops.length - 2);
    const mixed = stops[before].map((value, axis) => value + (stops[before + 1][axis] - value) * (along - before));
    table.set(fromOklab(mixed), 3 * n);
  }
  return table;
}

/** @param {Lch} stop */
function fromLch([lightness, chroma, hue]) {
  const angle = (hue * Math.PI) / 180;
  return [lightness, chroma * Math.cos(angle), chroma * Math.sin(angle)];
}

/** OKLab (Björn Ottosson, 2020) to sRGB bytes. @param {number[]} stop */
function fromOklab([L, a, b]) {
  const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s3 = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s3,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s3,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s3,
  ].map((part) => 255 * (part <= 0.0031308 ? 12.92 * part : 1.055 * part ** (1 / 2.4) - 0.055));
}
