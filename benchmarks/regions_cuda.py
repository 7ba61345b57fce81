"""Time and memory of regions against dense attention as the length grows: forward and backward.

    python benchmarks/regions_cuda.py                              # a GPU, 1k to 32k positions
    python benchmarks/regions_cuda.py --device cpu                 # up to 4k
    python benchmarks/regions_cuda.py --regions 'window(128) & causal' --lengths 4096 8192

Dense is torch's scaled_dot_product_attention itself, over all pairs, without a mask. A time of 0.25 means: a
quarter of dense's; the contenders of a length take turns, and times are medians. Memory is what a step adds
at its highest. Pairs are the scores that are computed, as a share of all; nothing is asserted.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

import regard
from attention import Run, peak_memory, random, step, warm_up

REGIONS = ["everywhere", "atrous(8)", "window(64)", "sparse(64)"]
LENGTHS = {
    "cuda": [1024, 2048, 4096, 8192, 16384, 32768],
    "cpu": [512, 1024, 2048, 4096],
}
HEADS, SIZE = 8, 64
HEAD = ["n", "attention", "path", "pairs", "ms", "time / dense", "peak MB", "memory / dense"]


def rows(
    length: int, regions: Sequence[str], dtype: torch.dtype, device: str, seconds: float
) -> Iterator[list[str]]:
    """Dense, then the regions, of one length."""
    shape = (1, HEADS, length, SIZE)
    q, k, v = (random(*shape, device=device, grad=True, dtype=dtype) for _ in range(3))
    runs: dict[str, Run] = {"dense (SDPA)": lambda: F.scaled_dot_product_attention(q, k, v)}
    for region in regions:
        runs[region] = lambda region=region: regard.attend(q, k, v, region=region).context
    times = medians(runs, [q, k, v], device, seconds)
    memory = {name: peak_memory(run, [q, k, v], device) for name, run in runs.items()}
    dense = "dense (SDPA)"
    for name in runs:
        path, pairs = ("", 1.0) if name == dense else planned(name, q, k, v)
        yield [
            f"{length:,}",
            name,
            path,
            f"{pairs:.3g}",
            f"{times[name]:.3g}",
            f"{times[name] / times[dense]:.2f}",
            f"{memory[name]:,.0f}",
            f"{memory[name] / memory[dense]:.2f}" if memory[dense] else "–",
        ]


def planned(region: str, q: Tensor, k: Tensor, v: Tensor) -> tuple[str, float]:
    """The path that computes a region, and the share of all pairs that it scores."""
    plan = regard.explain(q, k, v, region=region)
    path = plan.path if plan.inner is None else f"{plan.path} → {plan.inner.path}"
    return path, plan.pairs / (q[..., 0].numel() * k.shape[-2])


def medians(
    runs: dict[str, Run], leaves: list[Tensor], device: str, seconds: float
) -> dict[str, float]:
    """Milliseconds of a step of each, in turns, for about `seconds` each."""
    for run in runs.values():
        step(run, leaves)
    times: dict[str, list[float]] = {name: [] for name in runs}
    begin = time.perf_counter()
    while time.perf_counter() - begin < seconds * len(runs) or min(map(len, times.values())) < 3:
        for name, run in runs.items():
            times[name].append(timed(run, leaves, device))
    return {name: statistics.median(each) for name, each in times.items()}


def timed(run: Run, leaves: list[Tensor], device: str) -> float:
    if device == "cuda":
        torch.cuda.synchronize()
    begin = time.perf_counter()
    step(run, leaves)
    if device == "cuda":
        torch.cuda.synchronize()
    return (time.perf_counter() - begin) * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cuda", choices=["cpu", "cuda"])
    parser.add_argument("--regions", nargs="+", default=REGIONS)
    parser.add_argument("--lengths", nargs="+", type=int)
    parser.add_argument("--seconds", type=float, default=0.3, help="about how long to time each")
    options = parser.parse_args()
    torch.manual_seed(0)
    device = options.device
    where = torch.cuda.get_device_name() if device == "cuda" else "CPU"
    print(f"torch {torch.__version__}, {where}, {torch.get_num_threads()} threads")
    warm_up(device, 1.0)
    dtypes = [torch.float32, torch.bfloat16] if device == "cuda" else [torch.float32]
    for dtype in dtypes:
        print(f"\n(1, {HEADS}, n, {SIZE}) {str(dtype)[6:]}, forward and backward\n")
        print("| " + " | ".join(HEAD) + " |\n| --- | --- | --- " + "| ---: " * 5 + "|", flush=True)
        for length in options.lengths or LENGTHS[device]:
            for row in rows(length, options.regions, dtype, device, options.seconds):
                print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
