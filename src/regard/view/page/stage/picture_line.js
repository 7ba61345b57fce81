// A picture to ask about: chosen, dropped on the page or pasted. One that is too heavy to send is made smaller.

import { fill, h, penOf } from "../elements/dom.js";
import { t } from "../words/messages.js";

const HEAVIEST = 700_000; // bytes of a file that is sent as it is
const LONGEST_TEXT = 960_000; // characters: a server takes 2 ** 20 in one request
const LONGEST_SIDE = 1024; // pixels of one that is made smaller
const URI = /^data:image\/(png|jpeg);base64,[A-Za-z0-9+/]*={0,2}$/;

/** @param {unknown} text */
export const isPicture = (text) => typeof text === "string" && URI.test(text);

export class PictureLine {
  /** What is to be asked about; a text of "" is nothing. */
  asked = { text: "", name: "" };

  /** @param {() => void} ask @param {(error: unknown) => void} complain */
  constructor(ask, complain) {
    this.ask = ask;
    this.complain = complain;
    this.file = h("input", { type: "file", accept: "image/png,image/jpeg", class: "unseen", tabindex: -1, "aria-hidden": "true", on: { change: () => this.take(this.file.files?.[0]) } });
    this.button = h("button", { type: "button", class: "picture-choose", on: { click: () => this.file.click() } }, t("Choose a picture …"));
    this.thumb = h("span", { class: "picture-thumb" });
    this.said = h("span", { class: "picture-said", role: "status" }, t("or drop one here, or paste it"));
    this.element = h("div", { class: "question picture-question" }, this.thumb, this.button, this.said, this.file);
  }

  /** Pictures may be dropped on the whole viewer, and pasted anywhere on its page. @param {HTMLElement} element @param {() => boolean} wanted */
  listen(element, wanted) {
    const zone = () => element.closest(".regard") ?? element;
    const over = (/** @type {boolean} */ on) => this.element.classList.toggle("is-over", on);
    /** @param {DragEvent} event */
    const drag = (event) => {
      if (!wanted() || ![...(event.dataTransfer?.types ?? [])].includes("Files")) return;
      event.preventDefault();
      over(event.type === "dragover");
      if (event.type === "drop") this.take(event.dataTransfer?.files[0]);
    };
    requestAnimationFrame(() => {
      for (const name of ["dragover", "dragleave", "drop"]) zone().addEventListener(name, /** @type {any} */ (drag));
    });
    document.addEventListener("paste", (event) => {
      const typing = event.target instanceof HTMLElement && event.target.matches("input[type=text], textarea, [contenteditable]");
      const file = [...(event.clipboardData?.files ?? [])].find((each) => each.type.startsWith("image/"));
      if (!file || typing || !wanted() || !element.isConnected) return;
      event.preventDefault();
      this.take(file);
    });
  }

  /** @param {File|undefined} file */
  async take(file) {
    if (!file) return;
    try {
      const text = file.size > HEAVIEST ? await smaller(file) : await asUri(file);
      if (!isPicture(text)) throw new Error(t("{name} is neither a PNG nor a JPEG file.", { name: file.name }));
      this.show(text, file.name);
      this.ask();
    } catch (error) {
      this.complain(error);
    } finally {
      this.file.value = ""; // the same file may be chosen again
    }
  }

  /** @param {string} text @param {string} name */
  show(text, name) {
    if (!isPicture(text)) return;
    this.asked = { text, name: name.slice(0, 200) };
    fill(this.thumb, h("img", { src: text, alt: name || t("the picture that was looked at"), draggable: "false" }));
    this.said.textContent = name || t("a picture");
  }
}

/** @param {Blob} file @returns {Promise<string>} */
function asUri(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(String(reader.result)));
    reader.addEventListener("error", () => reject(reader.error));
    reader.readAsDataURL(file);
  });
}

/** Upright, and as large as may be sent. @param {File} file */
async function smaller(file) {
  const image = await createImageBitmap(file).catch(() => null);
  if (!image) throw new Error(t("{name} is neither a PNG nor a JPEG file.", { name: file.name }));
  for (let side = LONGEST_SIDE; ; side /= 2) {
    const less = Math.min(1, side / Math.max(image.width, image.height));
    const canvas = h("canvas", { width: Math.max(Math.round(image.width * less), 1), height: Math.max(Math.round(image.height * less), 1) });
    const pen = penOf(canvas);
    pen.imageSmoothingQuality = "high";
    pen.drawImage(image, 0, 0, canvas.width, canvas.height);
    const found = [canvas.toDataURL("image/png"), canvas.toDataURL("image/jpeg", 0.9)].find((text) => text.length < LONGEST_TEXT);
    if (found || side < 32) return found ?? "";
  }
}
