// The viewer: puts the parts together and keeps them in step with the state and with what is pointed at.

import { createAsk } from "./host/questions.js";
import { beamPanel } from "./panels/beam/beam_panel.js";
import { effectiveTheme } from "./drawing/colours.js";
import { comparePanel } from "./panels/compare/compare_panel.js";
import { h } from "./elements/dom.js";
import { explainPanel } from "./panels/explain/explain_panel.js";
import { mountExport } from "./stage/export_menu.js";
import { mountHeader } from "./stage/header.js";
import { mountHeads } from "./stage/head_thumbnails.js";
import { Heatmap } from "./stage/heatmap.js";
import { mountLegend } from "./stage/colour_legend.js";
import { picturePanel } from "./panels/picture_panel.js";
import { readoutOf } from "./stage/readout.js";
import { readRecord } from "./record/record.js";
import { Sentences } from "./stage/sentences.js";
import { buildSkeleton } from "./stage/skeleton.js";
import { cleanState, createStore, INITIAL_STATE } from "./host/view_state.js";
import { stepsPanel } from "./panels/steps/steps_panel.js";
import { tablePanel } from "./panels/table_panel.js";
import { mountTabs } from "./stage/panel_tabs.js";
import { mountThemeButton } from "./stage/theme_button.js";
import { mountToolbar } from "./stage/toolbar.js";
import { viewOf } from "./drawing/view.js";

const PANELS = [stepsPanel, beamPanel, comparePanel, explainPanel, picturePanel, tablePanel];

export class Viewer {
  /**
   * @param {any} model of anywidget's shape
   * @param {HTMLElement} element
   */
  constructor(model, element) {
    this.model = model;
    this.records = recordsOf(model);
    this.abilities = new Set(model.get("abilities") ?? []);
    this.store = createStore({ ...INITIAL_STATE, ...cleanState(model.get("state")) });
    this.asking = createAsk(model);
    this.set = (patch) => this.store.set(patch);
    this.view = null;
    this.pointed = null;
    this.frame = 0;
    this.skeleton = buildSkeleton(this.abilities.has("ask"), element.parentElement === document.body);
    element.replaceChildren(this.skeleton.root);
    this.mountParts(this.skeleton.places);
    this.endings = this.listen();
    this.update();
    this.header.start();
  }

  mountParts(places) {
    const { model, set, store } = this;
    const actions = {
      focus: (active) => this.point(active),
      pin: (row, col) => this.pin(row, col),
      unpin: () => set({ query: null, key: null }),
    };
    this.themeButton = mountThemeButton(set);
    this.exportMenu = mountExport({
      view: () => this.view,
      records: () => this.records,
      state: () => store.get(),
      assets: () => model.get("assets") ?? { module: model.get("_esm"), stylesheet: model.get("_css") },
    });
    this.header = mountHeader(places.header, {
      canAsk: this.abilities.has("ask"),
      models: model.get("models") ?? [],
      linked: { text: store.get().text, model: store.get().model },
      askText: (text, chosen, isNewest) => this.askText(text, chosen, isNewest),
      tools: [this.themeButton.element, this.exportMenu.element],
    });
    this.toolbar = mountToolbar(places.toolbar, set);
    this.sentences = new Sentences(places.sentences, actions);
    this.heatmap = new Heatmap(places.heatmap, actions);
    this.legend = mountLegend(places.legend);
    this.heads = mountHeads(places.heads, set);
    this.tabs = mountTabs(places.tabs, PANELS, set);
  }

  /** @returns {(() => void)[]} what undoes it */
  listen() {
    const { model, skeleton } = this;
    const unsubscribe = this.store.subscribe((state) => this.changed(state));
    const newState = () => this.set({ ...INITIAL_STATE, ...cleanState(model.get("state")) });
    const newRecords = () => {
      this.records = recordsOf(model);
      this.update();
    };
    model.on("change:state", newState);
    model.on("change:records", newRecords);
    const scheme = globalThis.matchMedia("(prefers-color-scheme: dark)");
    const newScheme = () => this.update();
    scheme.addEventListener("change", newScheme);
    let width = skeleton.root.clientWidth;
    const observer = new ResizeObserver(() => {
      if (skeleton.root.clientWidth === width) return;
      width = skeleton.root.clientWidth;
      this.update();
    });
    observer.observe(skeleton.root);
    return [
      unsubscribe,
      () => model.off("change:state", newState),
      () => model.off("change:records", newRecords),
      () => scheme.removeEventListener("change", newScheme),
      () => observer.disconnect(),
      this.asking.stop,
    ];
  }

  changed(state) {
    this.pointed = null;
    this.model.set("state", { ...state });
    this.model.save_changes();
    this.update();
  }

  update() {
    const { store, skeleton, records } = this;
    const { root, places, body, empty } = skeleton;
    const state = store.get();
    const record = records[Math.min(state.record, records.length - 1)];
    root.dataset.theme = effectiveTheme(state.theme);
    this.themeButton.update(state.theme);
    for (const part of [places.toolbar, body, this.exportMenu.element]) part.hidden = !record;
    empty.hidden = Boolean(record);
    this.view = record ? viewOf(record, state) : null;
    this.header.update(this.view);
    if (!this.view) return;
    const { map } = this.view;
    root.style.setProperty("--heads", String(map.H > 1 ? map.H : Math.min(map.L, 4)));
    this.toolbar.update(this.view, records);
    this.heads.update(this.view);
    for (const part of [this.sentences, this.heatmap, this.legend]) part.update(this.view);
    this.tabs.update(this.context());
    this.highlight();
  }

  context() {
    return {
      records: this.records,
      record: this.view.record,
      state: this.view.state,
      set: this.set,
      ask: this.asking.ask,
      abilities: this.abilities,
      models: this.model.get("models") ?? [],
      replaceRecord: (record) => this.replaceRecord(record),
      addRecord: (record, place = this.records.length) => this.putRecord(record, place, {}),
    };
  }

  replaceRecord(record) {
    const place = Math.min(this.store.get().record, Math.max(this.records.length - 1, 0));
    this.putRecord(record, place, { query: null, key: null });
  }

  /** A new record is drawn even where no part of the state changes. */
  putRecord(record, place, patch) {
    this.records = Object.assign([...this.records], { [place]: record });
    const before = this.store.get();
    this.set(patch);
    if (this.store.get() === before) this.update();
  }

  async askText(text, model, isNewest) {
    const answer = await this.asking.ask("look", model ? { text, model } : { text });
    if (!isNewest()) return;
    this.set({ text, model });
    this.replaceRecord(readRecord(answer));
  }

  point(active) {
    this.pointed = active;
    this.frame ||= requestAnimationFrame(() => this.highlight());
  }

  /** Pins a word or a pair of words; what is pinned already is let go. */
  pin(row, col) {
    const { rowMembers, colMembers } = this.view.matrix;
    const next = { query: rowMembers[row]?.[0] ?? null, key: colMembers[col]?.[0] ?? null };
    const { row: pinnedRow, col: pinnedCol } = this.view.pinned;
    this.set(row === pinnedRow && col === pinnedCol ? { query: null, key: null } : next);
  }

  /** Lights up what is pointed at, or else what is pinned. */
  highlight() {
    this.frame = 0;
    if (!this.view) return;
    const active = this.pointed ?? this.view.pinned;
    this.sentences.highlight(active);
    this.heatmap.highlight(active);
    const { main, more } = readoutOf(this.view, active);
    const line = [h("span", { class: "readout-main" }, main), h("span", { class: "readout-more" }, more)];
    this.skeleton.places.readout.replaceChildren(...line);
  }

  remove() {
    for (const end of this.endings) end();
    cancelAnimationFrame(this.frame);
    this.skeleton.root.remove();
  }
}

function recordsOf(model) {
  const given = model.get("records") ?? [];
  return (typeof given === "string" ? JSON.parse(given) : given).map(readRecord);
}
