"""Files that hold one array of numbers: a row is what stands at one place of the first axis.

They are read a few rows at a time, compressed or not. What the head of a file says of its size is not
believed: no more memory is taken than a row needs, and a row has a limit.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.byte_lines import DAMAGE, open_bytes
from regard.data.formats.format import Format, Row, bare_name
from regard.data.problems import CorpusError, Unusable
from regard.words import t

LONGEST = 1 << 26  # bytes of a row
BLOCK = 1 << 20  # bytes read together, if rows are shorter
MOST_AXES = 8
KINDS = {"b": "truth values", "i": "integers", "u": "integers", "f": "numbers", "U": "texts"}


class ArrayHead(NamedTuple):
    """What the head of a file says."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]


class Arrays(Format):
    """A format whose files begin with a head and go on with the numbers, row by row."""

    @abstractmethod
    def head(self, stream: BinaryIO) -> ArrayHead:
        """Read the head; a ValueError says what is wrong with it."""

    def usual_columns(self, text: str, fields: Sequence[str]) -> tuple[str, ...]:
        if len(fields) == 1:
            return ("",)  # whole rows
        raise CorpusError(
            t(
                "'{text}' holds one array: name a file for each of {fields}, or the columns of "
                "a table of numbers, as {text}#{map}",
                text=text,
                fields=", ".join(fields),
                map=",".join(map(str, range(len(fields)))),
            )
        )

    def rows(self, path: Path, columns: Sequence[str]) -> Iterator[Row]:
        wanted = [int(column) for column in columns if column]
        number = 0
        with open_bytes(path) as stream:
            try:
                head = self.head(stream)
                _check(head, path, stream)
                for number, row in enumerate(_rows(stream, head), start=1):
                    yield number, _cells(row, wanted)
            except DAMAGE as error:
                raise CorpusError(
                    t(
                        "{path} is damaged or cut off after row {number}: {error}",
                        path=path,
                        number=f"{number:,}",
                        error=error,
                    )
                ) from error
            except CorpusError:
                raise
            except ValueError as error:
                raise CorpusError(
                    f"{path}: {error}",
                    t(
                        "such a file holds one array of numbers with a row for each example, as numpy.save "
                        "writes it"
                    ),
                ) from None


def read_exactly(stream: BinaryIO, count: int) -> bytes:
    """So many bytes; an EOFError if there are fewer."""
    data = stream.read(count)
    if len(data) < count:
        raise EOFError("it holds less than its head says")
    return data


def _check(head: ArrayHead, path: Path, stream: BinaryIO) -> None:
    kind, shape = head.dtype.kind, head.shape
    if kind not in KINDS or head.dtype.hasobject:
        raise ValueError(
            t("arrays of {dtype} cannot be read: save numbers or texts", dtype=head.dtype)
        )
    if not 1 <= len(shape) <= MOST_AXES:
        raise ValueError(t("its shape is {shape}: the first axis is the examples", shape=shape))
    size = head.dtype.itemsize * math.prod(shape[1:])
    if shape[0] and not 0 < size <= LONGEST:
        raise ValueError(
            t(
                "its shape is {shape}: a row is {size} bytes long, over the limit of {longest}",
                shape=shape,
                size=f"{size:,}",
                longest=f"{LONGEST:,}",
            )
        )
    if bare_name(path.name) == path.name:
        held = path.stat().st_size - stream.tell()
        if held < size * shape[0]:
            raise EOFError(
                f"its shape is {shape}, {size * shape[0]:,} bytes, but it holds {held:,}"
            )


def _rows(stream: BinaryIO, head: ArrayHead) -> Iterator[NDArray[Any]]:
    count, *shape = head.shape
    size = head.dtype.itemsize * math.prod(shape)
    together = max(1, BLOCK // max(size, 1))
    for start in range(0, count, together):
        held = min(together, count - start)
        data = stream.read(held * size)
        whole = len(data) // size
        block = np.frombuffer(data, head.dtype, whole * math.prod(shape))
        rows = block.reshape(whole, *shape)
        yield from (rows[number, ...] for number in range(whole))
        if whole < held:
            raise EOFError("it holds less than its head says")


def _cells(row: NDArray[Any], columns: Sequence[int]) -> list[Any] | Unusable:
    if not columns:
        return _whole(row)
    if row.ndim == 0 or max(columns) >= len(row):
        return Unusable(f"lines without a column {max(columns)}")
    cells: list[Any] = []
    for column in columns:
        cell = _whole(row[column, ...])
        if isinstance(cell, Unusable):
            return cell
        cells += cell
    return cells


def _whole(row: NDArray[Any]) -> list[Any] | Unusable:
    """An array; a single number or text as Python has them."""
    if row.ndim:
        return [row]
    if row.dtype.kind != "U":
        return [int(row) if row.dtype.kind == "b" else row.item()]
    try:  # numpy would make a text of anything
        text = row.astype(row.dtype.newbyteorder("<")).tobytes().decode("utf-32-le")
    except UnicodeDecodeError:
        return Unusable("{}lines not in UTF-8")
    return [text.rstrip("\0")]
