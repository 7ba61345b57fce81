"""The tasks of a numba kernel on the threads of torch's own OpenMP team.

After a parallel operator of torch its OpenMP workers spin for milliseconds, waiting for the next one. A
thread of our own would fight them for their cores; a region of the same library finds them awake:

    GOMP_parallel(body, block, team, 0)          body(block): the kernel, taking tasks until none is left

One atomic counter gives out the tasks, so whoever is free takes the next. The region is of all of torch's
threads: asked for fewer, libgomp would end the others, and torch's next operator start them again.

Where there is no such library, and in a forked child, where its threads are gone, a pool of Python threads
calls the same kernel with the same counter.
"""

import ctypes
import functools
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from regard.words import t

_in_compiled_code: Any = intrinsic  # where it is called without the first argument
# The words of a plan. Kernels are compiled with what stands here, and numba's cache looks at their file only:
# who changes this order, or an intrinsic below, has to change the file of the kernels too.
NEXT, FAILURES, TASKS, REGION, TEAM = range(5)


def share(kernel: Callable[..., None], tasks: int, threads: int, *arguments: object) -> None:
    """kernel(plan, *arguments) on at most `threads` threads, until all of range(tasks) is done.

    A kernel is compiled with nogil, returns at once if done_by_team(plan), and otherwise does task after task
    that it gets from take(plan), until take(plan) >= plan[TASKS].
    """
    global _pool
    team = torch.get_num_threads()
    threads = min(team, tasks, threads)
    region = _openmp() if threads > 1 and not _forked else 0
    plan = np.array([0, 0, tasks, region, team], np.intp)
    running = []
    if threads > 1 and not region:
        if _pool is None:
            _pool = ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="regard")
        running = [_pool.submit(kernel, plan, *arguments) for _ in range(threads - 1)]
    kernel(plan, *arguments)
    for helper in running:
        if not helper.cancel():  # it has begun: what it took must be finished
            helper.result()
    if plan[FAILURES]:
        raise MemoryError(t("{plan} threads could not do their share", plan=plan[FAILURES]))


@functools.cache
def _openmp() -> int:
    """The address of the GOMP_parallel that torch calls (Intel's and LLVM's libraries have it too), or 0."""
    if sys.platform != "linux" or "backend: OpenMP" not in torch.__config__.parallel_info():
        return 0
    for path in (None, str(Path(torch.__file__).parent / "lib" / "libtorch_cpu.so")):
        try:  # in the linker's order: what is loaded for everyone, then what torch depends on
            function = ctypes.CDLL(path).GOMP_parallel
        except (OSError, AttributeError):
            continue
        return ctypes.cast(function, ctypes.c_void_p).value or 0
    return 0


def _runs_forked() -> bool:
    """Whether this process is a fork that has not begun a program of its own since (Linux)."""
    try:
        flags = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[6])
    except (OSError, ValueError, IndexError):
        return False
    return bool(flags & 0x40)  # PF_FORKNOEXEC


def _after_fork() -> None:
    global _pool, _forked
    _pool, _forked = None, True


_pool: ThreadPoolExecutor | None = None
_forked = _runs_forked()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


# --- in compiled code -------------------------------------------------------------------------------


@_in_compiled_code
def take(_: Any, plan: Any) -> Any:
    """The next task; from plan[TASKS] on, there was none left."""

    def generate(context: Any, build: Any, signature: Any, values: Any) -> Any:
        words = context.make_array(plan)(context, build, values[0]).data
        return build.atomic_rmw("add", words, context.get_constant(types.intp, 1), "monotonic")

    return types.intp(plan), generate


@_in_compiled_code
def done_by_team(_: Any, plan: Any) -> Any:
    """If the plan has a region: calls the kernel this stands in, with its arguments, on all its threads.

    Those calls find the plan without a region: there, it is false.
    """

    def define_body(context: Any, kernel: Any, block: Any) -> Any:
        """void body(block): call the kernel with the arguments in the block, the plan first."""
        body_type = ir.FunctionType(ir.VoidType(), [block])
        body = ir.Function(kernel.module, body_type, f"{kernel.name}.body")
        body.linkage = "internal"
        build = ir.IRBuilder(body.append_basic_block())
        values = cgutils.unpack_tuple(build, build.load(body.args[0]))
        signature = context.fndesc.restype, context.fndesc.argtypes
        status, _ = context.call_conv.call_function(build, kernel, *signature, values)
        words = context.make_array(plan)(context, build, values[0]).data
        failed = build.zext(status.is_error, context.get_value_type(types.intp))
        build.atomic_rmw("add", cgutils.gep_inbounds(build, words, FAILURES), failed, "monotonic")
        build.ret_void()
        return body

    def generate(context: Any, build: Any, signature: Any, values: Any) -> Any:
        words = context.make_array(plan)(context, build, values[0]).data
        region_at, team_at = (cgutils.gep_inbounds(build, words, at) for at in (REGION, TEAM))
        region, none = build.load(region_at), context.get_constant(types.intp, 0)
        build.store(none, region_at)
        there_is = build.icmp_signed("!=", region, none)
        with build.if_then(there_is):
            kernel, number = build.function, ir.IntType(32)
            arguments = context.call_conv.decode_arguments(build, context.fndesc.argtypes, kernel)
            block = cgutils.alloca_once_value(build, cgutils.pack_struct(build, arguments))
            body = define_body(context, kernel, block.type)
            openmp = ir.FunctionType(ir.VoidType(), [body.type, block.type, number, number])
            parallel = build.inttoptr(region, openmp.as_pointer())
            team = build.trunc(build.load(team_at), number)
            build.call(parallel, [body, block, team, number(0)])
        return there_is

    return types.boolean(plan), generate
