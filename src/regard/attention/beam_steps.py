"""Attention of the hypotheses of a beam, one query each: what a step of a search on the CPU is made of.

The kernels are compiled by numba, whose import takes half a second. Few steps are not worth that: they are
taken by the modules themselves while a thread makes the kernels ready, once there have been more.
"""

from __future__ import annotations

import importlib
import math
import os
import sys
import threading
from types import ModuleType

from regard.attention.kernels.kernel_modules import named
from regard.attention.multi_head import MultiHead
from regard.attention.regions import Causal, Everywhere
from regard.attention.scores import ScaledDot

PATIENCE = 200  # sentences that are searched before the kernels are worth it

MODULES = ["regard.attention.kernels.step_cpu"]  # who has more kernels of a step adds its own
_asked = 0
_thread: threading.Thread | None = None
_ready = False


def is_plain(attention: MultiHead, *, causal: bool) -> bool:
    """Whether it is softmax(q K^T / √D) V for each head, over all that there is or all that was before.

    Queries and keys may be turned by their positions.
    """
    region, same = attention.region, Causal() if causal else Everywhere()
    return (
        type(attention) is MultiHead
        and type(attention.score) is ScaledDot
        and not (region.leads or region.predicts or region.needs_lengths)
        and region.patterns(9, 9) == same.patterns(9, 9)
        and attention.normalize.softmax_temperature == 1.0
        and attention.cap is None
        and attention.sinks is None
        and attention.key_heads == attention.heads
        and not attention.nan_safe
    )


def scale(attention: MultiHead) -> float:
    return 1.0 / math.sqrt(attention.head_size)


def begin(sentences: int) -> None:
    """So many sentences more are searched: once they are many, a thread makes the kernels ready."""
    global _asked, _thread
    _asked += sentences
    if not _ready and _thread is None and _asked > PATIENCE and named("cpu") == "numba":
        _thread = threading.Thread(target=_make_ready, name="regard-beam-steps")
        _thread.start()


def kernels(name: str = MODULES[0]) -> ModuleType | None:
    """The module with the kernels of a step; None where they are not ready."""
    return sys.modules.get(name) if _ready else None


def wait() -> None:
    """Until a thread that makes them ready, if there is one, is done."""
    if _thread is not None:
        _thread.join()


def _make_ready() -> None:
    global _ready
    for name in MODULES:
        importlib.import_module(name).run_once()
    _ready = True


if hasattr(os, "register_at_fork"):  # a child has no such thread
    os.register_at_fork(before=wait)
