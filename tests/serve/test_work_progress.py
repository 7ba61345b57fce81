"""How far a look is: told to who has its ticket, and to nobody else."""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import dataclass, field

import pytest
from small_server import Shouter, client_of, quiet_app, shelf_of

from regard.explanations.work_done import WorkDone, expect, listening, worked
from regard.records.question import Question
from regard.serve.interruptible_run import Cancelled
from regard.serve.jobs import Job
from regard.serve.request_limits import RequestLimits
from regard.serve.worker import Worker


def test_who_listens_knows_what_is_done():
    heard = []
    done = WorkDone(told=lambda: heard.append(done.share))
    worked(5)  # nobody listens
    with listening(done):
        assert done.share is None
        expect(10)
        worked(2)
        with listening(None):  # what is done in between is not its work
            worked(100)
        worked(9)
    worked(5)
    assert heard == [0.2, 1.0]


def test_what_a_listener_raises_ends_the_work():
    def told() -> None:
        raise Cancelled

    with pytest.raises(Cancelled), listening(WorkDone(told=told)):
        worked(1)
    worked(1)


@dataclass(frozen=True)
class Halves:
    """Work in two halves, with a gate between them."""

    half: threading.Event = field(default_factory=threading.Event)
    go: threading.Event = field(default_factory=threading.Event)
    ended: list[str] = field(default_factory=list)
    alone: bool = True

    def __call__(self, inputs, pause):
        expect(10)
        worked(5)
        self.half.set()
        try:
            while not self.go.is_set():
                worked(0)
                time.sleep(0.01)
        except Cancelled:
            self.ended.append("cancelled")
            raise
        worked(5)
        return inputs


def test_work_that_nobody_waits_for_ends_though_no_model_is_asked():
    """As in a compiled function, between two of its calls."""
    wish = Halves()

    async def scene(worker: Worker) -> None:
        job = Job(wish, ["x"], 1, work=1e12, long=True)
        assert job.began is None
        worker.submit(job)
        assert await asyncio.to_thread(wish.half.wait, 20)
        assert job.began is not None
        assert job.done.share == 0.5
        worker.drop(job)
        for _ in range(500):
            if wish.ended:
                break
            await asyncio.sleep(0.01)

    worker = Worker(lambda: None, RequestLimits())
    try:
        asyncio.run(asyncio.wait_for(scene(worker), 30))
    finally:
        wish.go.set()
        worker.stop()
        worker.join()
    assert wish.ended == ["cancelled"]


def test_a_ticket_is_known_while_its_look_waits_for_an_answer(monkeypatch):
    wish = Halves()
    monkeypatch.setattr("regard.serve.api.Looking", lambda served: _Record(wish))
    with shelf_of(Shouter()) as shelf, client_of(quiet_app(shelf)) as client:

        def progress(ticket: str) -> dict:
            return client.get("/progress", params={"ticket": ticket}).json()

        nothing = {"state": "gone", "share": None, "seconds": 0.0, "left": None}
        assert progress("mine") == nothing
        asked = {"text": "abc", "ticket": "mine"}
        look = threading.Thread(target=lambda: client.post("/attention", json=asked))
        look.start()
        assert wish.half.wait(20)
        found = progress("mine")
        assert (found["state"], found["share"]) == ("working", 0.5)
        assert found["left"] == pytest.approx(found["seconds"], abs=1.0)
        assert progress("another's") == nothing
        wish.go.set()
        look.join()
        assert progress("mine") == nothing
        assert not shelf.asked
        assert client.get("/progress").status_code == 422
        assert client.get("/progress", params={"ticket": "x" * 65}).status_code == 422


@dataclass(frozen=True)
class _Record:
    wish: Halves
    alone: bool = True

    def __call__(self, questions, pause):
        assert all(isinstance(each, Question) for each in questions)
        self.wish(questions, pause)
        return ["{}"]
