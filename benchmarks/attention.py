"""How fast is every mechanism, against eager PyTorch, torch.compile and SDPA, in one run.

    python benchmarks/attention.py                  # CPU
    python benchmarks/attention.py --device cuda
    python benchmarks/attention.py --only additive

Times are medians: the contenders of a row take turns of a few steps each, so that a change of the
machine's mood hits them alike. A ratio of 20 means: the other takes 20 times as long. The error is the
largest difference from the same attention in float64, over the largest number in it. Peak memory is
what the forward (and backward) pass adds to what was there.
"""

from __future__ import annotations

import argparse
import ctypes
import math
import os
import shutil
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

import regard
from regard import scores
from regard.attention.regions import as_region

Run = Callable[[], Tensor]


@dataclass
class Row:
    """One line of the table: ours, what it is compared with, and the truth in float64."""

    mechanism: str
    shape: str
    path: str
    ours: Run
    leaves: list[Tensor]  # what the gradient is taken of; none: forward only
    peers: dict[str, Run] = field(default_factory=dict)  # "eager", "compile", "sdpa"
    truth: Run | None = None
    note: str = ""
    captured: bool = False  # on a GPU: replay a graph, so that only the GPU's own time counts


# ── measuring ────────────────────────────────────────────────────────────────────────────────────


def step(run: Run, leaves: list[Tensor]) -> Tensor:
    out = run()
    if leaves:
        torch.autograd.grad(out.sum(), leaves, allow_unused=True)
    return out


TURN = 10  # steps that a contender does in a row


def turn(run: Run, leaves: list[Tensor], device: str) -> list[float]:
    """Milliseconds of a step, as often as it was timed: on a GPU a turn is timed as a whole."""
    if device == "cuda":
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(TURN):
            step(run, leaves)
        stop.record()
        torch.cuda.synchronize()
        return [start.elapsed_time(stop) / TURN]
    times: list[float] = []
    while len(times) < TURN and sum(times) < 250:  # a slow one has a shorter turn
        begin = time.perf_counter()
        step(run, leaves)
        times.append((time.perf_counter() - begin) * 1e3)
    return times


def capture(run: Run, leaves: list[Tensor]) -> Run:
    """The step as a CUDA graph: what the GPU does, without the Python that asks for it."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step(run, leaves)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = step(run, leaves)

    def replay() -> Tensor:
        graph.replay()
        return out

    return replay


def compare(
    runs: dict[str, Run], leaves: list[Tensor], device: str, budget: float
) -> dict[str, float]:
    """Median milliseconds of each, taken in turns, within about `budget` seconds."""
    for run in runs.values():  # compile, allocate, warm up
        step(run, leaves)
    begin = time.perf_counter()
    times = {name: turn(run, leaves, device) for name, run in runs.items()}
    rounds = min(100, int(budget / (time.perf_counter() - begin)))
    for index in range(rounds):
        names = list(runs) if index % 2 else list(runs)[::-1]  # nobody is always first
        for name in names:
            times[name] += turn(runs[name], leaves, device)
    return {name: statistics.median(values) for name, values in times.items()}


def peak_memory(run: Run, leaves: list[Tensor], device: str) -> float:
    """MB that the step adds at its highest."""
    if device == "cuda":
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        step(run, leaves)
        torch.cuda.synchronize()
        return (torch.cuda.max_memory_allocated() - before) / 2**20
    ctypes.CDLL(None).malloc_trim(0)  # give back what was freed, or it would be used again unseen
    Path("/proc/self/clear_refs").write_text("5")  # forget the highest resident size so far
    before = _resident("VmRSS")
    step(run, leaves)
    return max(_resident("VmHWM") - before, 0) / 1024


def _resident(name: str) -> int:
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith(name))


# ── contenders ───────────────────────────────────────────────────────────────────────────────────


def eager_additive(q: Tensor, k: Tensor, w: Tensor) -> Tensor:
    return torch.tanh(q[:, :, None] + k[:, None]) @ w


def compiled(function: Callable[..., Tensor]) -> Callable[..., Tensor] | None:
    """None where torch.compile cannot run (on CPU it needs a C++ compiler)."""
    if not torch.cuda.is_available() and shutil.which("g++") is None:
        return None
    torch._dynamo.reset()
    return torch.compile(function, dynamic=False)


def random(*shape: int, device: str, grad: bool, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(*shape, device=device, dtype=dtype, requires_grad=grad)


def path_of(*args: Tensor, **options: object) -> str:
    plan = regard.explain(*args, **options)  # type: ignore[arg-type]
    return plan.path if plan.inner is None else f"{plan.path} → {plan.inner.path}"


def dot_like(device: str) -> Iterator[Row]:
    """Within 3 % of calling SDPA directly."""
    batch, heads, length, size = 8, 8, 1024, 64
    kinds = {"cpu": [(torch.float32, False)]}.get(
        device, [(torch.float32, False), (torch.float32, True), (torch.bfloat16, True)]
    )
    for dtype, captured in kinds:
        shape = (batch, heads, length, size)
        q, k, v = (random(*shape, device=device, grad=True, dtype=dtype) for _ in range(3))
        for score in (
            scores.Dot(),
            scores.ScaledDot(),
            scores.Bilinear(size, size, heads=heads),
            scores.Cosine(0.1),
            scores.Location(size, length, heads=heads),
        ):
            score = score.to(device=device, dtype=dtype)

            def direct(
                score: scores.DotLike = score, q: Tensor = q, k: Tensor = k, v: Tensor = v
            ) -> Tensor:
                projected = score.project_query(q), score.project_key(k)
                return F.scaled_dot_product_attention(*projected, v, scale=score.scale(size))

            yield Row(
                mechanism=type(score).__name__.lower() + " + gradient",
                shape=f"{shape} {str(dtype)[6:]}" + (", graph" if captured else ""),
                path=path_of(q, k, v, score=score),
                ours=lambda score=score, q=q, k=k, v=v: regard.attend(q, k, v, score=score).context,
                leaves=[q, k, v],
                peers={"sdpa": direct},
                truth=lambda score=score, q=q, k=k, v=v: exact(q, k, v, score),
                captured=captured,
            )


def exact(q: Tensor, k: Tensor, v: Tensor, score: scores.Score, **options: object) -> Tensor:
    """The definition in float64, of the first queries of the first row."""
    import copy

    score = copy.deepcopy(score).double()
    rows = [
        regard.attend(
            q[i, ..., :64, :].double(), k[i].double(), v[i].double(), score=score, **options
        ).context  # type: ignore[arg-type]
        for i in range(min(len(q), 1))
    ]
    return torch.stack(rows)


def additive_scores(device: str) -> Iterator[Row]:
    from regard.attention.kernels.additive import additive_scores as fused
    from regard.attention.kernels.additive import backend

    shapes = {
        "cpu": [(16, 48, 48, 256), (64, 1, 10, 256), (64, 1, 30, 256), (64, 1, 50, 256)],
        "cuda": [(8, 1024, 1024, 512), (2, 4096, 4096, 512)],
    }[device]
    for shape in shapes:
        n, queries, keys, size = shape
        fast = compiled(eager_additive)
        small = n * queries * keys * size < 2**33  # eager holds the whole of it, several times
        for grad in (False, True):
            q = random(n, queries, size, device=device, grad=grad)
            k = random(n, keys, size, device=device, grad=grad)
            w = random(size, device=device, grad=grad)
            peers: dict[str, Run] = (
                {"eager": lambda q=q, k=k, w=w: eager_additive(q, k, w)} if small else {}
            )
            if fast is not None and (small or not grad):
                peers["compile"] = lambda q=q, k=k, w=w, fast=fast: fast(q, k, w)
            yield Row(
                mechanism="additive scores" + (" + gradient" if grad else ""),
                shape=str(shape),
                path=backend(torch.device(device)),
                ours=lambda q=q, k=k, w=w: fused(q, k, w[None]),
                leaves=[q, k, w] if grad else [],
                peers=peers,
                truth=lambda q=q, k=k, w=w: eager_additive(
                    q[:1, :64].double(), k[:1].double(), w.double()
                ),
                note="" if grad else tanh_units(shape, device),
            )


def tanh_units(shape: tuple[int, ...], device: str) -> str:
    """The time that the hardware's tanh units would need: 16 a clock and multiprocessor."""
    if device != "cuda":
        return ""
    properties = torch.cuda.get_device_properties(0)
    return f"tanh units {math.prod(shape) / (16 * properties.multi_processor_count * 1.98e9) * 1e3:.2f} ms"


def additive_attention(device: str) -> Iterator[Row]:
    """The whole attention: ours never holds the scores."""
    shapes = {
        "cpu": [(16, 48, 48, 256), (2, 1024, 1024, 128)],
        "cuda": [(8, 1024, 1024, 512), (2, 4096, 4096, 512), (2, 16384, 16384, 128)],
    }[device]
    for n, queries, keys, size in shapes:
        score = scores.Additive(size, size, size).to(device)
        small = n * queries * keys * size < 2**33

        def eager(q: Tensor, k: Tensor, v: Tensor, score: scores.Additive = score) -> Tensor:
            s = eager_additive(score.project_query(q), score.project_key(k), score.vector[:, 0])
            return torch.softmax(s, -1) @ v

        fast = compiled(eager)
        for grad in (False, True):
            q, k, v = (random(n, x, size, device=device, grad=grad) for x in (queries, keys, keys))
            peers: dict[str, Run] = {"eager": lambda q=q, k=k, v=v: eager(q, k, v)} if small else {}
            if fast is not None and small:
                peers["compile"] = lambda q=q, k=k, v=v, fast=fast: fast(q, k, v)
            peers["kept weights"] = lambda q=q, k=k, v=v, score=score: (
                regard.attend(q, k, v, score=score, weights=True).context
            )
            yield Row(
                mechanism="additive attention" + (" + gradient" if grad else ""),
                shape=str((n, queries, keys, size)),
                path=path_of(q, k, v, score=score),
                ours=lambda q=q, k=k, v=v, score=score: regard.attend(q, k, v, score=score).context,
                leaves=[q, k, v] if grad else [],
                peers=peers,
                truth=(lambda q=q, k=k, v=v, score=score: exact(q, k, v, score)) if small else None,
            )


def local(device: str) -> Iterator[Row]:
    """Regions against SDPA under the same mask, the strongest dense contender."""
    heads, size = (4, 64) if device == "cpu" else (16, 64)
    for region, length in (("window(64)", 8192), ("window(64)", 16384), ("window(64) & causal", 8192),
                           ("atrous(8)", 4096), ("atrous(8) & causal", 4096),
                           ("sparse(64)", 4096)):  # fmt: skip
        q, k, v = (random(1, heads, length, size, device=device, grad=True) for _ in range(3))
        mask = as_region(region).mask(length, length, device=device)

        def dense(q: Tensor = q, k: Tensor = k, v: Tensor = v, mask: Tensor = mask) -> Tensor:
            return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

        def eager(q: Tensor = q, k: Tensor = k, v: Tensor = v, mask: Tensor = mask) -> Tensor:
            s = (q @ k.mT / math.sqrt(size)).masked_fill(~mask, -math.inf)
            return torch.softmax(s, -1) @ v

        yield Row(
            mechanism=region + " + gradient",
            shape=f"(1, {heads}, {length}, {size})",
            path=path_of(q, k, v, region=region),
            ours=lambda q=q, k=k, v=v, region=region: regard.attend(q, k, v, region=region).context,
            leaves=[q, k, v],
            peers={"sdpa": dense, "eager": eager} if length <= 8192 else {},  # memory grows as L
            truth=lambda q=q, k=k, v=v, region=region: (
                regard.attend(
                    q[:, :1].double(), k[:, :1].double(), v[:, :1].double(), region=region
                ).context
            ),
        )


GROUPS = {
    "dot": dot_like,
    "scores": additive_scores,
    "additive": additive_attention,
    "local": local,
}


# ── the table ────────────────────────────────────────────────────────────────────────────────────

HEAD = [
    "mechanism",
    "shape",
    "path",
    "ms",
    "× eager",
    "× compile",
    "× SDPA",
    "× kept",
    "peak MB",
    "eager MB",
    "error",
    "",
]


def line(row: Row, device: str, budget: float) -> list[str]:
    runs, leaves = {"ours": row.ours, **row.peers}, row.leaves
    if row.captured:
        runs, leaves = {name: capture(run, leaves) for name, run in runs.items()}, []
    times = compare(runs, leaves, device, budget)

    def ratio(name: str) -> str:
        return f"{times[name] / times['ours']:.2f}" if name in times else ""

    memory = peak_memory(row.ours, row.leaves, device)
    other = (
        peak_memory(row.peers["eager"], row.leaves, device) if "eager" in row.peers else math.nan
    )
    wrong = error_of_first(row)
    return [
        row.mechanism,
        row.shape,
        row.path,
        f"{times['ours']:.3g}",
        ratio("eager"),
        ratio("compile"),
        ratio("sdpa"),
        ratio("kept weights"),
        f"{memory:.0f}",
        "" if math.isnan(other) else f"{other:.0f}",
        "" if math.isnan(wrong) else f"{wrong:.0e}",
        row.note,
    ]


def error_of_first(row: Row) -> float:
    """The error over as much as the truth covers (its first row or head)."""
    if row.truth is None:
        return math.nan
    with torch.no_grad():
        truth = row.truth()
        got = row.ours().double()[tuple(slice(0, n) for n in truth.shape)]
        return ((got - truth).abs().max() / truth.abs().max()).item()


def warm_up(device: str, seconds: float = 3.0) -> None:
    """Bring the clocks to where they stay, or the first row would pay for it."""
    x, begin = torch.randn(1024, 1024, device=device), time.perf_counter()
    while time.perf_counter() - begin < seconds:
        (x @ x).sum().item()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--only", choices=GROUPS, help="one group of rows")
    parser.add_argument(
        "--seconds", type=float, default=4.0, help="about how long to measure a row"
    )
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_float32_matmul_precision("highest")
    where = (
        torch.cuda.get_device_name() if options.device == "cuda" else f"{os.cpu_count()} CPU cores"
    )
    print(f"torch {torch.__version__}, {where}, {torch.get_num_threads()} threads\n", flush=True)
    print("| " + " | ".join(HEAD) + " |\n" + "| --- " * len(HEAD) + "|", flush=True)
    warm_up(options.device)
    for name, group in GROUPS.items():
        if options.only in (None, name):
            for row in group(options.device):
                print(
                    "| " + " | ".join(line(row, options.device, options.seconds)) + " |", flush=True
                )


if __name__ == "__main__":
    main()
