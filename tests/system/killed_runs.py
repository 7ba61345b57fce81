"""Train the toy in child processes that kill themselves; run as a program by test_resume.py.

    python killed_runs.py FOLDER SEED [COMPILE]

FOLDER/whole is trained without a break. FOLDER/killed is killed again and again, at an update, in a
validation or while a file is written, and goes on each time. The program prints where it was killed.
Imports take seconds, so they are made once, and each life is a fork.
"""

from __future__ import annotations

import os
import random
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from toy import toy_recipe, write_corpus

from regard.tasks.translate.translate_loss import Translate
from regard.training.run import train
from regard.training.weight_update import Updater

TRAINING = {
    "epochs": 4,
    "accumulate": 2,
    "checkpoint_every": 3,
    "validate_every": 5,
    "label_smoothing": 0.1,
    "teacher_forcing": {"ratio": 0.6, "draw": "step"},
    "optimizer": {"kind": "adam", "lr": 0.05},
    "schedule": {"kind": "plateau", "patience": 0, "warmup": 4},
    "ema": 0.9,
    "keep": 2,
    "average": True,
    "metric": "chrf",
}


def die_at(owner: Any, name: str, call: int) -> None:
    """Kill this process when `owner.name` is called for the nth time."""
    real: Callable[..., Any] = getattr(owner, name)
    calls = 0

    def counted(*args: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == call:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*args, **options)

    setattr(owner, name, counted)


TRAINER: dict[str, Any] = {}


def replay() -> None:
    """From now on the work of batches is recorded, as far as a CPU can: chance is drawn by the generator."""
    TRAINER["compile"] = "graphs"
    del TRAINING["teacher_forcing"]


def live(folder: Path, run: str, death: tuple[Any, str, int] | None = None) -> int:
    """One life of a run; the signal it died of, 0 if it came to its end."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            if death:
                die_at(*death)
            recipe = toy_recipe(folder, training=TRAINING, trainer=TRAINER)
            train(recipe, folder / run, quiet=True)
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        sys.exit(f"a run failed with status {os.WEXITSTATUS(status)}")
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


def main(folder: Path, seed: int) -> None:
    torch.set_num_threads(1)
    write_corpus(folder)
    live(folder, "whole")
    draw = random.Random(seed)
    places = [
        (Updater, "step", draw.randint(2, 6)),
        (Translate, "predict", 1),  # in a validation
        (os, "fsync", draw.randint(3, 6)),  # a file is written, not yet renamed
        (Updater, "step", draw.randint(4, 9)),
        (os, "replace", draw.randint(4, 8)),
        (Updater, "step", draw.randint(2, 12)),
    ]
    for place in places:
        died = live(folder, "killed", place)
        print(place[1], place[2], "killed" if died == signal.SIGKILL else "ended", flush=True)
    live(folder, "killed")


if __name__ == "__main__":
    if sys.argv[3:] == ["graphs"]:
        replay()
    main(Path(sys.argv[1]), int(sys.argv[2]))
