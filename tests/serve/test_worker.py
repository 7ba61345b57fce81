"""Requests are joined while they wait, never held back, and none can harm another."""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import dataclass, field

import pytest

from regard.serve.http_errors import Refused
from regard.serve.jobs import Job
from regard.serve.request_limits import RequestLimits
from regard.serve.worker import Worker


@dataclass(eq=False)
class Log:
    """What was done in one call, and a gate before it."""

    calls: list[list[str]] = field(default_factory=list)
    threads: set[int] = field(default_factory=set)
    go: threading.Event = field(default_factory=threading.Event)
    begun: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True)
class Upper:
    log: Log
    name: str = "a"
    alone: bool = False

    def __call__(self, inputs, pause):
        self.log.calls.append(list(inputs))
        self.log.threads.add(threading.get_ident())
        self.log.begun.set()
        assert self.log.go.wait(20)
        if "bad" in inputs:
            raise ValueError("bad is not good")
        return [text.upper() for text in inputs]


async def begun(log: Log) -> None:
    assert await asyncio.to_thread(log.begun.wait, 20)


def working(scene, *, limits: RequestLimits | None = None) -> Log:
    """Run `scene(worker, log)` in an event loop, then end the worker; what was done."""
    log = Log()
    worker = Worker(lambda: threading.get_ident(), limits or RequestLimits())
    try:
        asyncio.run(asyncio.wait_for(scene(worker, log), 30))
    finally:
        log.go.set()
        worker.stop()
        worker.join()
    return log


def submitted(worker: Worker, wish: Upper, *inputs: str) -> Job:
    job = Job(wish, inputs, max(map(len, inputs)))
    worker.submit(job)
    return job


def test_the_first_goes_at_once_and_the_others_together():
    async def scene(worker, log):
        first = submitted(worker, Upper(log), "a")
        await begun(log)
        others = [submitted(worker, Upper(log), text, text * 2) for text in "bcd"]
        log.go.set()
        assert await first.answer == ["A"]
        assert [await job.answer for job in others] == [["B", "BB"], ["C", "CC"], ["D", "DD"]]

    assert working(scene).calls == [["a"], ["b", "bb", "c", "cc", "d", "dd"]]


def test_a_call_has_one_wish_and_no_more_than_fits():
    async def scene(worker, log):
        first = submitted(worker, Upper(log), "x")
        await begun(log)
        one, other = Upper(log, "one"), Upper(log, "other")
        wishes = [(one, "a"), (other, "b"), (one, "c"), (one, "d"), (one, "long-long-long")]
        jobs = [submitted(worker, wish, text) for wish, text in wishes]
        log.go.set()
        await asyncio.gather(first.answer, *(job.answer for job in jobs))

    log = working(scene, limits=RequestLimits(batch=3, padded=20))
    assert log.calls == [["x"], ["a", "c", "d"], ["b"], ["long-long-long"]]


def test_a_request_that_is_more_than_a_batch_is_done_alone():
    async def scene(worker, log):
        first = submitted(worker, Upper(log), "x")
        await begun(log)
        jobs = [submitted(worker, Upper(log), *"abcde"), submitted(worker, Upper(log), "f")]
        log.go.set()
        await asyncio.gather(first.answer, *(job.answer for job in jobs))

    assert working(scene, limits=RequestLimits(batch=3)).calls == [["x"], [*"abcde"], ["f"]]


def test_looks_and_batches_take_turns():
    async def scene(worker, log):
        first = submitted(worker, Upper(log), "x")
        await begun(log)
        look = Upper(log, alone=True)
        jobs = [submitted(worker, look, f"look {n}") for n in range(3)]
        jobs += [submitted(worker, Upper(log, name), name) for name in ("p", "q")]
        jobs += [submitted(worker, Upper(log, "p"), "p again")]
        log.go.set()
        await asyncio.gather(first.answer, *(job.answer for job in jobs))

    calls = working(scene).calls
    assert calls == [["x"], ["look 0"], ["p", "p again"], ["look 1"], ["q"], ["look 2"]]


def test_a_failure_is_told_to_the_one_who_caused_it():
    async def scene(worker, log):
        first = submitted(worker, Upper(log), "x")
        await begun(log)
        jobs = [submitted(worker, Upper(log), text) for text in ("a", "b", "bad", "c", "d")]
        log.go.set()
        answers = await asyncio.gather(
            first.answer, *(job.answer for job in jobs), return_exceptions=True
        )
        assert [type(one) for one in answers] == [list, list, list, ValueError, list, list]
        assert await submitted(worker, Upper(log), "still there").answer == ["STILL THERE"]

    working(scene)


def test_what_nobody_waits_for_is_not_done():
    async def scene(worker, log):
        first = submitted(worker, Upper(log), "x")
        await begun(log)
        gone, kept = submitted(worker, Upper(log), "gone"), submitted(worker, Upper(log), "kept")
        assert worker.waiting == 2
        worker.drop(gone)
        assert worker.waiting == 1
        worker.drop(first)  # it has begun: nothing to take out
        log.go.set()
        assert await kept.answer == ["KEPT"]

    assert working(scene).calls == [["x"], ["kept"]]


def test_who_leaves_while_others_are_waited_for_does_not_end_it():
    """After a batch of four the worker waits for as many; the one who came has gone before that ends."""

    @dataclass(frozen=True)
    class Slow(Upper):
        def __call__(self, inputs, pause):
            time.sleep(0.2)
            return super().__call__(inputs, pause)

    async def scene(worker, log):
        log.go.set()
        together = [submitted(worker, Slow(log), text) for text in "abcd"]
        for job in together:
            await job.answer
        gone = submitted(worker, Slow(log), "gone")
        await asyncio.sleep(0.01)
        worker.drop(gone)
        await asyncio.sleep(0.3)
        assert worker.state == "ok"
        assert await submitted(worker, Slow(log), "still there").answer == ["STILL THERE"]

    assert ["gone"] not in working(scene).calls


def test_the_queue_has_an_end():
    async def scene(worker, log):
        submitted(worker, Upper(log), "x")
        await begun(log)
        submitted(worker, Upper(log), "a", "b", "c")
        with pytest.raises(Refused, match="3 sentences are waiting, of at most 4") as refused:
            submitted(worker, Upper(log), "d", "e")
        assert refused.value.status_code == 503
        assert refused.value.headers == {"retry-after": "1"}
        submitted(worker, Upper(log), "f")  # that is as many as may
        log.go.set()

    working(scene, limits=RequestLimits(waiting=4))


def test_stopping_finishes_what_runs_and_refuses_the_rest():
    async def scene(worker, log):
        running = submitted(worker, Upper(log), "x")
        await begun(log)
        waiting = submitted(worker, Upper(log), "y")
        worker.stop()
        with pytest.raises(Refused, match="stopping"):
            await waiting.answer
        with pytest.raises(Refused, match="stopping"):
            submitted(worker, Upper(log), "z")
        log.go.set()
        assert await running.answer == ["X"]

    assert working(scene).calls == [["x"]]


def test_models_are_loaded_in_the_thread_that_asks_them():
    async def scene(worker, log):
        log.go.set()
        await submitted(worker, Upper(log), "x").answer
        assert log.threads == {worker.loaded}
        assert worker.loaded != threading.get_ident()

    working(scene)


def test_what_cannot_be_loaded_is_told_and_leaves_no_thread():
    before = threading.active_count()

    def load():
        raise FileNotFoundError("no run there")

    with pytest.raises(FileNotFoundError, match="no run there"):
        Worker(load, RequestLimits())
    for thread in threading.enumerate():
        if thread.name == "regard serve":
            thread.join(10)
    assert threading.active_count() == before


@dataclass(frozen=True)
class Slow:
    """A call takes a while, however much is in it."""

    sizes: list[int] = field(default_factory=list)
    begun: list[float] = field(default_factory=list)
    takes: float = 0.1
    alone: bool = False

    def __call__(self, inputs, pause):
        self.sizes.append(len(inputs))
        self.begun.append(time.monotonic())
        time.sleep(self.takes)
        return list(inputs)


async def keeps_asking(worker: Worker, wish: Slow, times: int) -> None:
    for _ in range(times):
        await submitted(worker, wish, "a").answer


def test_clients_who_ask_again_at_once_come_together():
    wish = Slow()

    async def scene(worker, log):
        first = asyncio.ensure_future(keeps_asking(worker, wish, 6))
        await asyncio.sleep(0.02)  # the first is served alone, the others wait meanwhile
        await asyncio.gather(first, *(keeps_asking(worker, wish, 5) for _ in range(7)))

    working(scene)
    assert wish.sizes == [1, 8, 8, 8, 8, 8]


def test_who_comes_to_an_idle_server_is_not_kept_waiting():
    wish = Slow(takes=0.6)

    async def scene(worker, log):
        await asyncio.gather(*(keeps_asking(worker, wish, 1) for _ in range(4)))
        await asyncio.sleep(0.4)  # longer than the worker's patience, and nobody comes back
        begin = time.monotonic()
        await submitted(worker, wish, "a").answer
        assert wish.begun[-1] - begin < 0.25

    working(scene)


def test_those_who_do_not_come_back_are_not_waited_for_without_end():
    wish = Slow()

    async def scene(worker, log):
        first = submitted(worker, wish, "a")
        await asyncio.sleep(0.02)
        await submitted(worker, wish, "b").answer  # a's client has gone
        await first.answer

    working(scene)
    assert wish.sizes == [1, 1]


@dataclass(frozen=True)
class Patient:
    """A long call in many parts: it pauses before each, and remembers what was done when."""

    log: Log
    parts: int = 1000
    alone: bool = True

    def __call__(self, inputs, pause):
        self.log.begun.set()
        for _ in range(self.parts):
            time.sleep(0.005)
            pause()
        self.log.calls.append(list(inputs))
        return list(inputs)


def long_job(worker: Worker, wish: Patient, work: float = 1e9) -> Job:
    job = Job(wish, ["long"], 4, work, long=True)
    worker.submit(job)
    return job


def test_a_long_call_lets_in_those_who_need_much_less():
    async def scene(worker, log):
        log.go.set()
        job = long_job(worker, Patient(log, parts=40))
        await begun(log)
        answers = [await submitted(worker, Upper(log), text).answer for text in "ab"]
        assert answers == [["A"], ["B"]]
        assert not job.answer.done()
        assert await job.answer == ["long"]

    assert working(scene).calls == [["a"], ["b"], ["long"]]


def test_a_long_call_is_not_kept_from_going_on_by_those_it_lets_in():
    wish = Slow(takes=0.05)

    async def scene(worker, log):
        job = long_job(worker, Patient(log, parts=40))
        others = asyncio.gather(*(keeps_asking(worker, wish, 100) for _ in range(4)))
        begin = time.monotonic()
        assert await job.answer == ["long"]
        assert time.monotonic() - begin < 3  # 0.2 s of its own, and about as much for them
        others.cancel()

    working(scene)


def test_one_long_call_does_not_let_in_another():
    async def scene(worker, log):
        first = long_job(worker, Patient(log, parts=20))
        await begun(log)
        second = long_job(worker, Patient(log, parts=1), work=1e9 / 2)
        assert await second.answer == ["long"]
        assert first.answer.done()

    working(scene)


@pytest.mark.parametrize("how", ["dropped", "stopped"])
def test_a_long_call_ends_when_nobody_waits_for_it(how):
    async def scene(worker, log):
        job = long_job(worker, Patient(log))
        await begun(log)
        begin = time.monotonic()
        if how == "dropped":
            worker.drop(job)
            log.go.set()
            assert await submitted(worker, Upper(log), "next").answer == ["NEXT"]
        else:
            worker.stop()
            with pytest.raises(Refused, match="stopping"):
                await job.answer
        assert time.monotonic() - begin < 2  # of 5

    assert ["long"] not in working(scene).calls


def test_long_work_waits_up_to_a_limit_and_short_work_is_not_kept_out_by_it():
    async def scene(worker, log):
        log.go.set()
        long_job(worker, Patient(log), work=0.7e12)
        await begun(log)
        long_job(worker, Patient(log), work=0.2e12)
        assert worker.load == pytest.approx(0.9)
        with pytest.raises(Refused, match="9 s of work are waiting") as refused:
            long_job(worker, Patient(log), work=0.2e12)
        assert (refused.value.status_code, refused.value.headers) == (503, {"retry-after": "9"})
        assert await submitted(worker, Upper(log), "short").answer == ["SHORT"]

    working(scene, limits=RequestLimits(queued=1e12))


@dataclass(frozen=True)
class Broken:
    log: Log
    error: type[Exception] = RuntimeError
    alone: bool = False

    def __call__(self, inputs, pause):
        raise self.error("no")


def test_its_state_is_the_truth():
    async def scene(worker, log):
        async def fails(error: type[Exception]) -> None:
            with pytest.raises(error):
                await submitted(worker, Broken(log, error), "x").answer

        assert worker.state == "ok"
        for _ in range(5):
            await fails(ValueError)  # the text is to blame
        assert worker.state == "ok"
        for _ in range(3):
            await fails(RuntimeError)
        assert worker.state == "failed"
        running = submitted(worker, Upper(log), "a")
        await begun(log)
        log.go.set()
        await running.answer
        assert worker.state in ("ok", "busy")  # it can again
        log.go.clear()
        log.begun.clear()
        submitted(worker, Upper(log), "b")
        await begun(log)
        assert worker.state == "busy"
        submitted(worker, Upper(log), "c", "d")
        assert worker.state == "overloaded"
        await asyncio.sleep(0.6)
        assert worker.state == "stuck"
        worker.stop()
        assert worker.state == "stopping"

    working(scene, limits=RequestLimits(waiting=2, seconds=0.5))


def test_it_is_busy_while_it_warms_up_and_stuck_if_that_does_not_end():
    go = threading.Event()
    worker = Worker(lambda: None, RequestLimits(seconds=0.2), lambda _: go.wait(20) and None)
    try:
        assert worker.state == "busy"
        time.sleep(0.3)
        assert worker.state == "stuck"
        go.set()
        until = time.monotonic() + 10
        while worker.state != "ok":
            assert time.monotonic() < until
            time.sleep(0.01)
    finally:
        go.set()
        worker.stop()
        worker.join()
