"""Every task is done once, by torch's OpenMP team or by the pool, whoever calls and from wherever."""

import ctypes
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from numba import njit

from regard.attention.kernels import additive_cpu
from regard.attention.kernels import threads as sharing
from regard.attention.kernels.threads import TASKS, done_by_team, share, take

needs_openmp = pytest.mark.skipif(not sharing._openmp(), reason="torch without GOMP_parallel")
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")


@njit(nogil=True)
def count(plan, counts, values, bad):
    if done_by_team(plan):
        return
    while True:
        task = take(plan)
        if task >= plan[TASKS]:
            return
        if task == bad:
            raise MemoryError
        counts[task] += 1
        for x in range(2000):
            values[task] += 1.0 / (1.0 + task + x)


@pytest.fixture
def threads():
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@pytest.fixture(params=[pytest.param("team", marks=needs_openmp), "pool"])
def way(request, monkeypatch):
    if request.param == "pool":
        monkeypatch.setattr(sharing, "_openmp", lambda: 0)
    monkeypatch.setattr(sharing, "_pool", None)
    return request.param


def shared(tasks, threads, bad=-1):
    counts, values = np.zeros(tasks, np.int64), np.zeros(tasks)
    share(count, tasks, threads, counts, values, bad)
    return counts, values


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the pool does the work")
def test_torch_of_linux_has_a_team():
    assert "backend: OpenMP" not in torch.__config__.parallel_info() or sharing._openmp()


@pytest.mark.parametrize("tasks", [0, 1, 2, 3, 1000])
@pytest.mark.parametrize("wanted", [1, 2, 5, 10**9])
@pytest.mark.parametrize("have", [1, 2, 7])
def test_every_task_is_done_once(tasks, wanted, have, way, threads):
    threads(have)
    counts, values = shared(tasks, wanted)
    assert (counts == 1).all()
    threads(1)
    assert (values == shared(tasks, 1)[1]).all()


def test_the_pool_is_made_only_where_there_is_no_team(way, threads):
    threads(2)
    shared(1000, 1)
    assert sharing._pool is None
    shared(1000, 2)
    assert (sharing._pool is not None) == (way == "pool")


def test_what_fails_on_any_thread_fails_the_call(way, threads):
    for have in (1, 2, 4):
        threads(have)
        for bad in (0, 57, 99):
            with pytest.raises(MemoryError):
                shared(100, have, bad)
        assert (shared(100, have)[0] == 1).all()


def test_many_python_threads_at_once(way, threads):
    threads(3)
    right = shared(200, 1)[1]
    barrier = threading.Barrier(8)

    def work(_):
        torch.set_num_threads(3)
        barrier.wait(30)
        return [shared(200, 3) for _ in range(20)]

    with ThreadPoolExecutor(8) as pool:
        for results in pool.map(work, range(8)):
            for counts, values in results:
                assert (counts == 1).all()
                assert (values == right).all()


def test_between_operators_of_torch(way, threads):
    x = torch.randn(300, 300)
    for have in (2, 3, 1, 2):
        threads(have)
        for _ in range(20):
            torch.tanh(x @ x)
            assert (shared(50, have)[0] == 1).all()


@needs_openmp
def test_within_another_parallel_region(threads):
    threads(2)
    shared(10, 2)
    right, results = shared(300, 1)[1], []
    body = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: results.append(shared(300, 2)))
    region = ctypes.CFUNCTYPE(None, type(body), ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint)
    region(sharing._openmp())(body, None, 2, 0)
    assert len(results) == 2
    for counts, values in results:
        assert (counts == 1).all()
        assert (values == right).all()


def test_scores_have_the_same_bits_in_both_ways(threads, monkeypatch):
    monkeypatch.setattr(additive_cpu, "GRAIN", 1)
    threads(3)
    inputs = torch.randn(3, 70, 140), torch.randn(3, 9, 140), torch.randn(1, 140)
    grad = torch.randn(3, 70, 9)
    results = []
    for find in (sharing._openmp, lambda: 0):
        monkeypatch.setattr(sharing, "_openmp", find)
        forward = additive_cpu.scores(*inputs)
        results.append((forward, *additive_cpu.scores_backward(grad, *inputs)))
    for one, other in zip(*results, strict=True):
        assert torch.equal(one, other)


FORKED = """
import os, sys, torch
torch.set_num_threads(2)
def score():
    from regard.attention.kernels import additive_cpu
    additive_cpu.GRAIN = 1
    q, k, w = torch.ones(4, 20, 64), torch.ones(4, 20, 64), torch.ones(1, 64)
    return additive_cpu.scores(q, k, w)
x = torch.randn(500, 500)
torch.tanh(x @ x)  # torch has threads, which the child will not have
if sys.argv[1] == "after":
    score()
child = os.fork()
if child == 0:
    assert score().shape == (4, 20, 20)
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
"""


@needs_fork
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_child_forked_before_or_after_the_first_call(moment):
    if moment == "before" and sys.platform != "linux":
        pytest.skip("only Linux tells")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(
        [sys.executable, "-c", FORKED, moment], env=environment,
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
