// The parts of a PDF file: objects, streams, images with their opacity, and the table at its end. As regard/view/pdf/pdf_file.py.

const encoder = new TextEncoder();

export class PdfFile {
  constructor() {
    /** @type {Uint8Array[]} */
    this.objects = [];
  }

  reserve() {
    return this.objects.push(new Uint8Array());
  }

  /** @param {number} number @param {string} content */
  put(number, content) {
    this.objects[number - 1] = encoder.encode(content);
    return number;
  }

  /** @param {string} content */
  add(content) {
    return this.put(this.reserve(), content);
  }

  /** @param {string} entries @param {Uint8Array<ArrayBuffer>} data */
  async stream(entries, data) {
    const packed = await deflated(data);
    const head = encoder.encode(`<< ${entries} /Filter /FlateDecode /Length ${packed.length} >>\nstream\n`);
    const number = this.reserve();
    this.objects[number - 1] = joined([head, packed, encoder.encode("\nendstream")]);
    return number;
  }

  /** @param {ImageData} image */
  async image({ width, height, data }) {
    const size = `/Type /XObject /Subtype /Image /Width ${width} /Height ${height} /BitsPerComponent 8`;
    const [colours, mask] = [new Uint8Array(3 * width * height), new Uint8Array(width * height)];
    for (let at = 0; at < mask.length; at++) {
      colours.set(data.subarray(4 * at, 4 * at + 3), 3 * at);
      mask[at] = data[4 * at + 3];
    }
    const seen = mask.every((opacity) => opacity === 255) ? "" : ` /SMask ${await this.stream(`${size} /ColorSpace /DeviceGray`, mask)} 0 R`;
    return this.stream(`${size} /ColorSpace /DeviceRGB${seen}`, colours);
  }

  /** The whole file. @param {number} root the catalog @param {number} info */
  written(root, info) {
    const parts = [Uint8Array.from([...encoder.encode("%PDF-1.4\n%"), 0xe2, 0xe3, 0xcf, 0xd3, 10])];
    let length = parts[0].length;
    let table = "";
    this.objects.forEach((content, n) => {
      table += `${String(length).padStart(10, "0")} 00000 n \n`;
      const whole = joined([encoder.encode(`${n + 1} 0 obj\n`), content, encoder.encode("\nendobj\n")]);
      parts.push(whole);
      length += whole.length;
    });
    const count = this.objects.length + 1;
    parts.push(encoder.encode(`xref\n0 ${count}\n0000000000 65535 f \n${table}trailer\n<< /Size ${count} /Root ${root} 0 R /Info ${info} 0 R >>\nstartxref\n${length}\n%%EOF\n`));
    return joined(parts);
  }
}

/** Any text, as UTF-16. @param {string} text */
export function textString(text) {
  return `<FEFF${Array.from({ length: text.length }, (_, n) => text.charCodeAt(n).toString(16).padStart(4, "0")).join("").toUpperCase()}>`;
}

/** zlib's format. @param {Uint8Array<ArrayBuffer>} data */
async function deflated(data) {
  const stream = new Blob([data]).stream().pipeThrough(new CompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** @param {Uint8Array[]} parts */
export function joined(parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
