"""Ctrl-C and SIGTERM as a wish to stop after the update at hand; a second Ctrl-C stops at once.

A signal that is ignored when the run starts, as Ctrl-C is under nohup, stays ignored.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any, Self

WATCHED = (signal.SIGINT, signal.SIGTERM)


class Signals:
    def __init__(self) -> None:
        self.received: int = 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():  # others may not set handlers
            self._before = {
                number: signal.signal(number, self._note)
                for number in WATCHED
                if signal.getsignal(number) is not signal.SIG_IGN
            }
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.received = number
        if signal.SIGINT in self._before:
            signal.signal(signal.SIGINT, signal.default_int_handler)
