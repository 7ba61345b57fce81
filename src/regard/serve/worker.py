"""One thread asks the models: what waits is done together, and an idle server waits for nobody.

The first request goes at once; those that come meanwhile are the next batch. Short requests of one wish
(the same model and search settings) are joined, up to a number of sentences; a look stands alone. Looks
and batches take turns, and among their like the oldest is first, so that nobody is kept waiting for long.

A long request pauses wherever it can: it ends there if nobody waits for it any more, and lets in those who
need much less work than it does, for as long as it worked itself since the last pause at most.

Many clients who each ask again when they are answered would fall into two halves, one asking while the
other is served. So after a batch those who were answered are waited for, half as long as it took at most.

It is one thread for all models, and they are loaded in it: every thread that computes has a team of
OpenMP threads of its own, and where two teams have more threads than there are cores, all are slow.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, Generic, Literal, TypeVar

from regard.explanations.work_done import listening
from regard.serve.http_errors import Refused
from regard.serve.interruptible_run import Cancelled, Pause
from regard.serve.jobs import Job
from regard.serve.request_limits import SPEED, RequestLimits
from regard.words import speaking, t

Loaded = TypeVar("Loaded")
State = Literal["ok", "busy", "overloaded", "stopping", "stuck", "failed"]
STOPPING = "the server is stopping"
PATIENCE = 0.5  # of the time that a batch took, for those whom it answered
MUCH_LESS = 16  # a pause is for those who need this part of the work at most
JOINED = 16  # times the work of the longest short request: that of a batch
SLICE = 0.01  # seconds of work between two pauses, at least
BROKEN = 3  # calls in a row that failed, and the text was not to blame


class Worker(Generic[Loaded]):
    """The thread, what it has loaded, and what waits for it."""

    def __init__(
        self,
        load: Callable[[], Loaded],
        limits: RequestLimits,
        warm: Callable[[Loaded], None] = lambda loaded: None,
        *,
        daemon: bool = False,
    ) -> None:
        """warm: done once, before the first request, while the server can be reached already.

        daemon: the program does not wait for it at its end.
        """
        self.limits = limits
        self._waiting: dict[Job, None] = {}  # in the order of arrival
        self._running: list[Job] = []  # those that were let in by others come after these
        self._stopping, self._warming = False, False
        self._looked = False  # the turn before this one was a look
        self._expected, self._until = 0, 0.0  # sentences of the next batch, if they come by then
        self._failures, self._alive = 0, time.monotonic()  # in a row; when it was last heard of
        self._changed = threading.Condition()
        ready: Future[Loaded] = Future()
        self._thread = threading.Thread(
            target=self._work, args=(load, warm, ready), name="regard serve", daemon=daemon
        )
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

    @property
    def load(self) -> float:
        """The long work that waits or runs, as a share of what may: near 1, more of it is refused."""
        return self._pending(long=True) / self.limits.queued

    @property
    def state(self) -> State:
        working = self._warming or bool(self._running)
        silent = time.monotonic() - self._alive if working else 0.0
        if self._stopping:
            return "stopping"
        if self._failures >= BROKEN or not self._thread.is_alive():
            return "failed"
        if silent > self.limits.seconds:
            return "stuck"
        if self.waiting >= self.limits.waiting or self._pending(long=False) >= self.limits.queued:
            return "overloaded"
        return "busy" if working else "ok"

    def submit(self, job: Job) -> None:
        with self._changed:
            if self._stopping:
                raise Refused(503, STOPPING, retry_after="5")
            if self.waiting + len(job.inputs) > self.limits.waiting:
                raise Refused(
                    503,
                    t(
                        "{waiting} sentences are waiting, of at most {limits_waiting}: try again in a "
                        "moment",
                        waiting=self.waiting,
                        limits_waiting=self.limits.waiting,
                    ),
                    retry_after="1",
                )
            if (before := self._pending(job.long)) and before + job.work > self.limits.queued:
                seconds = math.ceil(before / SPEED)
                raise Refused(
                    503,
                    t(
                        "about {seconds} s of work are waiting: try again later, or ask for less",
                        seconds=seconds,
                    ),
                    retry_after=str(seconds),
                )
            self._waiting[job] = None
            self._changed.notify()

    def drop(self, job: Job) -> None:
        """Nobody waits for it any more: it is not begun, and if it is long, ended at its next pause."""
        with self._changed:
            job.dropped = True
            self._waiting.pop(job, None)

    def stop(self) -> None:
        """Finish what is short and has begun, refuse the rest."""
        with self._changed:
            self._stopping = True
            refused, self._waiting = self._waiting, {}
            self._changed.notify()
        for job in refused:
            job.settle(Refused(503, STOPPING, retry_after="5"))

    def join(self) -> None:
        self._thread.join()

    def _work(
        self, load: Callable[[], Loaded], warm: Callable[[Loaded], None], ready: Future[Loaded]
    ) -> None:
        try:
            loaded = load()
        except BaseException as error:
            ready.set_exception(error)
            return
        self._alive, self._warming = time.monotonic(), True
        ready.set_result(loaded)
        warm(loaded)
        self._warming = False
        while jobs := self._take():
            begin = time.monotonic()
            self._do(jobs)
            self._expect(jobs, time.monotonic() - begin)
            del jobs  # an answer of megabytes is not kept until the next request

    def _pending(self, long: bool) -> float:
        """The work of all that waits or runs, of the long requests or of the short ones."""
        jobs = (*tuple(self._waiting), *self._running)
        return sum(job.work for job in jobs if job.long == long and not job.dropped)

    def _expect(self, answered: list[Job], took: float) -> None:
        """Whom to wait for: those answered, beside those who wait already."""
        if answered[0].wish.alone or answered[0].long:
            self._expected = 0
            return
        back = sum(len(job.inputs) for job in answered) + self.waiting
        self._expected = min(back, self.limits.batch)
        self._until = time.monotonic() + PATIENCE * took

    def _take(self) -> list[Job]:
        """The jobs of the next call; none: the end."""
        with self._changed:
            while not self._stopping:
                self._changed.wait_for(lambda: self._waiting or self._stopping)
                left = max(self._until - time.monotonic(), 0.0)
                self._changed.wait_for(
                    lambda: self.waiting >= self._expected or self._stopping, left
                )
                # those who waited may have left meanwhile
                if not self._stopping and (jobs := self._taken(math.inf)):
                    return jobs
            return []

    def _taken(self, most: float) -> list[Job]:
        """Out of the queue: who has waited longest, of the kind whose turn it is, and who goes along.

        most: the work that a job may be.
        """
        fitting = [job for job in self._waiting if job.work <= most]
        if not fitting:
            return []
        turn = (job for job in fitting if job.wish.alone != self._looked)
        jobs = self._together(next(turn, fitting[0]))
        for job in jobs:
            del self._waiting[job]
        self._looked = jobs[0].wish.alone
        return jobs

    def _together(self, first: Job) -> list[Job]:
        """Those of the same wish that fit into one call with the first."""
        if first.wish.alone or first.long:
            return [first]
        jobs, count, longest, work = [first], len(first.inputs), first.longest, first.work
        for job in self._waiting:
            if (
                job is first
                or job.long
                or (job.wish, job.language)
                != (
                    first.wish,
                    first.language,
                )
            ):
                continue
            more, width = count + len(job.inputs), max(longest, job.longest)
            if self.limits.fit(more, width) and work + job.work <= JOINED * self.limits.short:
                jobs.append(job)
                count, longest, work = more, width, work + job.work
        return jobs

    def _do(self, jobs: list[Job]) -> None:
        """All in one call. If that fails, in halves: who is to blame is told, the others are answered."""
        answers = self._answers(jobs)
        if isinstance(answers, Exception):
            if len(jobs) > 1:
                half = len(jobs) // 2
                self._do(jobs[:half])
                self._do(jobs[half:])
            else:
                self._tell(jobs[0], answers)
            return
        self._failures, begin = 0, 0
        for job in jobs:
            end = begin + len(job.inputs)
            job.settle(answers[begin:end])
            begin = end

    def _answers(self, jobs: list[Job]) -> Sequence[Any] | Exception:
        """What is running is told before anybody has an answer."""
        inputs = [one for job in jobs for one in job.inputs]
        self._alive, self._running = time.monotonic(), [*self._running, *jobs]
        for job in jobs:
            job.began = job.began or self._alive
        pause = self._pause(jobs[0]) if jobs[0].long else None
        if pause is not None:
            jobs[0].done.told = pause
        try:
            with speaking(jobs[0].language), listening(jobs[0].done):
                return jobs[0].wish(inputs, pause)
        except Exception as error:
            return error
        finally:
            self._alive, self._running = time.monotonic(), self._running[: -len(jobs)]

    def _tell(self, job: Job, error: Exception) -> None:
        if isinstance(error, Cancelled):
            error = Refused(503, STOPPING, retry_after="5")  # if anybody still listens
        else:
            blameless = not isinstance(error, ValueError | Refused)
            self._failures = self._failures + 1 if blameless else 0
        job.settle(error)

    def _pause(self, job: Job) -> Pause:
        """What a long job calls between its parts."""
        until = time.monotonic() + SLICE

        def pause() -> None:
            nonlocal until
            if job.dropped or self._stopping:
                raise Cancelled
            self._alive = now = time.monotonic()
            if now < until:
                return
            with self._changed:
                others = self._taken(job.work / MUCH_LESS)
            if others:
                self._do(others)
            took = time.monotonic() - now
            until = now + took + max(SLICE, took)

        return pause
