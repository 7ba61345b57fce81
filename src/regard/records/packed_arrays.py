"""Arrays as text in JSON: shape, type and the bytes in base64, row by row, little-endian.

    float32   as they are, up to 128 thousand numbers
    float16   up to a million; and more, where they are no weights
    sqrt8     weights beyond that: w = (byte / 255)², exact to 0.00002 near 0 and to 0.004 near 1
    bits      true and false, eight to a byte, the first in the highest bit
    numbers   no bytes but lists in lists, as people read them; null is NaN
    flags     the same for bits: 0 and 1

12 layers × 12 heads × 128 × 128 weights are 3.1 MB so.
"""

from __future__ import annotations

import base64
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.words import t

SMALL, MIDDLE = 2**17, 2**20  # numbers up to which float32 and float16 are kept
HALF = 65_000.0  # below the largest that float16 has
ALMOST_1 = 1 + 1e-3  # to which a softmax in half precision rounds
WRITTEN = ("numbers", "flags")  # as lists
TYPES = {"float32": "<f4", "float16": "<f2", "sqrt8": "u1", "bits": "u1"}


def pack(array: NDArray[np.floating[Any]], *, weights: bool = True) -> dict[str, Any]:
    """weights: most likely between 0 and 1; raw ones, and those that are NaN, are kept as other numbers."""
    if array.size <= SMALL:
        return _packed("float32", array)
    if weights and array.size > MIDDLE and bool(((array >= 0) & (array <= ALMOST_1)).all()):
        return _packed("sqrt8", np.rint(np.sqrt(np.minimum(array, 1)) * 255))
    fits = float(np.abs(array[np.isfinite(array)]).max(initial=0.0)) < HALF
    return _packed("float16" if fits else "float32", array)


def pack_bits(array: NDArray[np.bool_]) -> dict[str, Any]:
    return {**_packed("bits", np.packbits(array)), "shape": list(array.shape)}


def unpack(packed: dict[str, Any]) -> NDArray[Any]:
    """float32, or bool where bits were packed."""
    kind, shape = packed["type"], tuple(packed["shape"])
    if kind in WRITTEN:
        read = np.array([_number(each) for each in _flat(packed["data"], len(shape))], np.float32)
        return (read.astype(bool) if kind == "flags" else read).reshape(shape)
    if kind not in TYPES:
        raise ValueError(
            t(
                "no array of type {kind}: {value}",
                kind=repr(kind),
                value=", ".join((*TYPES, *WRITTEN)),
            )
        )
    raw = np.frombuffer(base64.b64decode(packed["data"], validate=True), TYPES[kind])
    if kind == "bits":
        count = prod(shape)  # of whole numbers, however large a file says they are
        if raw.size != -(-count // 8):
            raise ValueError(
                t("{count} bits are not {size} bytes", count=f"{count:,}", size=f"{raw.size:,}")
            )
        return np.unpackbits(raw, count=count).astype(bool).reshape(shape)
    if kind == "sqrt8":
        return np.square(raw.astype(np.float32) / 255).reshape(shape)
    return raw.astype(np.float32).reshape(shape)


def _packed(kind: str, array: NDArray[Any]) -> dict[str, Any]:
    data = base64.b64encode(np.ascontiguousarray(array, TYPES[kind]).tobytes()).decode("ascii")
    return {"type": kind, "shape": list(array.shape), "data": data}


def written(packed: dict[str, Any]) -> dict[str, Any]:
    """The same array as lists of numbers: the shortest decimals that are read back as they were."""
    array = unpack(packed)
    flags = array.dtype == bool
    decimals = np.vectorize(_decimal, otypes=[object])
    data = array.astype(int) if flags else decimals(array) if array.size else array
    kind = "flags" if flags else "numbers"
    return {"type": kind, "shape": packed["shape"], "data": data.tolist()}


def _decimal(number: np.float32) -> float | str | None:
    """0.1 for the float32 that is nearest to it; JSON has neither NaN nor infinity."""
    if np.isfinite(number):
        return float(str(np.float32(number)))
    return None if np.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def _number(written: float | str | None) -> float:
    return float("nan") if written is None else float(written)


def _flat(lists: Any, depth: int) -> list[Any]:
    return [lists] if depth == 0 else [x for each in lists for x in _flat(each, depth - 1)]
