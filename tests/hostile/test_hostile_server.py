"""A server among hostile clients: no 5xx but 503, no traceback, and the normal client is answered."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from hostile_clients import (
    TEXT,
    Address,
    NormalClient,
    Slow,
    ask,
    draw_bytes,
    draw_request,
    post,
    status_of,
)
from processes import COMMAND
from trials import Case, Trial

PART = "hostile clients"
TAKEN = 2 << 30  # bytes that the server may take beyond what it had when it began to answer
HANGS_UP = 60.0  # seconds after which nobody is waited for who has not finished asking
SLOW = ("idle", "header", "body", "half-open")


@dataclass
class Served:
    address: Address
    process: subprocess.Popen[str]
    log: Path

    def memory(self) -> int:
        """The most that it ever had, in bytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) << 10


@pytest.fixture
def served(tmp_path) -> Iterator[Served]:
    """One for each test: what one finds does not hide what the next would."""
    log = tmp_path / "log"
    with log.open("w") as err:
        process = subprocess.Popen(
            [*COMMAND, "serve", "--device", "cpu", "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=err,
            encoding="utf-8",
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )
        try:
            port = re.search(r"http://127\.0\.0\.1:(\d+)/", process.stdout.readline())
            assert port, log.read_text()
            yield Served(("127.0.0.1", int(port[1])), process, log)
        finally:
            process.kill()
            process.communicate()


@contextmanager
def beside_a_normal_client(trial: Trial, served: Served) -> Iterator[None]:
    """Its every question is a case too; so are the end of the server, its log and its memory."""
    client = NormalClient(served.address)
    with client.beside():
        before = served.memory()
        yield
    trial.tried += len(client.seconds)
    trial.findings += [(wrong, f"the normal client: {wrong}") for wrong in client.wrong]
    taken = served.memory() - before
    trial.notes.append(f"{client.latency()}; {max(taken, 0) >> 20:,} MB taken")
    for number, look in enumerate((lambda: stops(served), lambda: told_no_traceback(served))):
        with Case(trial, number) as case:
            case.said = "afterwards"
            look()
    with Case(trial, 2) as case:
        case.said = "afterwards"
        assert taken < TAKEN, f"{taken >> 20:,} MB taken"


def stops(served: Served) -> None:
    assert served.process.poll() is None, "the server has ended"
    served.process.send_signal(signal.SIGINT)
    try:
        status = served.process.wait(timeout=20)
    except subprocess.TimeoutExpired:
        raise AssertionError("it does not stop within 20 s of Ctrl-C") from None
    assert status == 0, f"it stopped with status {status}"


def told_no_traceback(served: Served) -> None:
    said = served.log.read_text()
    at = said.find("Traceback")
    assert at < 0, said[at : at + 2_000]


def check(answer: bytes, *, must: bool) -> int | None:
    """The status, which may be missing unless there must be one."""
    status = status_of(answer)
    assert status is not None or not must, f"no answer: {answer[:100]!r}"
    assert status is None or status < 500 or status == 503, f"status {status}: {answer[-300:]!r}"
    assert b"Traceback" not in answer, answer[-500:]
    return status


def test_anything_may_be_asked(trials, served: Served):
    with trials(PART, "requests") as trial, beside_a_normal_client(trial, served):
        statuses: Counter[int | None] = Counter()
        for case in trial.cases(1_500):
            with case:
                data = draw_request(case.draw)
                case.said = repr(data[:300])
                statuses[check(ask(served.address, data), must=True)] += 1
        trial.notes.append(f"statuses {dict(sorted(statuses.items()))}")
        assert min(statuses[200], statuses[422]) > 0.05 * trial.tried, "the requests are too alike"


def test_anything_may_be_sent(trials, served: Served):
    with trials(PART, "bytes") as trial, beside_a_normal_client(trial, served):
        for case in trial.cases(500):
            with case:
                data = draw_bytes(case.draw)
                case.said = repr(data[:300])
                check(ask(served.address, data, 1.0), must=False)


def test_slow_clients_are_not_waited_for_for_ever(trials, served: Served):
    with trials(PART, "slow clients") as trial, beside_a_normal_client(trial, served):
        slow = [Slow(served.address, kind) for kind in SLOW for _ in range(40)]
        end = time.monotonic() + HANGS_UP
        waiting = slow
        while waiting and time.monotonic() < end:
            waiting = [one for one in waiting if not one.ended(0.01)]
            for one in waiting:
                one.trickle()
            time.sleep(1.0)
        for case in trial.cases(len(slow)):
            with case:
                one = slow[case.number]
                case.said = f"a slow client ({one.kind})"
                assert one not in waiting, f"still connected after {HANGS_UP:.0f} s"
        for one in slow:
            one.connection.close()


def test_heavy_requests_and_clients_that_leave(trials, served: Served):
    """All are legal: the longest text with all measures, from many at once, of whom some do not wait."""
    with trials(PART, "heavy requests") as trial, beside_a_normal_client(trial, served):
        threads = []
        for case in trial.cases(24):
            length = case.draw.choice([200, 1_000, 2_000])
            text = (TEXT * 300)[:length]
            data = post("/attention", {"text": text, "explain": True})
            patience = case.draw.choice([0.2, 2.0, 12.0])

            def go(case=case, data=data, patience=patience, length=length):
                with case:
                    case.said = f"/attention of {length} characters, waiting {patience} s"
                    check(ask(served.address, data, patience), must=False)

            threads.append(threading.Thread(target=go))
            threads[-1].start()
            time.sleep(case.draw.uniform(0.0, 0.5))
        for thread in threads:
            thread.join()


def test_clients_that_leave_take_nobody_with_them(trials, served: Served):
    """They ask, and hang up before, while or after they are answered."""
    with trials(PART, "clients that leave") as trial, beside_a_normal_client(trial, served):
        for case in trial.cases(300):
            with case:
                case.said = "a client that leaves"
                data = post("/translate", {"texts": [TEXT]})
                check(ask(served.address, data, case.draw.uniform(0.001, 0.08)), must=False)
