"""Trainings that are killed and signalled end as those that never were, to the last bit."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
import toy_runs
from trials import seed

PART = "killed trainings"
PROGRAM = Path(__file__).parent / "killed_commands.py"
HISTORIES = 30
ENDED = (0, -signal.SIGTERM, -signal.SIGINT, -signal.SIGKILL, 128 + signal.SIGTERM, 130)
TRAINING = {
    "epochs": 3,
    "accumulate": 2,
    "checkpoint_every": 2,
    "validate_every": 3,
    "label_smoothing": 0.1,
    "teacher_forcing": {"ratio": 0.6, "draw": "step"},
    "schedule": {"kind": "plateau", "patience": 0, "warmup": 4},
    "ema": 0.9,
}


@pytest.fixture(scope="module")
def lives(tmp_path_factory) -> tuple[Path, list[dict[str, Any]]]:
    folder = tmp_path_factory.mktemp("killed")
    recipe = toy_runs.write_recipe(folder, **TRAINING)
    done = subprocess.run(
        [sys.executable, PROGRAM, recipe, folder, str(seed()), str(HISTORIES)],
        capture_output=True,
        text=True,
        timeout=400,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    return folder, [json.loads(line) for line in done.stdout.splitlines()]


def test_the_lives_ended_in_every_way(lives):
    """Or nothing was tried: some by each signal, some at their end, and enough of them early."""
    _, told = lives
    killed = [life for life in told if life["deaths"] and life["status"]]
    assert len(killed) >= HISTORIES
    assert {-signal.SIGKILL, 128 + signal.SIGTERM, 130} <= {life["status"] for life in killed}


def test_a_run_that_was_killed_ends_as_one_that_never_was(trials, lives):
    folder, told = lives
    model = "model.safetensors"
    expected = (folder / "whole" / model).read_bytes()
    with trials(PART) as trial:
        trial.begin -= sum(life["seconds"] for life in told)
        histories = [list(some) for _, some in groupby(told, key=lambda life: life["history"])]
        for case in trial.cases(len(histories)):
            history = histories[case.number]
            for life in history:
                with case:
                    case.said = f"{life['deaths']} of {[life['deaths'] for life in history]}"
                    assert life["status"] in ENDED, f"status {life['status']}: {life['said']}"
                    assert "Traceback" not in life["said"], life["said"]
            with case:
                case.said = f"after {[life['deaths'] for life in history]}"
                assert history[-1]["status"] == 0, history[-1]["said"]
                run = folder / f"run-{case.number}"
                assert (run / model).read_bytes() == expected, f"another {model}"
                left = [path.name for path in run.rglob("*.partial")]
                assert not left, f"left behind: {left}"
