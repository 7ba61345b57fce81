"""Numbers in nested lists or arrays, from whoever made them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.data.fields.field import Cell, Unusable


def array_of(cell: Cell) -> NDArray[Any]:
    """Integers, truth values or floating-point numbers in an array; Unusable for anything else."""
    if isinstance(cell, Tensor):  # also one that learns, or that numpy has no dtype for
        cell = (cell.float() if cell.dtype == torch.bfloat16 else cell).detach().cpu().numpy()
    try:
        array = np.array(cell) if not isinstance(cell, np.ndarray) else cell
    except (ValueError, TypeError, OverflowError, RecursionError, MemoryError):
        raise Unusable("{}lines of lists that are not all of one length") from None
    except RuntimeError:  # a list of tensors that learn
        raise Unusable("{}lines that are not numbers") from None
    if array.dtype.kind not in "biuf":
        raise Unusable("{}lines that are not numbers")
    return array
