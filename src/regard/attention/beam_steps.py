"""Attention of the hypotheses of a beam, one query each: what a step of a search on the CPU is made of.

The kernels are compiled by numba, whose import takes half a second. Few steps are not worth that: they are
taken by the modules themselves while a thread makes the kernels ready, once there have been more.
"""

from __future__ import annotations

import math
import os
import threading
from types import ModuleType

from regard.attention.kernels.kernel_modules import named
from regard.attention.multi_head import MultiHead
from regard.attention.regions import Causal, Everywhere
from regard.attention.scores import ScaledDot

PATIENCE = 200  # sentences that are searched before the kernels are worth it

_asked = 0
_thread: threading.Thread | None = None
_module: ModuleType | None = None


def is_plain(attention: MultiHead, *, causal: bool) -> bool:
    """Whether it is softmax(q K^T / √D) V for each head, over all that there is or all that was before."""
    region, same = attention.region, Causal() if causal else Everywhere()
    return (
        type(attention) is MultiHead
        and type(attention.score) is ScaledDot
        and not (region.leads or region.predicts or region.needs_lengths)
        and region.patterns(9, 9) == same.patterns(9, 9)
        and attention.normalize.softmax_temperature == 1.0
        and attention.key_heads == attention.heads
        and attention.rotary is None
        and not attention.nan_safe
    )


def scale(attention: MultiHead) -> float:
    return 1.0 / math.sqrt(attention.head_size)


def kernels(sentences: int) -> ModuleType | None:
    """`attend_past` and `attend_source`, or None where they are not ready for so many sentences more."""
    global _asked, _thread
    _asked += sentences
    if _module is None and _thread is None and _asked > PATIENCE and named("cpu") == "numba":
        _thread = threading.Thread(target=_make_ready, name="regard-beam-steps")
        _thread.start()
    return _module


def wait() -> None:
    """Until a thread that makes them ready, if there is one, is done."""
    if _thread is not None:
        _thread.join()


def _make_ready() -> None:
    global _module
    from regard.attention.kernels import step_cpu

    step_cpu.run_once()
    _module = step_cpu


if hasattr(os, "register_at_fork"):  # a child has no such thread
    os.register_at_fork(before=wait)
