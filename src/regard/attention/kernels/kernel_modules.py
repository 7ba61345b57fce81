"""Which module computes additive attention on a device, imported when it is first needed.

numba takes half a second to import and to find its compiled code, and seconds to compile it for the first
time on a machine. Small calls without gradients are not kept waiting for it: plain torch answers them while
a thread makes the kernel ready. With gradients it answers the first small call of a process, and no other,
so that what is trained does not depend on how quick a thread was. Large calls wait, for the kernel is worth
it, and all of them after `wait_always`.
"""

from __future__ import annotations

import functools
import os
import threading
from importlib.util import find_spec
from types import ModuleType

import torch

from regard.attention.kernels import additive_torch

PATIENCE = 1 << 23  # tanh: plain torch has them in less time than the kernel takes to be ready
_LOADED: dict[str, ModuleType] = {}  # by device type
READY = threading.Event()  # once the kernel for the CPU has run
_thread: threading.Thread | None = None
_always = False  # every call waits
_learnt = False  # there was a small call with gradients


def kernels(device_type: str) -> ModuleType:
    """The module with scores, scores_backward, attention and attention_backward for this device."""
    if device_type not in _LOADED:
        _LOADED[device_type] = _load(device_type)
        if device_type == "cpu":
            READY.set()
    return _LOADED[device_type]


@functools.cache
def named(device_type: str) -> str:
    """What computes on this device: "numba", "triton" or "torch"; nothing is imported to say so."""
    wanted = {"cpu": "numba", "cuda": "triton"}.get(device_type)
    try:
        return "torch" if wanted is None or find_spec(wanted) is None else wanted
    except (ImportError, ValueError):  # it is hidden, or broken
        return "torch"


def is_on_its_way(work: int) -> bool:
    """Whether the kernel for the CPU is not ready, and a call of so many tanh need not wait for it."""
    if READY.is_set() or not _is_small(work):
        return False
    _begin()
    return not READY.is_set()


def is_first_to_learn(work: int) -> bool:
    """Whether this is the one call with gradients that plain torch answers, ready or not."""
    global _learnt
    if _learnt or not _is_small(work):
        return False
    _learnt = True
    _begin()
    return True


def _is_small(work: int) -> bool:
    return not _always and work <= PATIENCE and named("cpu") == "numba"


def _begin() -> None:
    global _thread
    if _thread is None and not READY.is_set():
        _thread = threading.Thread(target=_make_ready, name="regard-kernels")
        _thread.start()


def wait_always() -> None:
    """From now on no call is answered by torch meanwhile: all numbers of a program come from one kernel."""
    global _always
    _always = True


def wait() -> None:
    """Until a kernel that a thread is making ready is."""
    if _thread is not None:
        _thread.join()


def _make_ready() -> None:
    """Import the kernel and run it once, for the precision that nearly all calls have."""
    module = _LOADED.setdefault("cpu", _load("cpu"))
    toy = torch.zeros(1, 2, 2)
    module.scores(toy, toy, toy[0, :1])
    READY.set()


def _load(device_type: str) -> ModuleType:
    try:
        if device_type == "cpu":
            from regard.attention.kernels import additive_cpu

            return additive_cpu
        if device_type == "cuda":
            from regard.attention.kernels import additive_triton

            return additive_triton
    except ImportError:  # numba or triton is not installed
        pass
    return additive_torch


if hasattr(
    os, "register_at_fork"
):  # a child has no such thread, and would wait for its import for ever
    os.register_at_fork(before=wait)
