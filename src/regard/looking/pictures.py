"""Records of attention over a picture: words that look at the cells of a grid, or at glimpses.

record = picture_record(weights, ["a", "dog"], "dog.jpg", grid=(14, 14))
"""

from __future__ import annotations

import base64
import binascii
import io
import math
import operator
import warnings
from collections.abc import Sequence, Sized
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from regard.records.attention_map import AttentionMap
from regard.records.kinds import brief
from regard.records.png_image import data_uri, encode_png
from regard.records.record import AttentionRecord, Box
from regard.records.side import MOST_PIXELS, NotARecord, Side
from regard.words import t

MAGIC = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpeg", b"GIF8": "gif"}


def picture_record(
    weights: Any,
    words: Sequence[object] | Side,
    image: Any,
    *,
    grid: tuple[int, int] | None = None,
    glimpses: Sequence[Any] = (),
    title: str = "",
    model: str = "",
    mechanism: str = "",
) -> AttentionRecord:
    """weights (words, cells) or (words, rows, columns), with heads and layers before them if any.

    image: a file, its bytes, or an array (H, W, 3) of bytes. grid: rows and columns of its cells, a
    square if not given. glimpses: for each word a box (left, top, width, height) in shares of the
    picture, or several.
    """
    if grid is not None:
        grid = _grid(grid)
    rows = words if isinstance(words, Side) else Side.of_labels(words, title="words")
    numbers, (high, wide) = _over_cells(np.asarray(weights, np.float32), grid)
    columns = Side.of_grid(image_uri(image), high, wide)
    made = AttentionMap("image", "words", "image", numbers, mechanism=mechanism)
    return AttentionRecord(
        {"words": rows, "image": columns},
        (made,),
        title=title,
        model=model,
        output=rows.text,
        glimpses=_boxes(glimpses, len(rows)),
    )


def image_uri(image: Any) -> str:
    """A data: URI of a file, of its bytes or of an array of pixels; a damaged picture is refused."""
    if isinstance(image, str) and image.startswith("data:image/"):
        try:
            return _encoded(
                base64.b64decode(image.partition(",")[2], validate=True), "data:image/…"
            )
        except binascii.Error as error:
            raise NotARecord(t("a picture is no base64: {error}", error=error)) from None
    if isinstance(image, (str, PathLike)):
        return _encoded(Path(image).read_bytes(), str(image))
    if isinstance(image, bytes):
        return _encoded(image, t("these bytes"))
    return data_uri(encode_png(_pixels(image)), "png")


def _encoded(data: bytes, name: str) -> str:
    kind = next((kind for magic, kind in MAGIC.items() if data.startswith(magic)), None)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        kind = "webp"
    if kind is None:
        raise NotARecord(
            t("{name}: a picture is a PNG, JPEG, GIF or WebP file, and this is none", name=name)
        )
    _check_whole(data, name)
    return data_uri(data, kind)


def _check_whole(data: bytes, name: str) -> None:
    """Whether it can be decoded; its pixels are counted before."""
    try:
        with warnings.catch_warnings():  # of many pixels
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data)) as picture:
                if picture.width * picture.height > MOST_PIXELS:
                    raise Image.DecompressionBombError
                picture.load()
    except Image.DecompressionBombError:
        raise NotARecord(
            t("{name}: a picture has at most {most} pixels", name=name, most=f"{MOST_PIXELS:,}")
        ) from None
    except Exception as error:  # in a damaged file pillow trips over anything
        raise NotARecord(
            t(
                "{name}: a damaged picture ({error})",
                name=name,
                error=str(error) or type(error).__name__,
            )
        ) from None


def _pixels(image: Any) -> np.ndarray[Any, np.dtype[np.uint8]]:
    pixels = np.asarray(image)
    if pixels.ndim == 2:  # grey
        pixels = np.repeat(pixels[..., None], 3, -1)
    if pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[2] not in (3, 4):
        raise NotARecord(
            t(
                "a picture is an array (height, width, 3) of bytes from 0 to 255, given "
                "{pixels_shape} of {dtype}: (image * 255).astype('uint8') makes bytes of "
                "shares, image.transpose(1, 2, 0) puts the colours last",
                pixels_shape=pixels.shape,
                dtype=pixels.dtype,
            )
        )
    if pixels.size == 0:
        raise NotARecord(t("a picture of {shape} has no pixels", shape=pixels.shape))
    return pixels


def _grid(given: Any) -> tuple[int, int]:
    try:
        rows, columns = map(operator.index, given)
    except (TypeError, ValueError):
        raise NotARecord(
            t("a grid is (rows, columns) of whole numbers, not {given}", given=repr(given))
        ) from None
    return rows, columns


def _over_cells(weights: Any, grid: tuple[int, int] | None) -> tuple[Any, tuple[int, int]]:
    """(layers, heads, words, cells), and the grid"""
    if weights.ndim < 2:
        raise NotARecord(
            t(
                "weights are (words, cells of the picture), given {weights_shape}",
                weights_shape=weights.shape,
            )
        )
    if grid is not None and weights.ndim > 2 and weights.shape[-2:] == tuple(grid):
        weights = weights.reshape(*weights.shape[:-2], -1)
    cells = weights.shape[-1]
    if grid is None:
        side = math.isqrt(cells)
        if side * side != cells:
            raise NotARecord(
                t(
                    "{cells} cells are no square: say how many rows and columns, grid=(rows, "
                    "columns)",
                    cells=cells,
                )
            )
        grid = (side, side)
    if grid[0] * grid[1] != cells:
        more = t(" (without that of a class token: weights[..., 1:])")
        raise NotARecord(
            t(
                "a grid of {grid} × {value} has {other} cells, but there are weights for "
                "{cells}{more}",
                grid=grid[0],
                value=grid[1],
                other=grid[0] * grid[1],
                cells=cells,
                more=more if grid[0] * grid[1] == cells - 1 else "",
            )
        )
    if weights.ndim > 4:
        raise NotARecord(
            t(
                "weights are (layers, heads, words, cells) at most, given {weights_shape}",
                weights_shape=weights.shape,
            )
        )
    return weights.reshape((1,) * (4 - weights.ndim) + weights.shape), grid


def _boxes(glimpses: Sequence[Any], words: int) -> tuple[tuple[Box, ...], ...]:
    if not isinstance(glimpses, Sized):
        raise NotARecord(
            t("glimpses are boxes for each word, not {type}", type=type(glimpses).__name__)
        )
    if not len(glimpses):
        return ()
    if len(glimpses) != words:
        raise NotARecord(
            t(
                "there are glimpses for {count} words, and {words} words",
                count=len(glimpses),
                words=words,
            )
        )
    found = []
    for each in glimpses:
        try:
            boxes = np.asarray(each, np.float64).reshape(-1, 4)
        except (ValueError, TypeError):
            boxes = np.full((1, 4), np.nan)
        if not ((boxes >= -1e-6) & (boxes <= 1 + 1e-6)).all():
            raise NotARecord(
                t(
                    "a glimpse is (left, top, width, height) in shares of the picture, from 0 to "
                    "1; given {given}",
                    given=brief(each),
                )
            )
        found.append(tuple((float(a), float(b), float(c), float(d)) for a, b, c, d in boxes))
    return tuple(found)
