"""A launch is repeated by addresses, with the numbers and in the order of the first."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from regard.attention.kernels import launch, on_trial
from regard.attention.kernels.launch import Launch


class Compiled:
    """What Triton gives after a launch."""

    function, packed_metadata = 17, (4, 1, 0)

    def __init__(self, runs):
        self.runs = runs

    def run(self, *given):
        self.runs.append(given)


class Kernel:
    arg_names = ("x", "y", "length", "scale", "BLOCK", "MASK")

    def __init__(self):
        self.launched, self.repeated = [], []

    def __getitem__(self, grid):
        def launch(*given, **constants):
            self.launched.append((grid, given, constants))
            return Compiled(self.repeated)

        return launch


@pytest.fixture
def kernel(monkeypatch):
    monkeypatch.setattr(torch._C, "_cuda_getCurrentRawStream", lambda device: 5, raising=False)
    monkeypatch.setattr(launch, "_is_known", lambda: True)
    return Kernel()


def launch_of(kernel, grid=3):
    return Launch(kernel, grid, (7, 0.5), {"BLOCK": 16, "MASK": 1, "num_warps": 4})


def test_triton_is_asked_once(kernel):
    run, x, y = launch_of(kernel), torch.zeros(8), torch.zeros(8)
    run(x, y)
    run(y, x)
    assert kernel.launched == [((3,), (x, y, 7, 0.5), run.constants)]
    places = (y.data_ptr(), x.data_ptr())
    head = (3, 1, 1, 5, Compiled.function, Compiled.packed_metadata, None, None, None)
    assert kernel.repeated == [(*head, *places, 7, 0.5, None, None)]
    run(x[1:], y)  # compiled for addresses that are multiples of 16
    assert len(kernel.launched) == 2
    assert len(kernel.repeated) == 1


def test_or_every_time_where_that_is_wished(kernel, monkeypatch):
    monkeypatch.setattr(on_trial, "ON", on_trial.chosen("no-direct-launch"))
    run, x = launch_of(kernel), torch.zeros(8)
    run(x, x)
    run(x, x)
    assert kernel.launched == [((3,), (x, x, 7, 0.5), run.constants)] * 2
    assert not kernel.repeated


def test_or_with_a_triton_that_was_not_looked_at(kernel, monkeypatch):
    monkeypatch.setattr(launch, "_is_known", lambda: False)
    run, x = launch_of(kernel), torch.zeros(8)
    run(x, x)
    run(x, x)
    assert len(kernel.launched) == 2
    assert not kernel.repeated


def test_or_with_one_that_takes_other_arguments(kernel, monkeypatch):
    def refuse(self, *given):
        raise TypeError("function takes exactly 9 arguments (13 given)")

    monkeypatch.setattr(Compiled, "run", refuse)
    run, x = launch_of(kernel), torch.zeros(8)
    for _ in range(3):
        run(x, x)
    assert len(kernel.launched) == 3


def test_a_kernel_reads_bool_as_bytes(kernel):
    run, x = launch_of(kernel), torch.ones(8, dtype=torch.bool)
    run(x, x)
    (_, (given, *_), _), *_ = kernel.launched
    assert given.dtype == torch.uint8
    assert given.data_ptr() == x.data_ptr()


@pytest.mark.parametrize(
    ("said", "on"),
    [
        ("", {"direct-launch", "checked-sdpa"}),
        ("no-checked-sdpa", {"direct-launch"}),
        ("no-direct-launch, no-checked-sdpa", set()),
    ],
)
def test_the_environment_says_which_ways_are_taken(said, on):
    assert on_trial.chosen(said) & {"direct-launch", "checked-sdpa"} == on


def test_an_empty_grid_launches_nothing(kernel):
    launch_of(kernel, grid=0)(torch.zeros(8))
    assert not kernel.launched


@pytest.mark.slow
@pytest.mark.skipif(torch.cuda.is_available(), reason="a driver in place of the real one")
@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs a C compiler")
def test_what_reaches_the_driver_is_what_triton_launches(tmp_path):
    triton = pytest.importorskip("triton")
    here, library = Path(__file__).parent, tmp_path / "libcuda.so.1"
    headers = Path(triton.__file__).parent / "backends" / "nvidia" / "include"
    source = here / "recording_driver.c"
    command = ["gcc", "-shared", "-fPIC", f"-I{headers}", "-o", library, source]
    subprocess.run([*command, "-Wl,-soname,libcuda.so.1"], check=True)
    environment = os.environ | {
        "TRITON_LIBCUDA_PATH": str(tmp_path),
        "LD_LIBRARY_PATH": str(tmp_path),
        "TRITON_CACHE_DIR": str(tmp_path / "cache"),
        "TRITON_INTERPRET": "0",
    }
    command = [sys.executable, here / "launch_twice.py", library]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    said = json.loads(run.stdout.splitlines()[-1])
    assert said["asked"] == 3  # twice as a rule, once to be kept
    assert len(said["launched"]) == 5
    assert all(each == said["launched"][0] for each in said["launched"])
    numbers = [each[2:] for each in said["arguments"]]
    assert all(each == numbers[0] for each in numbers)
    places = [[said["x"], said["y"]]] * 4 + [[said["y"], said["x"]]]
    assert said["addresses"] == places
