"""A run that is killed and goes on ends as one that never was."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from regard.runs.tensor_tree import read_tree

PROGRAM = Path(__file__).parent / "killed_runs.py"


@pytest.fixture(scope="module", params=["off", "graphs"])
def folder(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("killed")
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(path), "7", request.param],
        capture_output=True,
        text=True,
        timeout=600,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("killed") >= 5, done.stdout
    return path


def last_checkpoint(run: Path) -> dict:
    return read_tree(max((run / "checkpoints").glob("step-*")))


def test_the_weights_are_the_same_to_the_last_bit(folder):
    whole, killed = (folder / run / "model.safetensors" for run in ("whole", "killed"))
    assert whole.read_bytes() == killed.read_bytes()


def test_optimiser_average_and_place_are_the_same(folder):
    whole, killed = (last_checkpoint(folder / run) for run in ("whole", "killed"))
    for tree in (whole, killed):
        del tree["state"]["seconds"], tree["state"]["memory"]
        assert tree["state"]["update"] == 32
        assert tree["state"]["reductions"] > 0  # the plateau was reached, so its state mattered
    assert whole["state"] == killed["state"]
    assert same(whole, killed)


def test_the_same_checkpoints_are_kept(folder):
    whole, killed = (
        sorted(path.name for path in (folder / run / "checkpoints").iterdir())
        for run in ("whole", "killed")
    )
    assert whole == killed
    assert len([name for name in whole if name.startswith("best-")]) == 2


def test_metrics_have_each_row_once(folder):
    rows = []
    for run in ("whole", "killed"):
        with (folder / run / "metrics.csv").open() as file:
            rows.append([{**row, "seconds": None, "speed": None} for row in csv.DictReader(file)])
    assert rows[0] == rows[1]
    assert len(rows[0]) >= 6


def same(one: object, other: object) -> bool:
    if isinstance(one, torch.Tensor):
        return one.equal(other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other
