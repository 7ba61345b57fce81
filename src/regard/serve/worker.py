"""One thread asks the models: what waits is done together, and an idle server waits for nobody.

The first request goes at once; those that come meanwhile are the next batch. Requests of one wish (the
same model and search settings) are joined, up to a number of sentences; a look stands alone. Looks
and batches take turns, and among their like the oldest is first, so that nobody is kept waiting for long.

Many clients who each ask again when they are answered would fall into two halves, one asking while the
other is served. So after a batch those who were answered are waited for, half as long as it took at most.

It is one thread for all models, and they are loaded in it: every thread that computes has a team of
OpenMP threads of its own, and where two teams have more threads than there are cores, all are slow.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from regard.serve.limits import Limits
from regard.serve.refusals import Refused

Loaded = TypeVar("Loaded")
STOPPING = "the server is stopping"
PATIENCE = 0.5  # of the time that a batch took, for those whom it answered


class Wish(Protocol):
    """What is done with the inputs; requests with equal wishes may be done in one call."""

    @property
    def alone(self) -> bool: ...

    def __call__(self, inputs: Sequence[Any], /) -> Sequence[Any]:
        """An answer for each input, which does not depend on the others."""


@dataclass(eq=False)
class Job:
    """One request: its answers come to `answer`, in the event loop that made it."""

    wish: Wish
    inputs: Sequence[Any]
    longest: int  # characters of the longest input
    answer: asyncio.Future[Sequence[Any]] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    def settle(self, answers: Sequence[Any] | Exception) -> None:
        """From the worker's thread; nobody may be waiting any more, not even a loop."""
        with suppress(RuntimeError):
            self.answer.get_loop().call_soon_threadsafe(self._settle, answers)

    def _settle(self, answers: Sequence[Any] | Exception) -> None:
        if self.answer.done():
            return
        if isinstance(answers, Exception):
            self.answer.set_exception(answers)
        else:
            self.answer.set_result(answers)


class Worker(Generic[Loaded]):
    """The thread, what it has loaded, and what waits for it."""

    def __init__(self, load: Callable[[], Loaded], limits: Limits) -> None:
        self.limits = limits
        self._waiting: dict[Job, None] = {}  # in the order of arrival
        self._stopping = False
        self._looked = False  # the turn before this one was a look
        self._expected, self._until = 0, 0.0  # sentences of the next batch, if they come by then
        self._changed = threading.Condition()
        ready: Future[Loaded] = Future()
        self._thread = threading.Thread(target=self._work, args=(load, ready), name="regard serve")
        self._thread.start()
        try:
            self.loaded = ready.result()
        except BaseException:  # Ctrl-C too
            self.stop()
            raise

    @property
    def waiting(self) -> int:
        """Sentences that nobody has begun with."""
        return sum(len(job.inputs) for job in tuple(self._waiting))

    def submit(self, job: Job) -> None:
        with self._changed:
            if self._stopping:
                raise Refused(503, STOPPING, retry_after="5")
            if self.waiting + len(job.inputs) > self.limits.waiting:
                raise Refused(
                    503,
                    f"{self.waiting} sentences are waiting, and {self.limits.waiting} may: "
                    "try again in a moment",
                    retry_after="1",
                )
            self._waiting[job] = None
            self._changed.notify()

    def drop(self, job: Job) -> None:
        """Nobody waits for it any more. What has begun is finished, and thrown away."""
        with self._changed:
            self._waiting.pop(job, None)

    def stop(self) -> None:
        """Finish what has begun, refuse what waits."""
        with self._changed:
            self._stopping = True
            refused, self._waiting = self._waiting, {}
            self._changed.notify()
        for job in refused:
            job.settle(Refused(503, STOPPING, retry_after="5"))

    def join(self) -> None:
        self._thread.join()

    def _work(self, load: Callable[[], Loaded], ready: Future[Loaded]) -> None:
        try:
            ready.set_result(load())
        except BaseException as error:
            ready.set_exception(error)
            return
        while jobs := self._take():
            begin = time.monotonic()
            _do(jobs)
            self._expect(jobs, time.monotonic() - begin)
            del jobs  # an answer of megabytes is not kept until the next request

    def _expect(self, answered: list[Job], took: float) -> None:
        """Whom to wait for: those answered, beside those who wait already."""
        if answered[0].wish.alone:
            self._expected = 0
            return
        back = sum(len(job.inputs) for job in answered) + self.waiting
        self._expected = min(back, self.limits.batch)
        self._until = time.monotonic() + PATIENCE * took

    def _take(self) -> list[Job]:
        """The jobs of the next call; none: the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._stopping)
            left = max(self._until - time.monotonic(), 0.0)
            self._changed.wait_for(lambda: self.waiting >= self._expected or self._stopping, left)
            if self._stopping:
                return []
            jobs = self._together(self._next())
            for job in jobs:
                del self._waiting[job]
            self._looked = jobs[0].wish.alone
            return jobs

    def _next(self) -> Job:
        """Who has waited longest, of the kind whose turn it is."""
        turn = (job for job in self._waiting if job.wish.alone != self._looked)
        return next(turn, next(iter(self._waiting)))

    def _together(self, first: Job) -> list[Job]:
        """Those of the same wish that fit into one call with the first."""
        if first.wish.alone:
            return [first]
        jobs, count, longest = [first], len(first.inputs), first.longest
        for job in self._waiting:
            if job is first or job.wish != first.wish:
                continue
            more, width = count + len(job.inputs), max(longest, job.longest)
            if self.limits.fit(more, width):
                jobs.append(job)
                count, longest = more, width
        return jobs


def _do(jobs: list[Job]) -> None:
    """All in one call. If that fails, in halves: who is to blame is told, the others are answered."""
    inputs = [one for job in jobs for one in job.inputs]
    try:
        answers = jobs[0].wish(inputs)
    except Exception as error:
        if len(jobs) == 1:
            jobs[0].settle(error)
            return
        half = len(jobs) // 2
        _do(jobs[:half])
        _do(jobs[half:])
        return
    begin = 0
    for job in jobs:
        end = begin + len(job.inputs)
        job.settle(answers[begin:end])
        begin = end
