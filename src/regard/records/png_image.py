"""A PNG in a record: its bytes, checked by their header, and as a data: URI in JSON.

PngImage.of(pixels).source    # data:image/png;base64,…
"""

from __future__ import annotations

import base64
import binascii
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.records.png_chunks import START, what_is_missing
from regard.records.side import NotARecord
from regard.words import t

URI = "data:image/png;base64,"
MOST_PIXELS = 1 << 24  # of a picture in a record
HEAVIEST = 1 << 24  # bytes of one
KINDS = {1: 0, 3: 2, 4: 6}  # channels: the number that PNG has for them
DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}  # bits a part


@dataclass(frozen=True)
class PngImage:
    """The bytes of a PNG file; width and height are those that its header says."""

    data: bytes

    def __post_init__(self) -> None:
        if len(self.data) > HEAVIEST:
            raise NotARecord(
                t("a picture of a record has at most {heaviest} bytes", heaviest=f"{HEAVIEST:,}")
            )
        wide, high, depth, kind, *_ = _header(self.data)
        if depth not in DEPTHS.get(kind, ()) or not 0 < wide * high <= MOST_PIXELS:
            raise NotARecord(
                t(
                    "a picture of a record has 1 to {most_pixels} pixels, of a kind that PNG "
                    "knows, not {wide} × {high} of kind {kind} with {depth} bits",
                    most_pixels=f"{MOST_PIXELS:,}",
                    wide=wide,
                    high=high,
                    kind=kind,
                    depth=depth,
                )
            )

    @classmethod
    def of(cls, pixels: Any) -> PngImage:
        """pixels: an array or a tensor (H, W), (H, W, C) or (C, H, W), C 1 or 3: bytes from 0 to 255, or
        numbers from 0 to 1; those beyond are cut off.
        """
        if hasattr(pixels, "detach"):
            pixels = pixels.detach().float().cpu().numpy()
        array = np.asarray(pixels)
        if array.ndim == 2:
            array = array[..., None]
        if array.ndim == 3 and array.shape[2] not in (1, 3) and array.shape[0] in (1, 3):
            array = array.transpose(1, 2, 0)
        if array.ndim != 3 or array.shape[2] not in (1, 3) or not array.size:
            raise NotARecord(
                t(
                    "pixels are (height, width), with 1 or 3 channels or none, not {array_shape}",
                    array_shape=array.shape,
                )
            )
        if array.dtype.kind in "bf":
            if not np.isfinite(array).all():
                raise NotARecord(t("pixels are numbers from 0 to 1: some of these are not finite"))
            array = np.rint(np.clip(array.astype(np.float64), 0, 1) * 255)
        elif array.min() < 0 or array.max() > 255:
            raise NotARecord(t("pixels in whole numbers are from 0 to 255"))
        return cls(encode_png(array.astype(np.uint8)))

    @property
    def width(self) -> int:
        return _header(self.data)[0]

    @property
    def height(self) -> int:
        return _header(self.data)[1]

    @cached_property
    def source(self) -> str:
        """A data: URI."""
        return data_uri(self.data, "png")

    def to_dict(self) -> dict[str, Any]:
        return {"source": self.source, "width": self.width, "height": self.height}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> PngImage:
        source = given["source"]
        if not isinstance(source, str) or not source.startswith(URI):
            raise NotARecord(
                t(
                    "a picture of a record is a {uri}… URI, not {source}",
                    uri=URI,
                    source=repr(str(source)[:40]),
                )
            )
        if len(source) > 2 * HEAVIEST:  # before anything is decoded
            raise NotARecord(
                t("a picture of a record has at most {heaviest} bytes", heaviest=f"{HEAVIEST:,}")
            )
        try:
            made = cls(base64.b64decode(source[len(URI) :], validate=True))
        except binascii.Error as error:
            raise NotARecord(
                t("a picture of a record is no base64: {error}", error=error)
            ) from None
        if wrong := what_is_missing(made.data):
            raise NotARecord(
                t("a picture of this record {wrong}: write the record anew", wrong=wrong)
            )
        if (given["width"], given["height"]) != (made.width, made.height):
            raise NotARecord(
                t(
                    "a picture says that it is {width} × {height}, but it is {made_width} × "
                    "{made_height}",
                    width=given["width"],
                    height=given["height"],
                    made_width=made.width,
                    made_height=made.height,
                )
            )
        return made


def encode_png(pixels: NDArray[np.uint8]) -> bytes:
    """(H, W, 1) grey, (H, W, 3) red, green, blue or (H, W, 4) with opacity -> the bytes of a file"""
    high, wide, channels = pixels.shape
    lines = np.zeros((high, 1 + wide * channels), np.uint8)  # each begins with its filter: none
    lines[:, 1:] = pixels.reshape(high, -1)
    header = struct.pack(">IIBBBBB", wide, high, 8, KINDS[channels], 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes())), (b"IEND", b""))
    return START + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )


def data_uri(data: bytes, kind: str) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}"


def _header(data: bytes) -> tuple[int, ...]:
    """Width, height, bits, kind, compression, filter, interlace."""
    if data[:8] != START or data[8:16] != b"\0\0\0\x0dIHDR" or len(data) < 33:
        raise NotARecord(t("a picture of a record is a PNG, and these bytes are none"))
    return struct.unpack(">IIBBBBB", data[16:29])
