"""Numbers in nested lists or arrays, from whoever made them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.data.fields.field import Cell, Unusable


def array_of(cell: Cell) -> NDArray[Any]:
    """Integers, truth values or floating-point numbers in an array; Unusable for anything else."""
    try:
        array = np.array(cell) if not isinstance(cell, np.ndarray) else cell
    except (ValueError, TypeError, OverflowError, RecursionError, MemoryError):
        raise Unusable("{}lines of lists that are not all of one length") from None
    if array.dtype.kind not in "biuf":
        raise Unusable("{}lines that are not numbers")
    return array
