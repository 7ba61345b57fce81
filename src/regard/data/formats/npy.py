"""npy, the format of numpy.save: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html.

Numbers and texts are read; pickled objects never are.
"""

from __future__ import annotations

import ast
import math
import zipfile
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from regard.data.formats.arrays import ArrayHead, Arrays, read_exactly
from regard.data.problems import Unusable
from regard.words import t

LARGEST = 1 << 26  # bytes of an array that is one example
MAGIC = b"\x93NUMPY"
LONGEST = 10_000  # bytes of the head


class Npy(Arrays):
    """Arrays of numbers, or of texts."""

    endings: ClassVar = (".npy",)

    def head(self, stream: BinaryIO) -> ArrayHead:
        return npy_head(stream)


def npy_head(stream: BinaryIO) -> ArrayHead:
    """The head of an array; a ValueError says what is wrong with it."""
    start = stream.read(8)
    if len(start) < 8 or not start.startswith(MAGIC):
        raise ValueError(t("it is no npy file, as numpy.save writes them"))
    length = int.from_bytes(read_exactly(stream, 2 if start[6] == 1 else 4), "little")
    if length > LONGEST:
        raise ValueError(t("the head of the array is {length} bytes long", length=f"{length:,}"))
    dtype, columnwise, shape = _head(read_exactly(stream, length))
    if columnwise and len(shape) > 1:
        raise ValueError(t("it is stored column by column: save numpy.ascontiguousarray of it"))
    return ArrayHead(dtype, shape)


def _head(text: bytes) -> tuple[np.dtype[Any], bool, tuple[int, ...]]:
    try:
        match ast.literal_eval(text.decode("utf-8").strip()):
            case {"descr": str(kind), "fortran_order": bool(order), "shape": tuple(shape)} if all(
                type(size) is int and size >= 0 for size in shape
            ):
                return np.dtype(kind), order, shape
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        pass
    raise ValueError(t("the head of the array cannot be read: save plain numbers or texts"))


def read_array(path: Path) -> NDArray[Any]:
    """The array of a .npy file, or the only one of a .npz file; Unusable says why there is none."""
    try:
        if not path.is_file():  # no pipe, which never ends
            raise Unusable("{}lines that name a missing file")
        if path.suffix == ".npy":
            with path.open("rb") as stream:
                return _whole_array(stream)
        with zipfile.ZipFile(path) as archive:
            (member,) = archive.namelist()
            with archive.open(member) as inside:
                return _whole_array(cast(BinaryIO, inside))
    except Unusable:
        raise
    except Exception:  # of damaged and hostile archives
        raise Unusable("{}lines that name files without an array of numbers") from None


def _whole_array(stream: BinaryIO) -> NDArray[Any]:
    dtype, shape = npy_head(stream)
    size = dtype.itemsize * math.prod(shape)
    if dtype.kind not in "biuf":
        raise Unusable("{}lines that are not numbers")
    if size > LARGEST:
        raise Unusable(f"{{}}lines of arrays over {LARGEST:,} bytes")
    return np.frombuffer(read_exactly(stream, size), dtype).reshape(shape)
