// The viewer: puts the parts together and keeps them in step with the state and with what is pointed at.

import { AskedRecords } from "./host/asked_records.js";
import { questionsIn, stateOfQuestions, withNewText } from "./host/asked_questions.js";
import { createAsk } from "./host/questions.js";
import { beamPanel } from "./panels/beam/beam_panel.js";
import { effectiveTheme } from "./drawing/colours.js";
import { comparePanel } from "./panels/compare/compare_panel.js";
import { h } from "./elements/dom.js";
import { explainPanel } from "./panels/explain/explain_panel.js";
import { mountExport } from "./stage/export_menu.js";
import { mountFirstPage } from "./stage/first_page.js";
import { mountWalk } from "./stage/guided_walk.js";
import { languageButton } from "./stage/language_button.js";
import { mountHeader } from "./stage/header.js";
import { mountHeads } from "./stage/head_thumbnails.js";
import { Heatmap } from "./stage/heatmap.js";
import { DocumentLevels } from "./stage/document_levels.js";
import { mountLegend } from "./stage/colour_legend.js";
import { lensPanel } from "./panels/lens_panel.js";
import { picturePanel } from "./panels/picture_panel.js";
import { readoutOf } from "./stage/readout.js";
import { readRecord } from "./record/record.js";
import { correctedRecord, readCorrections, withWords } from "./record/word_correction.js";
import { SightStage } from "./sight/sight_stage.js";
import { Sentences } from "./stage/sentences.js";
import { buildSkeleton } from "./stage/skeleton.js";
import { cleanState, createStore, INITIAL_STATE } from "./host/view_state.js";
import { stepsPanel } from "./panels/steps/steps_panel.js";
import { tablePanel } from "./panels/table_panel.js";
import { mountTabs } from "./stage/panel_tabs.js";
import { mountThemeButton } from "./stage/theme_button.js";
import { mountToolbar } from "./stage/toolbar.js";
import { mountWorkBar } from "./stage/work_bar.js";
import { viewOf } from "./drawing/view.js";
import { keepLanguage, languageOf, spokenBy } from "./words/languages.js";
import { speak } from "./words/messages.js";

/** @typedef {import("./record/record.js").AttentionRecord} AttentionRecord */
/** @typedef {import("./host/asked_questions.js").Question} Question */
/** @typedef {import("./host/view_state.js").State} State */
/** @typedef {import("./stage/heatmap.js").Active} Active */

/** @type {import("./stage/panel_tabs.js").Panel[]} */
const PANELS = [stepsPanel, beamPanel, lensPanel, comparePanel, explainPanel, picturePanel, tablePanel];

export class Viewer {
  /**
   * @param {import("./host/questions.js").Model} model
   * @param {HTMLElement} element
   */
  constructor(model, element) {
    this.model = model;
    this.store = createStore({ ...INITIAL_STATE, ...cleanState(model.get("state")) });
    this.language = this.wantedLanguage();
    speak(model.get("languages")?.[this.language], this.language);
    this.records = recordsOf(model); // which names their maps
    this.scored = recordsOf(model, "scored"); // what one was given of another's output
    this.abilities = new Set(model.get("abilities") ?? []);
    this.asking = createAsk(model, (waiting, progress) => this.parts?.workBar.update(waiting, progress));
    this.asked = new AskedRecords(this.asking.ask, model.get("models") ?? []);
    /** @type {WeakMap<AttentionRecord, {found: AttentionRecord, by: string}>} of records with corrected words those as they were found */
    this.found = new WeakMap();
    this.newest = 0; // the last question; answers to others come too late
    this.working = false;
    this.begun = false; // nothing was shown yet
    /** @param {Partial<State>} patch */
    this.set = (patch) => this.store.set(patch);
    /** @type {import("./drawing/view.js").View|null} */
    this.view = null;
    /** @type {Active|null} */
    this.pointed = null;
    this.frame = 0;
    this.element = element;
    this.whole = element.parentElement === document.body; // a page of its own, not a part of one
    this.skeleton = this.drawSkeleton();
    this.parts = this.mountParts(this.skeleton.places);
    this.endings = this.listen();
    this.update();
    this.parts.header.start(this.store.get());
    this.follow();
  }

  wantedLanguage() {
    const { model } = this;
    return languageOf({ chosen: this.store.get().language, made: model.get("lang"), languages: model.get("languages") });
  }

  /** The places of the page in its language, in the place of those that were there. */
  drawSkeleton() {
    const skeleton = buildSkeleton(this.abilities.has("ask"), this.whole);
    skeleton.root.lang = this.language;
    if (this.whole) document.documentElement.lang = this.language;
    this.element.replaceChildren(skeleton.root);
    return skeleton;
  }

  /** All is said again in another language, also by the model that was asked. */
  async speakAnew() {
    const language = this.wantedLanguage();
    if (language === this.language) return;
    this.language = language;
    speak(this.model.get("languages")?.[language], language);
    await Promise.resolve(this.model.get("describe")).catch(() => {}); // what is known of the models is better than nothing
    if (this.language !== language) return;
    for (const end of this.endings) end();
    this.records = this.records.map((each) => this.asked.readAgain(each));
    this.skeleton = this.drawSkeleton();
    this.parts = this.mountParts(this.skeleton.places);
    this.endings = this.listen();
    this.update();
    /** @type {HTMLElement|null} */ (this.skeleton.root.querySelector(".language"))?.focus();
    const questions = this.records.map((each) => this.asked.questionOf(each));
    if (this.abilities.has("ask") && questions.length && questions.every((each) => each.text !== "")) this.answered(questions, {});
  }

  /** @param {ReturnType<typeof buildSkeleton>["places"]} places */
  mountParts(places) {
    const { model, set, store } = this;
    /** @type {import("./stage/heatmap.js").Actions} */
    const actions = {
      focus: (active) => this.point(active),
      pin: (row, col) => this.pin(row, col),
      unpin: () => set({ query: null, key: null }),
      words: (side, starts) => this.setWords(side, starts),
    };
    const languageTool = languageButton(spokenBy(model.get("languages")), this.language, (language) => {
      keepLanguage(language);
      set({ language });
    });
    const themeButton = mountThemeButton(set);
    const exportMenu = mountExport({
      view: () => this.shownView(),
      records: () => this.records,
      settings: () => ({ state: store.get(), scored: this.knownScored(), lang: this.language, languages: model.get("languages") }),
      assets: () => model.get("assets") ?? { module: model.get("_esm"), stylesheet: model.get("_css") },
      open: () => this.parts.tabs.open(),
    });
    const header = mountHeader(places.header, {
      canAsk: this.abilities.has("ask"),
      models: model.get("models") ?? [],
      pictures: model.get("pictures") ?? [],
      about: model.get("about") ?? {},
      ask: (question) => this.askText(question),
      choose: () => this.update(),
      asIs: () => this.askAsIs(),
      tools: [languageTool, themeButton.element, exportMenu.element],
    });
    const about = model.get("about") ?? {};
    return {
      themeButton,
      exportMenu,
      header,
      firstPage: mountFirstPage(places.first, {
        about,
        ask: (text) => this.askText({ text, model: header.model() }),
        walk: (chosen) => this.parts.walk.start(chosen),
      }),
      walk: mountWalk(places.walk, { about, set, model: () => this.asked.named({ text: "", model: store.get().model }).model ?? "" }),
      toolbar: mountToolbar(places.toolbar, set),
      levels: new DocumentLevels(places.levels, set),
      sight: new SightStage(places.sight, set),
      sentences: new Sentences(places.sentences, actions),
      heatmap: new Heatmap(places.heatmap, actions),
      legend: mountLegend(places.legend),
      heads: mountHeads(places.heads, set),
      tabs: mountTabs(places.tabs, PANELS, set),
      workBar: mountWorkBar(places.work, { canStop: this.abilities.has("stop"), stop: () => this.asking.stopAll() }),
    };
  }

  /** What is on the screen; only where there is a record. */
  shownView() {
    if (!this.view) throw new Error("nothing is shown yet");
    return this.view;
  }

  /** What a file of the page needs to compare outputs without a model: these, as they were given. */
  knownScored() {
    const asked = [...this.asked.kept.values()].filter((each) => each.question.target && !this.records.includes(each));
    return [...this.scored, ...asked].map((each) => each.given);
  }

  /** @returns {(() => void)[]} what undoes it */
  listen() {
    const { model, skeleton } = this;
    const unsubscribe = this.store.subscribe((state, before) => this.changed(state, before));
    const newState = () => {
      const gone = Object.fromEntries(Object.keys(this.store.get()).map((name) => [name, undefined]));
      this.set({ ...gone, ...INITIAL_STATE, ...cleanState(model.get("state")) });
    };
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
    const keepLabels = () => this.parts.heatmap.keepLabels();
    document.addEventListener("scroll", keepLabels, { capture: true, passive: true });
    return [
      unsubscribe,
      () => model.off("change:state", newState),
      () => model.off("change:records", newRecords),
      () => scheme.removeEventListener("change", newScheme),
      () => observer.disconnect(),
      () => document.removeEventListener("scroll", keepLabels, { capture: true }),
    ];
  }

  /** @param {State} state @param {State} before */
  changed(state, before) {
    this.pointed = null;
    this.model.set("state", { ...state });
    this.model.save_changes();
    if (state.language !== before.language) this.speakAnew();
    const changed = Object.keys(state).filter((name) => state[name] !== before[name]);
    const part = this.view?.levels ? "levels" : this.view?.sight ? "sight" : "";
    if (part && changed.every((name) => name.startsWith(`${part}-`))) this.updateInPlace();
    else this.update();
    this.follow();
  }

  /** A sentence was opened or closed, or another step is looked at: nothing else has changed. */
  updateInPlace() {
    const { record } = this.shownView();
    this.view = viewOf(record, this.store.get());
    const { levels, sight } = this.view;
    if (levels) this.parts.levels.update(this.view);
    else if (sight) this.parts.sight.update({ ...this.view, sight });
  }

  update() {
    const { parts, store, skeleton, records } = this;
    const { root, places, stage, body } = skeleton;
    const state = store.get();
    this.correctWords(state.words);
    const record = records[Math.min(state.record, records.length - 1)];
    root.dataset.theme = effectiveTheme(state.theme);
    parts.themeButton.update(state.theme);
    for (const part of [places.toolbar, body, parts.exportMenu.element]) part.hidden = !record;
    this.view = record ? viewOf(record, state) : null;
    parts.header.update(this.view, state);
    places.first.hidden = Boolean(record) || this.working;
    parts.firstPage.update(parts.header.model());
    parts.walk.update(state, records);
    if (!this.view) return;
    const { map } = this.view;
    root.style.setProperty("--heads", String(map.H > 1 ? map.H : Math.min(map.L, 4)));
    parts.toolbar.update(this.view, records);
    const { levels, sight } = this.view;
    places.levels.hidden = levels === null;
    places.sight.hidden = sight === null;
    for (const part of [places.sentences, stage]) part.hidden = levels !== null || sight !== null;
    this.arrange(map.keys.picture !== null && !sight && !levels);
    places.tabs.hidden = record.maps.length === 0; // there are no weights to say more of
    if (sight) parts.sight.update({ ...this.view, sight });
    else for (const part of levels ? [parts.levels] : [parts.heads, parts.sentences, parts.heatmap, parts.legend]) part.update(this.view);
    if (!places.tabs.hidden) parts.tabs.update(this.context(this.view));
    this.highlight();
    if (!this.begun && state.panel === "compare") places.tabs.scrollIntoView({ block: "start" }); // what a link is about
    this.begun = true;
  }

  /** Records have the words that the state says; what is exported of them too. @param {string} words */
  correctWords(words) {
    const corrections = readCorrections(words) ?? {};
    this.records.forEach((record, place) => {
      const { found, by } = this.found.get(record) ?? { found: record, by: "" };
      if (by === words) return;
      const given = correctedRecord(found.given, corrections);
      if (given === found.given) this.records[place] = found;
      else this.found.set((this.records[place] = this.asked.changed(found, given)), { found, by: words });
    });
  }

  /** @param {import("./record/record.js").Side} side @param {number[]|null} starts */
  setWords(side, starts) {
    const corrections = withWords(readCorrections(this.store.get().words) ?? {}, side, starts);
    this.set({ words: Object.keys(corrections).length ? JSON.stringify(corrections) : "" });
  }

  /** Over a picture the panel that shows it comes first, and the weights of its cells below. @param {boolean} pictured */
  arrange(pictured) {
    const { places, body, stage } = this.skeleton;
    places.sentences.hidden ||= pictured; // cells of a picture are no words
    if (pictured && body.lastElementChild === places.tabs) body.insertBefore(places.tabs, stage);
    else if (!pictured && body.lastElementChild !== places.tabs) body.append(places.tabs);
  }

  /**
   * @param {import("./drawing/view.js").View} view
   * @returns {import("./panels/panel_parts.js").PanelContext}
   */
  context(view) {
    return {
      records: this.records,
      record: view.record,
      state: view.state,
      auto: this.store.get().layer === "auto" && this.store.get().head === "auto",
      set: this.set,
      look: (patch, fresh) => this.asked.look({ ...this.asked.questionOf(view.record), ...patch }, { like: view.record, fresh }),
      questionOf: (record) => this.asked.questionOf(record),
      scored: this.scored,
      abilities: this.abilities,
      models: this.model.get("models") ?? [],
      replaceRecord: (record) => this.replaceRecord(record),
      addRecord: (record, place = this.records.length, patch = {}) => this.putRecord(record, place, patch),
    };
  }

  /** @param {AttentionRecord} record */
  replaceRecord(record) {
    const place = Math.min(this.store.get().record, Math.max(this.records.length - 1, 0));
    this.putRecord(record, place, { query: null, key: null });
  }

  /** @param {AttentionRecord} record @param {number} place @param {Partial<State>} patch */
  putRecord(record, place, patch) {
    this.showRecords(Object.assign([...this.records], { [Math.min(place, this.records.length)]: record }), patch);
  }

  /**
   * New records are drawn even where no part of the state changes; the state asks for them again, if they can be asked for.
   * @param {AttentionRecord[]} records @param {Partial<State>} patch
   */
  showRecords(records, patch) {
    this.records = records;
    const questions = records.map((each) => this.asked.questionOf(each));
    const canAsk = this.abilities.has("ask") && questions.every((each) => each.text !== "");
    const before = this.store.get();
    this.set(canAsk ? { ...stateOfQuestions(questions), ...patch } : patch);
    if (this.store.get() === before) this.update();
  }

  /** A new text; the models that it was compared by are asked too. @param {Question} question */
  askText(question) {
    const shown = this.records.map((each) => this.asked.questionOf(each));
    const before = shown.length ? shown : questionsIn({ ...this.store.get(), ...question }); // a link may name models alone
    const questions = withNewText(before, question);
    return this.answered(questions, { record: 0, query: null, key: null, walk: null, words: "" });
  }

  /** The record that is shown, without what was given or forced. */
  askAsIs() {
    const { text, name, model } = this.asked.questionOf(this.shownView().record);
    return this.answered([{ text, name, model }], { record: 0, query: null, key: null, walk: null });
  }

  /** Asks, and shows the answers as a new step. @param {Question[]} questions @param {Partial<State>} patch */
  answered(questions, patch) {
    return this.work(questions, (records) => this.showRecords(records, patch));
  }

  /** Makes the records those that the state asks for: a link was opened, or pasted, or Back was pressed. */
  async follow() {
    const wanted = questionsIn(this.store.get());
    if (!this.abilities.has("ask") || wanted.length === 0 || this.asked.are(this.records, wanted)) return;
    await this.work(wanted, (records) => {
      this.records = records;
      this.update();
    });
  }

  /**
   * Only the last question is answered; what goes wrong is told over the old answer, which is dimmed.
   * @param {Question[]} questions @param {(records: AttentionRecord[]) => void} take
   */
  async work(questions, take) {
    const mine = (this.newest += 1);
    const { header } = this.parts;
    this.working = true;
    header.begin();
    if (!this.view) this.update();
    try {
      const records = await Promise.all(questions.map((each) => this.asked.look(each)));
      if (mine !== this.newest) return;
      this.working = false;
      header.end();
      this.dim(false);
      take(records);
    } catch (error) {
      if (mine !== this.newest) return;
      this.working = false;
      header.end(error);
      this.dim(this.records.length > 0);
      if (!this.view) this.update();
    }
  }

  /** What is shown is not the answer to what was asked last. @param {boolean} old */
  dim(old) {
    this.skeleton.root.classList.toggle("is-old", old);
  }

  /** @param {Active|null} active */
  point(active) {
    this.pointed = active;
    this.frame ||= requestAnimationFrame(() => this.highlight());
  }

  /**
   * Pins a word or a pair of words; what is pinned already is let go.
   * @param {number|null} row @param {number|null} col
   */
  pin(row, col) {
    const { matrix, pinned } = this.shownView();
    const { rowMembers, colMembers } = matrix;
    const next = { query: firstOf(rowMembers, row), key: firstOf(colMembers, col) };
    this.set(row === pinned.row && col === pinned.col ? { query: null, key: null } : next);
  }

  /** Lights up what is pointed at, or else what is pinned. */
  highlight() {
    this.frame = 0;
    if (!this.view || this.view.levels || this.view.sight) return;
    const active = this.pointed ?? this.view.pinned;
    this.parts.sentences.highlight(active);
    this.parts.heatmap.highlight(active);
    const { main, more } = readoutOf(this.view, active);
    const line = [h("span", { class: "readout-main" }, main), h("span", { class: "readout-more" }, more)];
    this.skeleton.places.readout.replaceChildren(...line);
  }

  remove() {
    for (const end of [...this.endings, this.asking.stop]) end();
    cancelAnimationFrame(this.frame);
    this.skeleton.root.remove();
  }
}

/** The first token of a group. @param {number[][]} groups @param {number|null} place */
const firstOf = (groups, place) => (place === null ? null : (groups[place]?.[0] ?? null));

/** @param {import("./host/questions.js").Model} model @param {string} [name] @returns {AttentionRecord[]} */
function recordsOf(model, name = "records") {
  const given = model.get(name) ?? [];
  return (typeof given === "string" ? JSON.parse(given) : given).map(readRecord);
}
