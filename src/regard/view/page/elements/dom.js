// Elements made by code: text is always a text node, so nothing that is shown can become markup.

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

/**
 * An HTML element.
 * @param {string} tag
 * @param {Record<string, any>|null} [attributes] class, aria-*, data-*, style: object, on: {event: listener};
 *   null and false are left out
 * @param {...(Node|string|number|null|false|undefined|Array<any>)} children
 * @returns {HTMLElement}
 */
export function h(tag, attributes, ...children) {
  return furnish(document.createElement(tag), attributes, children);
}

/**
 * An SVG element, with the arguments of `h`.
 * @returns {SVGElement}
 */
export function s(tag, attributes, ...children) {
  return furnish(document.createElementNS(SVG_NAMESPACE, tag), attributes, children);
}

/** Puts new children into an element in the place of all it had. */
export function fill(element, ...children) {
  element.replaceChildren(...textNodes(children));
  return element;
}

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

function textNodes(children) {
  return children
    .flat(Infinity)
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : document.createTextNode(String(child))));
}
