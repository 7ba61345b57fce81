// All layers × heads at once, as small pictures on one canvas; a click or Enter leads into one.

import { entropies } from "../record/aggregation.js";
import { rampTable } from "../drawing/colours.js";
import { segmented } from "../elements/controls.js";
import { fill, h, penOf } from "../elements/dom.js";
import { stepInGrid } from "../elements/grid_keys.js";
import { t } from "../words/messages.js";

/** @typedef {import("../drawing/view.js").View} View */
/** @typedef {import("../drawing/colours.js").Theme} Theme */
/** @typedef {import("../record/record.js").AttentionMap} AttentionMap */
/** @typedef {import("../host/view_state.js").State} State */

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
  const canvas = h("canvas", { "aria-hidden": "true" });
  const buttons = h("div", { class: "head-buttons", role: "group", "aria-label": t("layers and heads") });
  const plane = h("div", { class: "heads-plane" }, canvas, buttons);
  const all = h(
    "button",
    { type: "button", class: "quiet", on: { click: () => set({ layer: "mean", head: "mean" }) } },
    t("mean of all"),
  );
  fill(element, h("div", { class: "aside-head" }, h("h2", null, t("Layers × heads")), all), order.element, plane);
  let drawn = "";
  /** @type {AttentionMap|null} */
  let drawnMap = null;

  /** @param {View} view */
  function update(view) {
    const { map, state } = view;
    element.hidden = map.L * map.H === 1;
    if (element.hidden) return;
    order.update([["place", t("place")], ["entropy", t("entropy")]], state.order);
    const layout = thumbnailLayout(map, element.clientWidth);
    const signature = [view.theme, state.order, layout.size].join();
    const places = orderOfHeads(map, state.order);
    if (signature !== drawn || map !== drawnMap) {
      drawn = signature;
      drawnMap = map;
      drawThumbnails(canvas, map, places, layout, view.theme);
      fill(buttons, places.map((place, n) => headButton(map, place, n, layout, state.order, set)));
    }
    markChosen(buttons, places, map, state);
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
    const next = list[Math.min(to.row * columns + to.col, list.length - 1)];
    for (const button of list) button.tabIndex = button === next ? 0 : -1;
    next.focus();
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

/** @param {HTMLCanvasElement} canvas @param {AttentionMap} map @param {number[]} places @param {ThumbnailLayout} layout @param {Theme} theme */
function drawThumbnails(canvas, map, places, layout, theme) {
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
    pen.putImageData(thumbnail(map, place, pixels, theme), 0, 0);
    const { left, top } = boxOfThumbnail(n, layout);
    context.drawImage(bitmap, left * ratio, top * ratio, layout.size * ratio, layout.height * ratio);
  });
}

/**
 * A head in few pixels: each shows the strongest weight of those that fall on it.
 * @param {AttentionMap} map @param {number} place @param {{across: number, down: number}} pixels @param {Theme} theme
 */
function thumbnail(map, place, { across, down }, theme) {
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
  const table = rampTable(theme, "sequential");
  const image = new ImageData(across, down);
  for (let n = 0; n < pooled.length; n++) {
    const shade = 3 * Math.round((255 * pooled[n]) / most);
    image.data.set([table[shade], table[shade + 1], table[shade + 2], 255], 4 * n);
  }
  return image;
}

/** @param {AttentionMap} map @param {number} place @param {number} n @param {ThumbnailLayout} layout @param {"place"|"entropy"} order @param {(patch: Partial<State>) => void} set */
function headButton(map, place, n, layout, order, set) {
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
      on: { click: () => set({ layer, head }) },
    },
    h("span", null, name, order === "entropy" && roomy ? h("i", { "aria-hidden": "true" }, entropy.toFixed(2)) : null),
  );
}

/** @param {HTMLElement} buttons @param {number[]} places @param {AttentionMap} map @param {State} state */
function markChosen(buttons, places, map, state) {
  buttons.dataset.columns = String(map.H > 1 ? map.H : Math.min(map.L, 4));
  /** @param {number} place */
  const chosen = (place) =>
    (typeof state.layer !== "number" || Math.min(state.layer, map.L - 1) === Math.floor(place / map.H)) &&
    (typeof state.head !== "number" || Math.min(state.head, map.H - 1) === place % map.H);
  const narrowed = typeof state.layer === "number" || typeof state.head === "number";
  [...buttons.children].forEach((button, n) =>
    button.setAttribute("aria-pressed", String(narrowed && chosen(places[n]))),
  );
}
