"""How wide and high the picture in a file is, from its first bytes."""

from __future__ import annotations

import base64
import struct

WITHOUT_LENGTH = {0x01, *range(0xD0, 0xDA)}  # markers of JPEG that nothing follows
FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}  # those that begin with the size


def image_size(uri: str) -> tuple[int, int] | None:
    """(width, height) of a data: URI of a PNG, JPEG, GIF or WebP; None if it does not say."""
    try:
        data = base64.b64decode(uri.partition(",")[2])
        if data.startswith(b"\x89PNG"):
            return struct.unpack(">II", data[16:24])
        if data.startswith(b"GIF8"):
            return struct.unpack("<HH", data[6:10])
        if data[8:12] == b"WEBP":
            return _webp(data)
        return _jpeg(data) if data.startswith(b"\xff\xd8") else None
    except (ValueError, IndexError, struct.error):
        return None


def _jpeg(data: bytes) -> tuple[int, int] | None:
    """Each part is ff, its kind, its length; the frame says height and width."""
    at = 2
    while data[at] == 0xFF:
        kind = data[at + 1]
        if kind in FRAMES:
            high, wide = struct.unpack(">HH", data[at + 5 : at + 9])
            return wide, high
        at += 2 if kind in WITHOUT_LENGTH else 2 + struct.unpack(">H", data[at + 2 : at + 4])[0]
    return None


def _webp(data: bytes) -> tuple[int, int] | None:
    kind = data[12:16]
    if kind == b"VP8X":
        sizes = data[24:27] + b"\0" + data[27:30] + b"\0"
        wide, high = struct.unpack("<II", sizes)
        return wide + 1, high + 1
    if kind == b"VP8 ":
        wide, high = struct.unpack("<HH", data[26:30])
        return wide & 0x3FFF, high & 0x3FFF
    bits = struct.unpack("<I", data[21:25])[0]  # VP8L
    return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
