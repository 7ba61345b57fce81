// Panels below the main view, as tabs; each is made when it is first opened.

import { fill, h } from "../elements/dom.js";
import { stepInGrid } from "../elements/grid_keys.js";
import { t } from "../words/messages.js";

/** @typedef {import("../panels/panel_parts.js").PanelContext} PanelContext */

let tabListsMade = 0;

/**
 * @typedef {object} Panel
 * @property {string} name
 * @property {string} title
 * @property {(context: any) => string} [titleFor] what it is called for a record, where that is not the same for all
 * @property {(context: any) => true|string|null} available true, or why not; null: it is for other records, and has no tab
 * @property {boolean} [leads] it is opened first where it is available
 * @property {(element: HTMLElement, context: any) => {update(context: any): void, chosen?(): object}} mount
 */

/**
 * @param {HTMLElement} element
 * @param {Panel[]} panels
 * @param {(patch: object) => void} set
 */
export function mountTabs(element, panels, set) {
  const prefix = `regard-tabs-${(tabListsMade += 1)}`;
  const tabs = panels.map((panel) =>
    h(
      "button",
      {
        type: "button",
        role: "tab",
        class: "tab",
        id: `${prefix}-${panel.name}`,
        "aria-controls": `${prefix}-panel-${panel.name}`,
        on: { click: () => set({ panel: panel.name }) },
      },
      panel.title,
    ),
  );
  const bodies = panels.map((panel) =>
    h(
      "div",
      {
        role: "tabpanel",
        class: `panel panel-${panel.name}`,
        id: `${prefix}-panel-${panel.name}`,
        "aria-labelledby": `${prefix}-${panel.name}`,
        hidden: true,
      },
    ),
  );
  const mounted = new Map();
  /** @type {{name: string, title: string, context: PanelContext, chosen: object}|null} */
  let shown = null;
  const list = h("div", { class: "tabs", role: "tablist", "aria-label": t("more about this attention") }, tabs);
  fill(element, list, bodies);

  list.addEventListener("keydown", (event) => {
    const there = tabs.flatMap((tab, n) => (tab.hidden ? [] : [n]));
    const to = stepInGrid(event.key, { row: 0, col: there.findIndex((n) => tabs[n] === event.target) }, { rows: 1, cols: there.length });
    if (!to || event.key.startsWith("Page") || /Up|Down/.test(event.key)) return;
    event.preventDefault();
    const next = there[to.col];
    set({ panel: panels[next].name });
    tabs[next].focus();
  });

  /** @param {PanelContext} context */
  function update(context) {
    shown = null;
    const reasons = panels.map((panel) => panel.available(context));
    const asked = panels.findIndex((panel, n) => panel.name === context.state.panel && reasons[n] !== null);
    const leading = panels.findIndex((panel, n) => panel.leads && reasons[n] === true);
    const open = [asked, leading, reasons.indexOf(true)].find((n) => n >= 0);
    panels.forEach((panel, n) => {
      tabs[n].setAttribute("aria-selected", String(n === open));
      tabs[n].tabIndex = n === open ? 0 : -1;
      tabs[n].hidden = reasons[n] === null;
      tabs[n].textContent = panel.titleFor?.(context) ?? panel.title;
      tabs[n].classList.toggle("unavailable", reasons[n] !== true);
      bodies[n].hidden = n !== open;
      if (n === open) show(panel, bodies[n], reasons[n], context);
    });
  }

  /** @param {Panel} panel @param {HTMLElement} body @param {true|string|null} reason @param {PanelContext} context */
  function show(panel, body, reason, context) {
    if (reason !== true) {
      mounted.delete(panel.name);
      fill(body, h("p", { class: "reason" }, reason));
    } else if (mounted.has(panel.name)) {
      mounted.get(panel.name).update(context);
    } else {
      fill(body);
      mounted.set(panel.name, panel.mount(body, context));
    }
    if (reason === true) shown = { name: panel.name, title: panel.titleFor?.(context) ?? panel.title, context, chosen: mounted.get(panel.name) };
  }
  /** The open panel, its context, and what it keeps for itself; null where there is none to see. */
  const open = () => (element.hidden || !shown ? null : { ...shown, chosen: mounted.get(shown.name)?.chosen?.() ?? {} });
  return { update, open };
}
