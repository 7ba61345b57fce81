"""How far something has come: it says how much work there is and what is done, to whoever listens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass
class WorkDone:
    """In the multiplications of `model_work`. told: called after every part; what it raises ends the work."""

    expected: float = 0.0
    done: float = 0.0
    told: Callable[[], None] = lambda: None

    @property
    def share(self) -> float | None:
        """From 0 to 1; None: nobody knows how much there is."""
        return min(self.done / self.expected, 1.0) if self.expected else None


_listener: ContextVar[WorkDone | None] = ContextVar("work done", default=None)


@contextmanager
def listening(listener: WorkDone | None) -> Iterator[WorkDone | None]:
    """Inside the block, the listener knows of all work; None: nobody does, whoever listens outside."""
    before = _listener.set(listener)
    try:
        yield listener
    finally:
        _listener.reset(before)


def expect(work: float) -> None:
    """There will be so much work."""
    if (listener := _listener.get()) is not None:
        listener.expected += work


def worked(work: float) -> None:
    """So much of it has been done since this was last called."""
    if (listener := _listener.get()) is not None:
        listener.done += work
        listener.told()
