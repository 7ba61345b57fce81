"""What `attend` adds to SDPA on a CPU: both, and SDPA a second time as a null, in shuffled rounds.

    python benchmarks/overhead.py                 # (8, 8, 1024, 64), forward and backward

The null says how far two runs of the very same call lie apart: a difference below it means nothing.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time

import torch
import torch.nn.functional as F

import regard


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=70)
    rounds = parser.parse_args().rounds
    torch.manual_seed(0)
    random.seed(0)
    q, k, v = (torch.randn(8, 8, 1024, 64, requires_grad=True) for _ in range(3))
    score = regard.scores.ScaledDot()
    runs = {
        "attend": lambda: regard.attend(q, k, v, score=score).context,
        "SDPA": lambda: F.scaled_dot_product_attention(q, k, v),
        "SDPA again": lambda: F.scaled_dot_product_attention(q, k, v),
    }
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name in random.sample(list(runs), len(runs)):
            begin = time.perf_counter()
            torch.autograd.grad(runs[name]().sum(), [q, k, v])
            times[name].append((time.perf_counter() - begin) * 1e3)
    print(
        "| call | median ms | lowest ms | SDPA / this, median of the rounds |\n"
        + "| --- " * 4
        + "|"
    )
    for name, values in times.items():
        ratios = [a / b for a, b in zip(times["SDPA"], values, strict=True)]
        middle, ratio = statistics.median(values), statistics.median(ratios)
        print(f"| {name} | {middle:.1f} | {min(values):.1f} | {ratio:.3f} |")


if __name__ == "__main__":
    main()
