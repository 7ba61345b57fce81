// All layers × heads at once, as small pictures on one canvas; a click or Enter leads into one.

import { entropies } from "../record/aggregation.js";
import { firstHeads, headsAt, placesOfHeads } from "../drawing/chosen_heads.js";
import { cssColour, mixedColour, MOST_HEADS, rampTable } from "../drawing/colours.js";
import { segmented, toggle } from "../elements/controls.js";
import { fill, h, penOf } from "../elements/dom.js";
import { stepInGrid } from "../elements/grid_keys.js";
import { t } from "../words/messages.js";

/** @typedef {import("../drawing/view.js").View} View */
/** @typedef {import("../record/record.js").AttentionMap} AttentionMap */

/** @typedef {ReturnType<typeof thumbnailLayout>} ThumbnailLayout */

const GAP = 6;
const LABEL = 16;
const LARGEST = 104;

/**
 * @param {HTMLElement} element
 * @param {(patch: object) => void} set
 */
export function mountHeads(element, set) {
  const order = segmented(t("sort by"), (value) => set({ order: value }));
  /** @type {View|null} */
  let shown = null;
  const several = toggle(t("several in colours"), (on) => shown && set({ heads: on ? firstHeads(shown.map, shown.state) : "" }));
  const hint = h("p", { class: "heads-hint", role: "status" });
  const canvas = h("canvas", { "aria-hidden": "true" });
  const buttons = h("div", { class: "head-buttons", role: "group", "aria-label": t("layers and heads") });
  const plane = h("div", { class: "heads-plane" }, canvas, buttons);
  const all = h(
    "button",
    { type: "button", class: "quiet", on: { click: () => set({ layer: "mean", head: "mean", heads: "" }) } },
    t("mean of all"),
  );
  fill(element, h("div", { class: "aside-head" }, h("h2", null, t("Layers × heads")), all), order.element, several.element, hint, plane);
  let drawn = "";
  /** @type {AttentionMap|null} */
  let drawnMap = null;

  /** @param {View} view */
  function update(view) {
    const { map, state } = view;
    shown = view;
    element.hidden = map.L * map.H === 1;
    if (element.hidden) return;
    order.update([["place", t("place")], ["entropy", t("entropy")]], state.order);
    const layout = thumbnailLayout(map, element.clientWidth);
    several.update(view.heads.length > 0);
    hint.textContent = view.heads.length ? t("{n} of at most {most} heads: click others, or Enter, to show or hide them", { n: view.heads.length, most: MOST_HEADS }) : "";
    const signature = [view.theme, state.order, layout.size, state.heads].join();
    const places = orderOfHeads(map, state.order);
    if (signature !== drawn || map !== drawnMap) {
      drawn = signature;
      drawnMap = map;
      drawThumbnails(canvas, view, places, layout);
      const focused = [...buttons.children].findIndex((button) => button.contains(document.activeElement));
      fill(buttons, places.map((place, n) => headButton(map, place, n, layout, state.order, choose)));
      if (focused >= 0) reach(focused);
    }
    markChosen(buttons, places, view);
  }

  /** One head; or, of several, one more or one less. @param {number} place */
  function choose(place) {
    if (!shown) return;
    const { map, state } = shown;
    if (!shown.heads.length) return set({ layer: Math.floor(place / map.H), head: place % map.H });
    const there = placesOfHeads(state.heads, map);
    const next = there.includes(place) ? there.filter((each) => each !== place) : [...there, place];
    if (next.length <= MOST_HEADS) set({ heads: headsAt(next, map) });
  }

  /** @param {number} n */
  function reach(n) {
    const list = [...buttons.querySelectorAll("button")];
    list.forEach((button, at) => (button.tabIndex = at === n ? 0 : -1));
    list[n]?.focus({ preventScroll: true });
  }

  buttons.addEventListener("keydown", (event) => {
    const list = [...buttons.querySelectorAll("button")];
    const from = list.findIndex((button) => button.contains(/** @type {Node} */ (event.target)));
    const columns = Number(buttons.dataset.columns) || 1;
    const to = stepInGrid(
      event.key,
      { row: Math.floor(from / columns), col: from % columns },
      { rows: Math.ceil(list.length / columns), cols: columns },
    );
    if (!to || from < 0) return;
    event.preventDefault();
    reach(Math.min(to.row * columns + to.col, list.length - 1));
  });
  return { update };
}

/**
 * The numbers layer × H + head in the order they are shown: as they are, or the most focused first.
 * @param {AttentionMap} map @param {string} order
 */
export function orderOfHeads(map, order) {
  const places = Array.from({ length: map.L * map.H }, (_, n) => n);
  if (order !== "entropy") return places;
  const entropy = entropiesOf(map);
  return places.sort((a, b) => entropy[a] - entropy[b] || a - b);
}

const KNOWN_ENTROPIES = new WeakMap();
/** @param {AttentionMap} map */
function entropiesOf(map) {
  if (!KNOWN_ENTROPIES.has(map)) KNOWN_ENTROPIES.set(map, entropies(map));
  return KNOWN_ENTROPIES.get(map);
}

/** @param {AttentionMap} map @param {number} width */
function thumbnailLayout(map, width) {
  const columns = map.H > 1 ? map.H : Math.min(map.L, 4);
  const room = Math.max(width - GAP * (columns - 1), columns * 12);
  const size = Math.min(Math.floor(room / columns), LARGEST);
  const ratio = Math.min(Math.max(map.Q / map.K, 0.4), 1.6);
  return { columns, rows: Math.ceil((map.L * map.H) / columns), size, height: Math.max(Math.round(size * ratio), 8) };
}

/** @param {number} n @param {ThumbnailLayout} layout */
function boxOfThumbnail(n, layout) {
  const [row, col] = [Math.floor(n / layout.columns), n % layout.columns];
  return { left: col * (layout.size + GAP), top: row * (layout.height + GAP + LABEL) };
}

/** @param {HTMLCanvasElement} canvas @param {View} view @param {number[]} places @param {ThumbnailLayout} layout */
function drawThumbnails(canvas, view, places, layout) {
  const { map } = view;
  const ratio = Math.min(globalThis.devicePixelRatio || 1, 2);
  const width = layout.columns * (layout.size + GAP) - GAP;
  const height = layout.rows * (layout.height + GAP + LABEL);
  canvas.width = Math.ceil(width * ratio);
  canvas.height = Math.ceil(height * ratio);
  canvas.style.setProperty("width", `${width}px`);
  canvas.style.setProperty("height", `${height}px`);
  const context = penOf(canvas);
  const pixels = {
    across: Math.min(map.K, Math.ceil(layout.size * ratio)),
    down: Math.min(map.Q, Math.ceil(layout.height * ratio)),
  };
  const bitmap = document.createElement("canvas");
  bitmap.width = pixels.across;
  bitmap.height = pixels.down;
  const pen = penOf(bitmap);
  context.imageSmoothingEnabled = false;
  places.forEach((place, n) => {
    pen.putImageData(thumbnail(map, place, pixels, rampOf(view, place)), 0, 0);
    const { left, top } = boxOfThumbnail(n, layout);
    context.drawImage(bitmap, left * ratio, top * ratio, layout.size * ratio, layout.height * ratio);
  });
}

/** Of several heads each has its own colour, others the usual ones. @param {View} view @param {number} place */
function rampOf({ heads, map, theme }, place) {
  const chosen = heads.find(({ layer, head }) => layer * map.H + head === place);
  if (!chosen) return rampTable(theme, "sequential");
  return Uint8ClampedArray.from(Array.from({ length: 256 }, (_, n) => mixedColour(chosen.colour, n / 255, theme)).flat());
}

/**
 * A head in few pixels: each shows the strongest weight of those that fall on it.
 * @param {AttentionMap} map @param {number} place @param {{across: number, down: number}} pixels @param {Uint8ClampedArray} table 256 colours
 */
function thumbnail(map, place, { across, down }, table) {
  const pooled = new Float32Array(across * down);
  const from = place * map.Q * map.K;
  for (let query = 0; query < map.Q; query++) {
    const row = Math.floor((query * down) / map.Q) * across;
    for (let key = 0; key < map.K; key++) {
      const to = row + Math.floor((key * across) / map.K);
      const weight = map.weights[from + query * map.K + key];
      if (weight > pooled[to]) pooled[to] = weight;
    }
  }
  const most = pooled.reduce((a, b) => Math.max(a, b), 0) || 1;
  const image = new ImageData(across, down);
  for (let n = 0; n < pooled.length; n++) {
    const shade = 3 * Math.round((255 * pooled[n]) / most);
    image.data.set([table[shade], table[shade + 1], table[shade + 2], 255], 4 * n);
  }
  return image;
}

/** @param {AttentionMap} map @param {number} place @param {number} n @param {ThumbnailLayout} layout @param {"place"|"entropy"} order @param {(place: number) => void} choose */
function headButton(map, place, n, layout, order, choose) {
  const [layer, head] = [Math.floor(place / map.H), place % map.H];
  const { left, top } = boxOfThumbnail(n, layout);
  const entropy = entropiesOf(map)[place];
  const roomy = layout.size >= 56;
  const name = layout.size < 34 && order === "place" ? `${head + 1}` : `${layer + 1}.${head + 1}`;
  return h(
    "button",
    {
      type: "button",
      class: "head-button",
      tabindex: n === 0 ? "0" : "-1",
      title: t("{layer}, head {head}, entropy {entropy} nats", { layer: map.layers[layer], head: head + 1, entropy: entropy.toFixed(2) }),
      // with what is written on it, for who says that to choose it
      "aria-label": `${t("{layer}, head {head}, entropy {entropy}", { layer: map.layers[layer], head: head + 1, entropy: entropy.toFixed(2) })}: ${name}`,
      style: {
        left: `${left}px`,
        top: `${top}px`,
        width: `${layout.size}px`,
        height: `${layout.height + LABEL}px`,
        "--picture": `${layout.height}px`,
      },
      on: { click: () => choose(place) },
    },
    h("span", null, name, order === "entropy" && roomy ? h("i", { "aria-hidden": "true" }, entropy.toFixed(2)) : null),
  );
}

/** @param {HTMLElement} buttons @param {number[]} places @param {View} view */
function markChosen(buttons, places, { map, state, heads }) {
  buttons.dataset.columns = String(map.H > 1 ? map.H : Math.min(map.L, 4));
  /** @param {number} place */
  const chosen = (place) =>
    (typeof state.layer !== "number" || Math.min(state.layer, map.L - 1) === Math.floor(place / map.H)) &&
    (typeof state.head !== "number" || Math.min(state.head, map.H - 1) === place % map.H);
  const narrowed = typeof state.layer === "number" || typeof state.head === "number";
  [...buttons.querySelectorAll("button")].forEach((button, n) => {
    const coloured = heads.find(({ layer, head }) => layer * map.H + head === places[n]);
    button.setAttribute("aria-pressed", String(heads.length ? coloured !== undefined : narrowed && chosen(places[n])));
    if (coloured) button.style.setProperty("--head", cssColour(coloured.colour));
    else button.style.removeProperty("--head");
  });
}
