"""npy, the format of numpy.save: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html.

Numbers and texts are read; pickled objects never are.
"""

from __future__ import annotations

import ast
from typing import Any, BinaryIO, ClassVar

import numpy as np

from regard.data.formats.arrays import Arrays, Layout, read_exactly

MAGIC = b"\x93NUMPY"
LONGEST = 10_000  # bytes of the head


class Npy(Arrays):
    """Arrays of numbers, or of texts."""

    endings: ClassVar = (".npy",)

    def layout(self, stream: BinaryIO) -> Layout:
        return npy_layout(stream)


def npy_layout(stream: BinaryIO) -> Layout:
    """The head of an array; a ValueError says what is wrong with it."""
    start = stream.read(8)
    if len(start) < 8 or not start.startswith(MAGIC):
        raise ValueError("it is no npy file, as numpy.save writes them")
    length = int.from_bytes(read_exactly(stream, 2 if start[6] == 1 else 4), "little")
    if length > LONGEST:
        raise ValueError(f"the head of the array is {length:,} bytes long")
    dtype, columnwise, shape = _head(read_exactly(stream, length))
    if columnwise and len(shape) > 1:
        raise ValueError("it is stored column by column: save numpy.ascontiguousarray of it")
    return Layout(dtype, shape)


def _head(text: bytes) -> tuple[np.dtype[Any], bool, tuple[int, ...]]:
    try:
        match ast.literal_eval(text.decode("utf-8").strip()):
            case {"descr": str(kind), "fortran_order": bool(order), "shape": tuple(shape)} if all(
                type(size) is int and size >= 0 for size in shape
            ):
                return np.dtype(kind), order, shape
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        pass
    raise ValueError("the head of the array cannot be read: save plain numbers or texts")
