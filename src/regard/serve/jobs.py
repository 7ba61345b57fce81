"""A request as the worker sees it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from regard.explanations.work_done import WorkDone
from regard.serve.interruptible_run import Pause
from regard.words import language


class Wish(Protocol):
    """What is done with the inputs; requests with equal wishes may be done in one call."""

    @property
    def alone(self) -> bool: ...

    def __call__(self, inputs: Sequence[Any], pause: Pause | None, /) -> Sequence[Any]:
        """An answer for each input, which does not depend on the others. pause: to be called now and then."""


@dataclass(eq=False)
class Job:
    """One request: its answers come to `answer`, in the event loop that made it."""

    wish: Wish
    inputs: Sequence[Any]
    longest: int  # characters of the longest input, times the beam
    work: float = 0.0
    long: bool = False  # it pauses for others
    dropped: bool = False  # nobody waits for it any more
    done: WorkDone = field(default_factory=WorkDone)
    arrived: float = field(default_factory=time.monotonic)
    began: float | None = None  # when it was first worked on
    language: str = field(default_factory=language)  # of what it says
    answer: asyncio.Future[Sequence[Any]] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    def settle(self, answers: Sequence[Any] | Exception) -> None:
        """Called in the worker's thread; the client may be gone, and its event loop too."""
        with suppress(RuntimeError):
            self.answer.get_loop().call_soon_threadsafe(self._settle, answers)

    def _settle(self, answers: Sequence[Any] | Exception) -> None:
        if self.answer.done():
            return
        if isinstance(answers, Exception):
            self.answer.set_exception(answers)
        else:
            self.answer.set_result(answers)
