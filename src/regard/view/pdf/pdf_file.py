"""The parts of a PDF file (ISO 32000): objects, streams, images, and the table at its end."""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray


class PdfFile:
    """Objects by number, from 1; the same input gives the same bytes."""

    def __init__(self) -> None:
        self.objects: list[bytes] = []

    def reserve(self) -> int:
        self.objects.append(b"")
        return len(self.objects)

    def put(self, number: int, content: str) -> int:
        self.objects[number - 1] = content.encode("latin-1")
        return number

    def add(self, content: str) -> int:
        return self.put(self.reserve(), content)

    def stream(self, entries: str, data: bytes) -> int:
        packed = zlib.compress(data, 9)
        head = f"<< {entries} /Filter /FlateDecode /Length {len(packed)} >>\nstream\n"
        number = self.reserve()
        self.objects[number - 1] = head.encode("latin-1") + packed + b"\nendstream"
        return number

    def image(self, pixels: NDArray[np.uint8]) -> int:
        """(H, W, 4): red, green, blue and opacity"""
        high, wide = pixels.shape[:2]
        size = f"/Type /XObject /Subtype /Image /Width {wide} /Height {high} /BitsPerComponent 8"
        seen = ""
        if (pixels[..., 3] < 255).any():
            mask = self.stream(f"{size} /ColorSpace /DeviceGray", pixels[..., 3].tobytes())
            seen = f" /SMask {mask} 0 R"
        colours = np.ascontiguousarray(pixels[..., :3]).tobytes()
        return self.stream(f"{size} /ColorSpace /DeviceRGB{seen}", colours)

    def written(self, root: int, info: int) -> bytes:
        """The whole file, whose catalog is object `root`."""
        data, places = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", []
        for number, content in enumerate(self.objects, 1):
            places.append(len(data))
            data += f"{number} 0 obj\n".encode() + content + b"\nendobj\n"
        count = len(places) + 1
        table = "".join(f"{place:010d} 00000 n \n" for place in places)
        end = f"xref\n0 {count}\n0000000000 65535 f \n{table}"
        end += f"trailer\n<< /Size {count} /Root {root} 0 R /Info {info} 0 R >>\n"
        return data + f"{end}startxref\n{len(data)}\n%%EOF\n".encode()


def text_string(text: str) -> str:
    """Any text, as UTF-16."""
    return f"<FEFF{text.encode('utf-16-be', 'replace').hex().upper()}>"
