"""How far something has come: what is done says how much work it was, and whoever wants to know listens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[float], None]  # told of work, in the multiplications of `model_work`

_listener: ContextVar[Listener | None] = ContextVar("work done", default=None)


@contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Inside the block, the listener is told of all work; None: nobody is, whoever listens outside.

    What a listener raises ends the work: so it is cancelled.
    """
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)


def worked(work: float) -> None:
    """So much work has been done since this was last called."""
    listener = _listener.get()
    if listener is not None:
        listener(work)
