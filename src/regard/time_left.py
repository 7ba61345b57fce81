"""How far a command has come and how long it will take: a bar on a terminal, else a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from regard.clock import rough
from regard.words import t

SOON = 1.0  # seconds in which nothing is said
LINE_EVERY = 10.0  # seconds between plain lines
WIDTH = 24  # of the bar
ERASE = "\r\x1b[K"  # what stands on the line


@contextmanager
def loading() -> Iterator[None]:
    """On a terminal it says that a model is loaded, which takes seconds, until it is."""
    shown = sys.stderr.isatty()
    if shown:
        print(t("loading the model …"), end="", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        if shown:
            print(ERASE, end="", file=sys.stderr, flush=True)


def say_loading() -> None:
    """The same in a line that stays, before a server says its address."""
    if sys.stderr.isatty():
        print(t("loading the model …"), file=sys.stderr, flush=True)


class TimeLeft:
    """On stderr. what: is counted, in words."""

    def __init__(self, what: str) -> None:
        self.what = what
        self._begin = self._last = time.monotonic()
        self._moving = sys.stderr.isatty()
        self._drawn = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self._drawn:
            print(ERASE, end="", file=sys.stderr, flush=True)

    def see(self, done: float, count: float) -> None:
        now = time.monotonic()
        wait = 0.2 if self._moving else LINE_EVERY
        if now - self._begin < SOON or now - self._last < wait or not count:
            return
        self._last = now
        words = self._words(done, count, now - self._begin)
        if not self._moving:
            print(words, file=sys.stderr, flush=True)
            return
        full = int(WIDTH * min(done / count, 1))
        bar = "━" * full + "╌" * (WIDTH - full)
        print(f"{ERASE}{bar} {words}", end="", file=sys.stderr, flush=True)
        self._drawn = True

    def _words(self, done: float, count: float, seconds: float) -> str:
        if count <= 1:  # a share
            known = {"what": self.what, "percent": f"{100 * min(done, 1):.0f}"}
            if not done:
                return t("{what}: {percent} %", **known)
            left = rough(max(seconds / done * (count - done), 0))
            return t("{what}: {percent} %, about {time} left", time=left, **known)
        numbers = {"done": f"{done:,.0f}", "count": f"{count:,.0f}", "what": self.what}
        if not done:
            return t("{done} of {count} {what}", **numbers)
        left = rough(seconds / done * (count - done))
        return t("{done} of {count} {what}, about {time} left", time=left, **numbers)
