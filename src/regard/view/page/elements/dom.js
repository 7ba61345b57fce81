// Elements made by code: text is always a text node, so nothing that is shown can become markup.

import { t } from "../words/messages.js";

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

/** @typedef {Node|string|number|null|false|undefined|any[]} Child an array holds children again */

/**
 * class, aria-*, data-*, style: object, on: {event: listener}; null and false are left out.
 * @typedef {Record<string, any>|null} Attributes
 */

/**
 * An HTML element.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, attributes, ...children) {
  return furnish(document.createElement(tag), attributes, children);
}

/**
 * An SVG element, with the arguments of `h`.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function s(tag, attributes, ...children) {
  return furnish(document.createElementNS(SVG_NAMESPACE, tag), attributes, children);
}

/** What draws on a canvas. @param {HTMLCanvasElement} canvas */
export function penOf(canvas) {
  const pen = canvas.getContext("2d");
  if (!pen) throw new Error(t("The browser gives no canvas to draw on."));
  return pen;
}

/**
 * Puts new children into an element in the place of all it had.
 * @template {Element} E
 * @param {E} element
 * @param {...Child} children
 */
export function fill(element, ...children) {
  element.replaceChildren(...textNodes(children));
  return element;
}

/**
 * @template {HTMLElement|SVGElement} E
 * @param {E} element
 * @param {Attributes|undefined} attributes
 * @param {Child[]} children
 */
function furnish(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (name === "style") {
      for (const [property, setting] of Object.entries(value)) {
        if (setting !== null && setting !== undefined) element.style.setProperty(property, String(setting));
      }
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...textNodes(children));
  return element;
}

/** @param {Child[]} children @returns {Node[]} */
function textNodes(children) {
  return children.flatMap((child) => {
    if (Array.isArray(child)) return textNodes(child);
    if (child === null || child === undefined || child === false) return [];
    return child instanceof Node ? child : document.createTextNode(String(child));
  });
}
