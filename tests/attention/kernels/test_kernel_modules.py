"""A first call does not wait for numba where it need not, and waits where it must."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

BEGIN = """
import os, sys, threading, torch
from regard.attention.kernels import additive_torch, kernel_modules as km
from regard.attention.kernels.additive import additive_scores

go = threading.Event()
load = km._load
def slowly(kind):
    go.wait()
    return load(kind)
km._load = slowly
torch.manual_seed(0)
q, k, w = torch.randn(2, 70, 64), torch.randn(2, 60, 64), torch.randn(1, 64)
plain = additive_torch.scores(q, k, w)
def is_plain():
    return torch.equal(additive_scores(q, k, w), plain)
"""


def run(program: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + program],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_torch_answers_while_the_kernel_is_made_ready():
    run(
        """
assert is_plain() and "numba" not in sys.modules and km._thread.is_alive()
go.set()
km.wait()
assert not is_plain() and "numba" in sys.modules
torch.testing.assert_close(additive_scores(q, k, w), plain, rtol=1e-4, atol=1e-5)
"""
    )


@pytest.mark.parametrize("learns", ["", "q.requires_grad_()"])
@pytest.mark.parametrize("which", ["km.PATIENCE = 99", "km.wait_always()"])
def test_what_is_large_or_trained_waits_for_the_kernel(which, learns):
    run(
        f"""
{learns}
{which}
go.set()
assert not is_plain() and km._thread is None and km.READY.is_set()
"""
    )


@pytest.mark.parametrize("learns", ["q.requires_grad_()", "w.requires_grad_()"])
def test_torch_answers_the_first_call_with_gradients_and_the_second_waits(learns):
    run(
        f"""
{learns}
assert is_plain() and "numba" not in sys.modules
threading.Timer(0.5, go.set).start()
assert not is_plain() and km.READY.is_set()
"""
    )


@pytest.mark.parametrize("wait", ["", "km.wait()"])
def test_what_a_call_with_gradients_gives_does_not_depend_on_how_quick_the_thread_was(wait):
    run(
        f"""
go.set()
assert is_plain()
{wait}
q.requires_grad_()
assert is_plain() and not is_plain()
"""
    )


def test_the_gradients_of_the_first_call_are_those_of_the_second():
    run(
        """
go.set()
given = [x.requires_grad_() for x in (q, k, w)]
some = torch.randn(2, 70, 60)
first, second = (torch.autograd.grad(additive_scores(q, k, w), given, some) for _ in range(2))
for one, other in zip(first, second):
    assert 0 < (one - other).abs().max() < 1e-5 * one.abs().max()
"""
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_fork_finds_the_kernel_ready():
    run(
        """
assert is_plain()
threading.Timer(0.5, go.set).start()
if (child := os.fork()) == 0:
    os._exit(int(is_plain()))
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
    )
