"""A sheet: one picture (PNG, JPEG) that is cut into tiles of one size, row by row. A tile is an example.

`sheet.png#48x32` has tiles 48 wide and 32 high. A file beside it, `sheet.json`, can say so instead, and how
many there are: {"tile": [48, 32], "count": 6470}. Without a count, tiles of a single colour at the end of the
last row are no pictures.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from regard.data.byte_lines import DAMAGE, open_bytes
from regard.data.formats.format import Format, Row
from regard.data.problems import CorpusError, Unusable
from regard.words import t

HEAVIEST = 1 << 28  # bytes of a file
TILE = re.compile(r"([1-9][0-9]{0,4})x([1-9][0-9]{0,4})")


class Sheet(Format):
    """Its one column is the size of a tile."""

    endings: ClassVar = (".png", ".jpg", ".jpeg")

    def columns(self, text: str, wanted: Sequence[str], fields: Sequence[str]) -> tuple[str, ...]:
        name = text.partition("#")[0]
        if len(fields) > 1:
            raise CorpusError(
                t(
                    "'{text}' holds pictures alone: name a file for each of {fields}, as "
                    "{name}#28x28,labels.txt",
                    text=text,
                    fields=", ".join(fields),
                    name=name,
                )
            )
        if wanted and (len(wanted) > 1 or not TILE.fullmatch(wanted[0])):
            raise CorpusError(
                t(
                    "'{text}': after # comes the size of a tile, as {name}#28x28",
                    text=text,
                    name=name,
                )
            )
        return tuple(wanted) or ("",)

    def rows(self, path: Path, columns: Sequence[str]) -> Iterator[Row]:
        from regard.data.picture_files import decoded  # pillow is loaded by those who have pictures

        size = TILE.fullmatch("".join(columns))
        said = _said_beside(path) if not size else (int(size[1]), int(size[2]), None)
        width, height, count = said
        try:
            with open_bytes(path) as stream:
                data = stream.read(HEAVIEST + 1)
            if len(data) > HEAVIEST:
                raise CorpusError(
                    t("{path} is over {heaviest} bytes long", path=path, heaviest=f"{HEAVIEST:,}")
                )
            picture = np.asarray(decoded(data))
        except (Unusable, *DAMAGE) as trouble:
            why = str(trouble).format("").removeprefix("lines with ")
            raise CorpusError(
                t("{path} cannot be read as a picture: {why}", path=path, why=why)
            ) from None
        down, across = picture.shape[0] / height, picture.shape[1] / width
        if down % 1 or across % 1:
            raise CorpusError(
                t(
                    "{path} is {picture_shape}x{value} pixels: it cannot be cut into tiles of "
                    "{width}x{height}",
                    path=path,
                    picture_shape=picture.shape[1],
                    value=picture.shape[0],
                    width=width,
                    height=height,
                )
            )
        tiles = _tiles(picture, width, height)
        held = _filled(tiles, int(across)) if count is None else count
        if held > len(tiles):
            raise CorpusError(
                t(
                    "{path} has {count} tiles, not the {held} that it is said to have",
                    path=path,
                    count=f"{len(tiles):,}",
                    held=f"{held:,}",
                )
            )
        for number in range(held):
            yield number + 1, [tiles[number]]


def _tiles(picture: NDArray[np.uint8], width: int, height: int) -> NDArray[np.uint8]:
    """(N, height, width) or (N, height, width, 3)."""
    rows, columns = picture.shape[0] // height, picture.shape[1] // width
    cut = picture.reshape(rows, height, columns, width, *picture.shape[2:]).swapaxes(1, 2)
    return cut.reshape(rows * columns, height, width, *picture.shape[2:])


def _filled(tiles: NDArray[np.uint8], across: int) -> int:
    """How many there are up to the last one, in the last row, that is more than one colour."""
    count = len(tiles)
    while (
        count > max(len(tiles) - across, 0)
        and not (tiles[count - 1] != tiles[count - 1][0, 0]).any()
    ):
        count -= 1
    return count


def _said_beside(path: Path) -> tuple[int, int, int | None]:
    beside = path.with_name(re.sub(r"\.(png|jpe?g)(\.gz|\.xz)?$", ".json", path.name))
    said: Any = None
    try:
        said = json.loads(beside.read_text(encoding="utf-8")) if beside.is_file() else None
    except (ValueError, RecursionError, OSError):
        raise CorpusError(t("{beside} cannot be read as JSON", beside=beside)) from None
    match said:
        case {"tile": [int(width), int(height)]} if min(width, height) > 0 and bool not in (
            type(width),
            type(height),
        ):
            count = said.get("count")
            if count is None or (type(count) is int and count >= 0):
                return width, height, count
    raise CorpusError(
        t(
            "{path} is a sheet of pictures: say how large they are, as {name}#28x28, or in "
            '{beside_name}, as {"tile": [28, 28], "count": 1000}',
            path=path,
            name=path.name,
            beside_name=beside.name,
        )
    )
