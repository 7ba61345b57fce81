"""A number for a person to read."""

from __future__ import annotations

import math

SINGLE = 9  # significant digits that tell any two numbers of 32 bits apart
DOUBLE = 17  # … of 64 bits, most of which need fewer
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
