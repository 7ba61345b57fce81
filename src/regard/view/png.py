"""Pictures as PNG: an array of pixels by zlib alone, an SVG by resvg with the fonts of the system."""

from __future__ import annotations

import base64
import re
import struct
import unicodedata
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

MISSING = "\U0010fffd"  # for private use: no font has it, so it is drawn as all that are missing
TEXT = re.compile(r"<text([^>]*)>([^<]*)</text>")
FAMILY = re.compile(r'font-family="([^"]*)"')
PACKAGES = {"CJK": "fonts-noto-cjk", "HIRAGANA": "fonts-noto-cjk", "KATAKANA": "fonts-noto-cjk"}
PACKAGES |= {"HANGUL": "fonts-noto-cjk"}


class NoFont(ValueError):
    """No installed font has a character of the picture."""

    hint = "an .svg or .html file shows it with the fonts of whoever opens it"


def encode_png(pixels: NDArray[np.uint8]) -> bytes:
    """(H, W, 3) red, green, blue or (H, W, 4) with opacity -> the bytes of a file"""
    high, wide, channels = pixels.shape
    lines = np.zeros((high, 1 + wide * channels), np.uint8)  # each begins with its filter: none
    lines[:, 1:] = pixels.reshape(high, -1)
    header = struct.pack(">IIBBBBB", wide, high, 8, {3: 2, 4: 6}[channels], 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes())), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )


def data_uri(data: bytes, kind: str) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}"


def rasterise(svg: str, *, zoom: float = 2.0) -> bytes:
    """The PNG of an SVG, `zoom` pixels for each of its units."""
    import resvg_py

    _check_fonts(svg, resvg_py)
    return resvg_py.svg_to_bytes(svg_string=svg, zoom=zoom)


def _check_fonts(svg: str, resvg: Any) -> None:
    """NoFont, naming a package, if a character would be drawn as an empty box."""
    seen: set[tuple[str, str]] = set()
    for attributes, content in TEXT.findall(svg):
        family = "".join(FAMILY.findall(attributes)[:1])
        seen |= {(family, c) for c in content if not c.isascii() and c.isprintable()}
    boxes = {family: _glyph(resvg, family, MISSING) for family, _ in seen}
    for family, character in sorted(seen):
        if unicodedata.combining(character) or unicodedata.category(character) == "Mn":
            continue  # is drawn on the character before it
        if _glyph(resvg, family, character) == boxes[family]:
            name = unicodedata.name(character, f"U+{ord(character):X}")
            package = PACKAGES.get(name.split()[0], "fonts-noto")
            raise NoFont(
                f"no installed font has {character!r} ({name.lower()}), so a PNG would show an "
                f"empty box: install one (Debian: {package}), or save an .svg or .html file"
            )


def _glyph(resvg: Any, family: str, character: str) -> bytes:
    # it stands in content that was escaped already, and is not ASCII
    text = f'<text x="4" y="30" font-size="24" font-family="{family}">{character}</text>'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40">{text}</svg>'
    return resvg.svg_to_bytes(svg_string=svg)
