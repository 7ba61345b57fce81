// What is on the screen as a file: SVG, PNG, HTML, JSON.

import { fill, h, penOf } from "../elements/dom.js";
import { figureOf } from "../drawing/svg_figure.js";
import { messageOf } from "../host/questions.js";
import { standaloneDocument } from "../host/standalone_document.js";
import { t } from "../words/messages.js";

/** @typedef {import("../drawing/view.js").View} View */

const kinds = () => [
  ["svg", "SVG", t("a picture that scales")],
  ["png", "PNG", t("a picture of pixels")],
  ["html", "HTML", t("this page, for any browser, offline")],
  ["json", "JSON", t("the numbers")],
];

/**
 * @typedef {object} Given
 * @property {() => View} view
 * @property {() => import("../record/record.js").AttentionRecord[]} records
 * @property {() => {state: object, lang?: string, languages?: object}} settings what the page is given beside its records
 * @property {() => any} assets
 */

/** @param {Given} given */
export function mountExport(given) {
  const said = h("p", { class: "export-said", role: "status" });
  const items = kinds().map(([kind, name, what]) =>
    h(
      "button",
      { type: "button", class: "export-item", "data-kind": kind, on: { click: () => save(kind) } },
      h("b", null, name),
      h("span", null, what),
    ),
  );
  const summary = h("summary", { class: "tool" }, t("Export"));
  const element = h("details", { class: "export" }, summary, h("div", { class: "export-menu" }, items, said));

  /** @param {string} kind */
  async function save(kind) {
    fill(said);
    try {
      download(await contentOf(kind, given), fileName(given.view(), kind));
      element.open = false;
      summary.focus();
    } catch (error) {
      said.textContent = t("That did not work: {why}", { why: messageOf(error) });
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

/** @param {string} kind @param {Given} given @returns {Promise<Blob>} */
async function contentOf(kind, given) {
  const view = given.view();
  if (kind === "svg") return new Blob([svgText(view)], { type: "image/svg+xml" });
  if (kind === "png") return pngOf(view);
  const records = given.records().map((record) => record.given);
  if (kind === "json") {
    const text = JSON.stringify(records.length === 1 ? records[0] : records);
    return new Blob([text], { type: "application/json" });
  }
  const { module, stylesheet } = (await given.assets()) ?? {};
  if (!module || !stylesheet) {
    throw new Error(t("This page does not know its own source; save it with view.save(“file.html”)."));
  }
  return new Blob([standaloneDocument({ records, settings: given.settings(), module, stylesheet })], { type: "text/html" });
}

/** @param {View} view */
function svgText(view) {
  return new XMLSerializer().serializeToString(figureOf(view, view.pinned));
}

/** @param {View} view */
async function pngOf(view) {
  const figure = figureOf(view, view.pinned);
  const [width, height] = [Number(figure.getAttribute("width")), Number(figure.getAttribute("height"))];
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(figure))}`;
  await image.decode();
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

/** @param {View} view @param {string} kind */
export function fileName(view, kind) {
  const model = view.record.model.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "");
  return `${["regard", model, view.sight?.kind ?? (view.levels ? "levels" : view.map.name)].filter(Boolean).join("-")}.${kind}`;
}

/** @param {Blob} blob @param {string} name */
function download(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = h("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
