// What is on the screen as a file: a picture of the map or of the open tab, the numbers, the page.

import { chooser } from "../elements/controls.js";
import { fill, h, penOf } from "../elements/dom.js";
import { figureOf } from "../drawing/svg_figure.js";
import { arraysNpz, readableJson, shownCsv } from "../export/number_files.js";
import { pdfOf, pictureOf } from "../export/svg_to_pdf.js";
import { messageOf } from "../host/questions.js";
import { standaloneDocument } from "../host/standalone_document.js";
import { drawSheet } from "../sheets/sheet_figure.js";
import { canDraw, mapSheet, tabSheet } from "../sheets/tab_sheets.js";
import { t } from "../words/messages.js";

/** @typedef {import("../drawing/view.js").View} View */

const kinds = () => [
  ["svg", "SVG", t("a picture that scales")],
  ["png", "PNG", t("a picture of pixels")],
  ["pdf", "PDF", t("a picture on a page")],
  ["csv", "CSV", t("the matrix that is shown, whole")],
  ["npz", "NPZ", t("every array, for NumPy")],
  ["json", "JSON", t("the record, in numbers")],
  ["html", "HTML", t("this page, for any browser, offline")],
];
const PICTURES = ["svg", "png", "pdf"];

/**
 * @typedef {object} Given
 * @property {() => View} view
 * @property {() => import("../record/record.js").AttentionRecord[]} records
 * @property {() => {state: object, scored?: object[], lang?: string, languages?: object}} settings what the page is given beside its records
 * @property {() => any} assets
 * @property {() => Open|null} open the tab that is open
 */

/** @typedef {{name: string, title: string, context: import("../panels/panel_parts.js").PanelContext, chosen: object}} Open */

/** @param {Given} given */
export function mountExport(given) {
  const said = h("p", { class: "export-said", role: "status" });
  let drawn = "map"; // what pictures are of
  const drawing = chooser(t("picture of"), (value) => (drawn = value));
  const items = kinds().map(([kind, name, what]) =>
    h(
      "button",
      { type: "button", class: "export-item", "data-kind": kind, on: { click: () => save(kind) } },
      h("b", null, name),
      h("span", null, what),
    ),
  );
  const summary = h("summary", { class: "tool" }, t("Export"));
  const element = h("details", { class: "export" }, summary, h("div", { class: "export-menu" }, drawing.element, items, said));

  /** What there is to draw changes with the record and with the open tab. */
  function offer() {
    const [view, open] = [given.view(), given.open()];
    const whole = Boolean(view.levels || view.sight);
    /** @type {import("../elements/controls.js").Option[]} */
    const options = whole ? [["map", t("what is shown")]] : [["map", t("the map")], ["lines", t("the map, as lines")]];
    if (open && canDraw(open.name)) options.push(["tab", t("the open tab: {tab}", { tab: open.title })]);
    if (!options.some(([value]) => value === drawn)) drawn = "map";
    drawing.update(options, drawn);
    for (const item of items) item.hidden = whole && !view.record.maps.length && item.dataset.kind === "csv";
  }
  element.addEventListener("toggle", () => element.open && offer());

  /** @param {string} kind */
  async function save(kind) {
    fill(said, t("The file is being made…"));
    element.setAttribute("aria-busy", "true");
    await new Promise((drawn) => setTimeout(drawn, 20)); // so that it is seen before the work begins
    try {
      const tab = PICTURES.includes(kind) && drawn === "tab" ? (given.open()?.name ?? "") : "";
      download(await contentOf(kind, given, drawn), fileName(given.view(), kind, tab));
      fill(said);
      element.open = false;
      summary.focus();
    } catch (error) {
      said.textContent = t("That did not work: {why}", { why: messageOf(error) });
    } finally {
      element.removeAttribute("aria-busy");
    }
  }
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    element.open = false;
    summary.focus();
  });
  element.addEventListener("focusout", (event) => {
    if (event.relatedTarget instanceof Node && !element.contains(event.relatedTarget)) element.open = false;
  });
  return { element };
}

/** @param {string} kind @param {Given} given @param {string} drawn @returns {Promise<Blob>} */
async function contentOf(kind, given, drawn) {
  if (PICTURES.includes(kind)) {
    const figure = await drawnFigure(given, drawn);
    if (kind === "svg") return new Blob([new XMLSerializer().serializeToString(figure)], { type: "image/svg+xml" });
    return kind === "png" ? pngOf(figure) : new Blob([await pdfOf(figure)], { type: "application/pdf" });
  }
  if (kind === "csv") return new Blob([shownCsv(given.view())], { type: "text/csv" });
  if (kind === "npz") return new Blob([arraysNpz(given.records())], { type: "application/zip" });
  const records = given.records().map((record) => record.given);
  if (kind === "json") return new Blob([readableJson(records.length === 1 ? records[0] : records)], { type: "application/json" });
  const { module, stylesheet } = (await given.assets()) ?? {};
  if (!module || !stylesheet) {
    throw new Error(t("This page does not know its own source; save it with view.save(“file.html”)."));
  }
  return new Blob([standaloneDocument({ records, settings: given.settings(), module, stylesheet })], { type: "text/html" });
}

/** The drawing of the commands, of what is seen here. @param {Given} given @param {string} drawn @returns {Promise<SVGElement>} */
async function drawnFigure(given, drawn) {
  const [view, open] = [given.view(), given.open()];
  if (drawn === "tab" && open) return drawSheet(await tabSheet(open.name, open.context, open.chosen), view.theme);
  if (view.levels || view.sight) return figureOf(view);
  return drawSheet(mapSheet(view, drawn === "lines"), view.theme);
}

/** @param {SVGElement} figure */
async function pngOf(figure) {
  const [width, height] = [Number(figure.getAttribute("width")), Number(figure.getAttribute("height"))];
  const image = await pictureOf(figure);
  const zoom = Math.min(2, 8000 / Math.max(width, height));
  const canvas = h("canvas", { width: Math.round(width * zoom), height: Math.round(height * zoom) });
  penOf(canvas).drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob(
      (blob) => (blob ? resolve(blob) : reject(new Error(t("The browser could not make a PNG.")))),
      "image/png",
    );
  });
}

/** @param {View} view @param {string} kind @param {string} [tab] */
export function fileName(view, kind, tab = "") {
  const model = view.record.model.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "");
  return `${["regard", model, view.sight?.kind ?? (view.levels ? "levels" : view.map.name), tab].filter(Boolean).join("-")}.${kind}`;
}

/** @param {Blob} blob @param {string} name */
function download(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = h("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
