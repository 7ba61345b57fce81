"""Numbers for a person to read."""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import NDArray

SINGLE = 9  # significant digits that tell any two numbers of 32 bits apart
DOUBLE = 17  # … of 64 bits, most of which need fewer
SHOWN = 8  # numbers of an array
DECIMALS = 3  # that a large number has still: it may differ from others in them alone


def number_text(number: float) -> str:
    """With as many digits as it needs: nine, and more if it is large, so that three are decimals.

    >>> number_text(0.25), number_text(1e-6 / 3), number_text(1700000050.25)
    ('0.25', '3.33333333e-07', '1700000050.25')
    """
    if not (number and math.isfinite(number)):
        return f"{number:g}"
    whole = math.floor(math.log10(abs(number))) + 1
    digits = max(whole + DECIMALS, SINGLE)
    return f"{number:.{digits}g}" if digits < DOUBLE else repr(number)


def array_text(array: NDArray[Any]) -> str:
    """The first of its numbers; of a sequence of vectors (T, D), also how many they are.

    >>> import numpy as np
    >>> array_text(np.array([[0.5, 1], [2, 3]])), array_text(np.arange(20))
    ('2 vectors of 2 numbers: 0.5 1 2 3', '0 1 2 3 4 5 6 7 …')
    """
    shown = " ".join(map(number_text, array.reshape(-1)[:SHOWN].tolist()))
    shown += " …" if array.size > SHOWN else ""
    if array.ndim < 2:
        return shown
    count, size = array.shape
    vectors, numbers = "vector" if count == 1 else "vectors", "number" if size == 1 else "numbers"
    return f"{count:,} {vectors} of {size:,} {numbers}: {shown}"
