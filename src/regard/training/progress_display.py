"""What a person sees while a run goes on: a bar on a terminal, plain lines elsewhere; both on stderr."""

from __future__ import annotations

import sys
import time
from collections import deque
from itertools import pairwise
from pathlib import Path
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from regard.clock import rough
from regard.words import say, t

LINE_EVERY = 30.0  # seconds between plain lines
RECENT = 50  # updates that speed and loss are averaged over


class Sight:
    """Speed, loss and time left, from the updates seen."""

    def __init__(self, unit: str = "tokens") -> None:
        self.unit = unit  # what the loss is the mean of
        self._recent: deque[tuple[float, float, int]] = deque(maxlen=RECENT)  # (time, loss, tokens)
        self._first: tuple[float, float] | None = None  # (time, share done) at the first update
        self.step, self.epoch, self.done = 0, 0, 0.0

    def see(self, step: int, epoch: int, done: float, loss: float, tokens: int) -> None:
        now = time.monotonic()
        self.step, self.epoch, self.done = step, epoch, done
        self._recent.append((now, loss, tokens))
        self._first = self._first or (now, done)

    @property
    def loss(self) -> float:
        return sum(loss for _, loss, _ in self._recent) / max(sum(n for *_, n in self._recent), 1)

    @property
    def speed(self) -> float:
        """Tokens, or whatever is scored, per second; a pause for validation is not counted as training."""
        steps = list(self._recent)
        spans = sorted(b[0] - a[0] for a, b in pairwise(steps))
        if not spans:
            return 0.0
        usual = spans[len(spans) // 2] * 20
        seconds = sum(span for span in spans if span <= usual)
        return sum(n for *_, n in steps[1:]) / max(seconds, 1e-9)

    @property
    def left(self) -> float | None:
        """Seconds to the end, if this start goes on as it did."""
        if self._first is None or self.done <= self._first[1]:
            return None
        return (time.monotonic() - self._first[0]) / (self.done - self._first[1]) * (1 - self.done)

    def words(self) -> str:
        known = {
            "epoch": self.epoch + 1,
            "step": f"{self.step:,}",
            "loss": f"{self.loss:.3f}",
            "speed": f"{self.speed:,.0f}",
            "unit": say(self.unit),
        }
        if self.left is None:
            return t("epoch {epoch}, step {step}: loss {loss}, {speed} {unit}/s", **known)
        return t(
            "epoch {epoch}, step {step}: loss {loss}, {speed} {unit}/s, {time} left",
            time=rough(max(self.left, 0)),
            **known,
        )


class Reporter(Protocol):
    def say(self, text: str) -> None: ...
    def warn(self, text: str) -> None: ...
    def see(self, step: int, epoch: int, done: float, loss: float, tokens: int) -> None: ...
    def close(self) -> None: ...


class ProgressLines:
    """For logs: a line now and then, nothing that moves."""

    def __init__(self, *, quiet: bool = False, unit: str = "tokens") -> None:
        self.sight, self.quiet, self._last = Sight(unit), quiet, time.monotonic()

    def say(self, text: str) -> None:
        if not self.quiet:
            print(text, file=sys.stderr, flush=True)

    def warn(self, text: str) -> None:
        """For those too who want no progress."""
        print(warning(text), file=sys.stderr, flush=True)

    def see(self, step: int, epoch: int, done: float, loss: float, tokens: int) -> None:
        self.sight.see(step, epoch, done, loss, tokens)
        if time.monotonic() - self._last >= LINE_EVERY:
            self._last = time.monotonic()
            self.say(self.sight.words())

    def close(self) -> None:
        pass


class Bar:
    """For a terminal: one bar over the whole run."""

    def __init__(self, console: Console, unit: str = "tokens") -> None:
        self.sight = Sight(unit)
        self._progress = Progress(
            BarColumn(), TextColumn("{task.description}"), console=console, refresh_per_second=4
        )
        self._task: TaskID | None = None
        self._last = 0.0

    def say(self, text: str) -> None:
        self._progress.console.print(text, highlight=False, markup=False, soft_wrap=True)

    def warn(self, text: str) -> None:
        self.say(warning(text))

    def see(self, step: int, epoch: int, done: float, loss: float, tokens: int) -> None:
        self.sight.see(step, epoch, done, loss, tokens)
        now = time.monotonic()
        if now - self._last < 0.2:  # words take longer to make than a small step
            return
        self._last = now
        if self._task is None:
            self._task = self._progress.add_task("", total=1.0)
            self._progress.start()
        self._progress.update(self._task, completed=done, description=self.sight.words())

    def close(self) -> None:
        if self._task is not None:
            self._progress.stop()


class Logged:
    """A reporter whose words also go to a file, with the time."""

    def __init__(self, inner: Reporter, path: Path) -> None:
        self._inner, self._path = inner, path

    def say(self, text: str) -> None:
        self._inner.say(text)
        self._log(text)

    def warn(self, text: str) -> None:
        self._inner.warn(text)
        self._log(warning(text))

    def _log(self, text: str) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}\n")

    def see(self, step: int, epoch: int, done: float, loss: float, tokens: int) -> None:
        self._inner.see(step, epoch, done, loss, tokens)

    def close(self) -> None:
        self._inner.close()


def warning(text: str) -> str:
    return t("warning: {message}", message=text)


def make_reporter(log: Path, *, quiet: bool = False, unit: str = "tokens") -> Reporter:
    console = Console(stderr=True)
    moving = console.is_terminal and not console.is_dumb_terminal and not quiet
    return Logged(Bar(console, unit) if moving else ProgressLines(quiet=quiet, unit=unit), log)
