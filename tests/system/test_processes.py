"""Two processes on the CPU: the gradient of the joined batch, and a whole run."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from lightning.fabric import Fabric
from pair_batches import pair_batch
from safetensors.torch import load_file
from toy import write_corpus
from two_processes import PAIRS, make_task, make_updater

from regard.runs.loaded_run import load
from regard.runs.metrics_file import read_rows
from regard.runs.tensor_tree import read_tree
from regard.training.run_preparation import read_dev
from regard.training.validation_pass import validate

HERE = Path(__file__).parent


def run_program(name: str, *arguments: str) -> str:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, str(HERE / name), *arguments],
        capture_output=True,
        text=True,
        timeout=600,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.parametrize(
    ("processes", "compile"), [(2, "off"), (2, "graphs"), (4, "off"), (4, "graphs")]
)
def test_several_processes_make_the_update_of_one_with_the_joined_batch(
    processes, compile, tmp_path
):
    run_program("two_processes.py", str(tmp_path), str(processes), compile)
    task = make_task()
    task.load_state_dict(read_tree(tmp_path / "before"))
    fabric = Fabric(accelerator="cpu", devices=1)
    fabric.launch()
    make_updater(fabric, task).update([pair_batch(PAIRS)], number=0, rate=1.0)
    before = read_tree(tmp_path / "before")
    for name, expected in task.state_dict().items():
        moved = expected - before[name]
        for rank in range(processes):
            found = read_tree(tmp_path / f"after-{rank}")[name] - before[name]
            torch.testing.assert_close(found, moved, rtol=0, atol=1e-6)
    assert any(not task.state_dict()[name].equal(value) for name, value in before.items())


def test_a_whole_run_of_two_processes(tmp_path):
    write_corpus(tmp_path)
    said = run_program("train_toy.py", str(tmp_path), "2", "1", "2")
    assert said.count("training: ") == 1  # only the first process speaks
    assert "on 2 × cpu" in said
    assert said.count("going on after step 8") == 1
    run = tmp_path / "run"
    rows = read_rows(run / "metrics.csv")
    steps = [row["step"] for row in rows if "dev_bleu" in row]
    assert steps == [4, 8, 12, 16]  # 120 pairs in batches of 8 for two, twice
    assert json.loads((run / "scores.json").read_text())["test"]["sentences"] == 8

    # the validation of two processes is that of one: score the best weights again, alone
    validated = [row for row in rows if "dev_bleu" in row]
    row = max(validated, key=lambda row: (row["dev_bleu"], -row["dev_loss"]))
    loaded = load(run, device="cpu")
    fabric = Fabric(accelerator="cpu", devices=1)
    fabric.launch()
    alone = validate(fabric, loaded.task, loaded.module, read_dev(loaded.task))
    assert alone is not None
    for name, value in {"loss": alone.loss, **alone.measures}.items():
        assert abs(value - row[f"dev_{name}"]) < 1e-3 * max(1, row[f"dev_{name}"])


@pytest.mark.parametrize("compile", ["off", "graphs"])
def test_two_nodes_by_torchrun_are_two_processes_of_one(compile, tmp_path):
    """Two groups on one machine stand for two machines: each is started by a torchrun of its own."""
    for name in ("nodes", "one"):
        (tmp_path / name).mkdir()
        write_corpus(tmp_path / name)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    there = ["--master-addr=127.0.0.1", f"--master-port={port}", "--nnodes=2", "--nproc-per-node=1"]
    program = [str(HERE / "train_toy.py"), str(tmp_path / "nodes"), f"1x2x{compile}", "1"]
    groups = [
        subprocess.Popen(
            [
                sys.executable,
                "-m",
                "torch.distributed.run",
                *there,
                f"--node-rank={rank}",
                *program,
            ],
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )
        for rank in (0, 1)
    ]
    said = [group.communicate(timeout=600)[1] for group in groups]
    assert [group.returncode for group in groups] == [0, 0], said
    assert "on 2 × cpu" in said[0]
    assert "training: " not in said[1]  # only the first process of the first node speaks
    run_program("train_toy.py", str(tmp_path / "one"), f"2x1x{compile}", "1")
    nodes, one = (
        load_file(tmp_path / run / "run" / "model.safetensors") for run in ("nodes", "one")
    )
    for name, weight in one.items():
        torch.testing.assert_close(nodes[name], weight, rtol=0, atol=1e-6)


@pytest.mark.slow
def test_torchrun_says_how_many_processes_there_are(tmp_path):
    """The recipe names no devices: what torchrun has started are two processes of one run, not two runs."""
    for name in ("torchrun", "one"):
        (tmp_path / name).mkdir()
        write_corpus(tmp_path / name)
    there = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    done = subprocess.run(
        [
            sys.executable,
            *there,
            str(HERE / "train_toy.py"),
            str(tmp_path / "torchrun"),
            "auto",
            "1",
        ],
        capture_output=True,
        text=True,
        timeout=600,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("on 2 × cpu") == 1
    run_program("train_toy.py", str(tmp_path / "one"), "2", "1")
    found, expected = (
        load_file(tmp_path / name / "run" / "model.safetensors") for name in ("torchrun", "one")
    )
    for name, weight in expected.items():
        torch.testing.assert_close(found[name], weight, rtol=0, atol=1e-6)
