"""Whether the bytes of a PNG are all there: its chunks, one behind the other, each with its checksum."""

from __future__ import annotations

import struct
import zlib

from regard.words import t

START = b"\x89PNG\r\n\x1a\n"


def what_is_missing(data: bytes) -> str | None:
    """What is wrong with the bytes of a PNG, which were cut or changed on their way; None: they are whole."""
    if not data.startswith(START):
        return t("does not begin as a PNG does")
    place, names = len(START), set[bytes]()
    while place + 12 <= len(data):
        (length,) = struct.unpack(">I", data[place : place + 4])
        name, end = data[place + 4 : place + 8], place + 8 + length
        if end + 4 > len(data):
            return t("is cut off")
        (told,) = struct.unpack(">I", data[end : end + 4])
        if told != zlib.crc32(data[place + 4 : end]):
            return t("is damaged: a checksum is wrong")
        names.add(name)
        place = end + 4
        if name == b"IEND":
            return None if b"IDAT" in names else t("has no pixels")
    return t("is cut off")
