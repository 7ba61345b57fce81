"""`regard train` killed and signalled again and again, until it is done; run as a program.

    python killed_commands.py RECIPE FOLDER SEED HISTORIES

FOLDER/whole is trained without a break. Each history is a run that dies or is stopped a few times,
at moments drawn from the seed, then goes on by the same command. A line of JSON tells each life.
Imports take seconds, so they are made once, and each life is a fork.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "system"))

import torch
from killed_runs import die_at

import regard.training.run  # noqa: F401
from regard.cli import main as regard_command
from regard.training.weight_update import Updater

SIGNALS = {"SIGTERM": 0.3, "SIGINT": 0.3, "SIGKILL": 0.4}
WRITING = (
    "fsync",
    "replace",
    "rename",
    "unlink",
)  # of `os`: a file is being written, or cleared away


def live(recipe: Path, run: Path, deaths: list[tuple[str, Any]]) -> tuple[int, str, float]:
    """One life: how it ended (a signal is negative), what it said, how long it took.

    deaths: (signal, seconds) is sent from outside, ("update" or a function of `os`, n) is the nth call.
    """
    begin = time.monotonic()
    log = run.with_suffix(".said")
    child = os.fork()
    if child == 0:
        status = 1
        try:
            said = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(said, 1)
            os.dup2(said, 2)
            for place, call in deaths:
                if place not in SIGNALS:
                    die_at(Updater if place == "update" else os, place, call)
            regard_command(["train", str(recipe), "--run", str(run), "-q"])
        except SystemExit as end:
            status = int(end.code or 0)
        finally:
            sys.stderr.flush()
            os._exit(status)
    timers = [
        threading.Timer(after, os.kill, (child, getattr(signal, name)))
        for name, after in deaths
        if name in SIGNALS
    ]
    for timer in timers:
        timer.start()
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)  # its id stays its own until the timers end
    for timer in timers:
        timer.cancel()
        timer.join()
    _, status = os.waitpid(child, 0)
    told = log.read_text(errors="replace")
    return os.waitstatus_to_exitcode(status), told, time.monotonic() - begin


def draw_deaths(draw: random.Random, seconds: float) -> list[tuple[str, Any]]:
    """One death, or a second on the heels of the first."""
    kind = draw.choice(["signal", "signal", "twice", "writing", "update"])
    if kind == "update":
        return [("update", draw.randint(1, 8))]
    if kind == "writing":
        return [(draw.choice(WRITING), draw.randint(1, 12))]
    name = draw.choices(list(SIGNALS), list(SIGNALS.values()))[0]
    after = draw.uniform(0.02, seconds)
    again = [(draw.choice(list(SIGNALS)), after + draw.uniform(0, 0.1))] if kind == "twice" else []
    return [(name, after), *again]


def main(recipe: Path, folder: Path, seed: int, histories: int) -> None:
    torch.set_num_threads(1)
    status, told, seconds = live(recipe, folder / "whole", [])
    assert status == 0, told
    for number in range(histories):
        draw = random.Random(f"{seed} killed {number}")
        run = folder / f"run-{number}"
        plans = [draw_deaths(draw, seconds) for _ in range(draw.randint(1, 4))]
        for deaths in [*plans, []]:
            status, told, took = live(recipe, run, deaths)
            life = {"history": number, "deaths": deaths, "status": status, "said": told[-500:]}
            print(json.dumps(life | {"seconds": took}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
