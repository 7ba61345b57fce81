// The viewer in the shape of anywidget, and the models of the other hosts.

import { servedModel, staticModel } from "./host/hosts.js";
import { Viewer } from "./viewer.js";

/**
 * Draws the viewer into an element.
 * @param {{model: any, el: HTMLElement}} host
 * @returns {() => void} takes it away again
 */
function render({ model, el }) {
  const viewer = new Viewer(model, el);
  return () => viewer.remove();
}

export { servedModel, staticModel };
export default { render };
