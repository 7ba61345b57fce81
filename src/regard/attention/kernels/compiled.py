"""How our kernels for the CPU are compiled by numba, and kept for the next process.

@kernel           what a program calls; sums may be taken in another order, as vectors need it
@exact_kernel     every number is rounded where and as it is written
@part             compiled into the kernels, and cached with them
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

Function = Callable[..., None]

_exact: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
# No "nnan" or "ninf": infinities are capped on purpose and NaN must come out as NaN.
_fast: dict[str, Any] = _exact | {"fastmath": {"contract", "reassoc", "nsz", "arcp"}}

part = njit(**_fast)


def kernel(function: Function) -> Function:
    return _cached(function, _fast)


def exact_kernel(function: Function) -> Function:
    return _cached(function, _exact)


def _cached(function: Function, options: dict[str, Any]) -> Function:
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # neither the package nor the user's cache folder can be written to
        return njit(**options)(function)
