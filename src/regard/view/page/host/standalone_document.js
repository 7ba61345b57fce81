// The page as one file that needs nothing else.

import { t } from "../words/messages.js";

/**
 * @param {object} given
 * @param {object[]} given.records
 * @param {{state: object, scored?: object[], lang?: string, languages?: object}} given.settings
 * @param {string} given.module
 * @param {string} given.stylesheet
 * @returns {string} an HTML document that runs under its own strict content-security policy
 */
export function standaloneDocument({ records, settings, module, stylesheet }) {
  const nonce = Array.from(crypto.getRandomValues(new Uint32Array(4)), (number) => number.toString(36)).join("");
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    "img-src data: blob:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return [
    "<!doctype html>",
    `<html lang="${/^[a-z]{2,3}$/.test(settings.lang ?? "") ? settings.lang : "en"}">`,
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    "<title>regard</title>",
    `<style nonce="${nonce}">${stylesheet}</` + "style>",
    '<div id="regard"></div>',
    `<script type="application/json" id="regard-data">${jsonInMarkup({ records, ...settings })}</` + "script>",
    `<script type="module" nonce="${nonce}">${upToItsEnd(module)}${START}</` + "script>",
    "</html>",
    "",
  ].join("\n");
}

const END_OF_MODULE = "export default { render };";
const START = `
render({
  model: staticModel(JSON.parse(document.getElementById("regard-data").textContent)),
  el: document.getElementById("regard"),
});
`;

/** JSON that cannot end the element it lies in. @param {unknown} value */
export function jsonInMarkup(value) {
  return JSON.stringify(value).replace(/</g, "\\u003c");
}

/** The module without what a host has put after it: this document says that anew. @param {string} module */
export function upToItsEnd(module) {
  const end = module.lastIndexOf(END_OF_MODULE);
  if (end < 0) throw new Error(t("The text of the page’s module has no end: it is not the whole of it."));
  return module.slice(0, end + END_OF_MODULE.length).trim();
}
