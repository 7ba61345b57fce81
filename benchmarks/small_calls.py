"""What one small call costs, where the host is the bottleneck: microseconds, beside SDPA's own.

    python benchmarks/small_calls.py                          # bfloat16 on a GPU, float32 on a CPU
    python benchmarks/small_calls.py --shape 4 8 128 64 --rounds 40

Forward, and forward with backward, in shuffled rounds; the median of each, and its difference from SDPA
with the same restriction. The first call of each, with whatever it compiles or plans, is timed alone.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

import regard

Call = Callable[[Tensor, Tensor, Tensor], Tensor]


def calls(real: Tensor, bias: Tensor) -> dict[str, Call]:
    """By name; what follows SDPA is compared with it."""
    score, causal = regard.scores.ScaledDot(), regard.regions.Causal()
    window, mask = regard.regions.Window(16), real[:, None, None]
    return {
        "SDPA": lambda q, k, v: F.scaled_dot_product_attention(q, k, v),
        "attend": lambda q, k, v: regard.attend(q, k, v, score=score).context,
        "SDPA, causal": lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        "attend, causal": lambda q, k, v: regard.attend(q, k, v, score=score, region=causal)[0],
        "SDPA, key mask": lambda q, k, v: F.scaled_dot_product_attention(q, k, v, attn_mask=mask),
        "attend, key mask": lambda q, k, v: regard.attend(q, k, v, score=score, mask=mask)[0],
        "SDPA, bias": lambda q, k, v: F.scaled_dot_product_attention(q, k, v, attn_mask=bias),
        "attend, bias": lambda q, k, v: regard.attend(q, k, v, score=score, bias=bias)[0],
        "attend, window(16)": lambda q, k, v: regard.attend(q, k, v, score=score, region=window)[0],
    }


def timed(call: Call, tensors: list[Tensor], backward: bool, repeats: int) -> float:
    """Microseconds of one call, over `repeats` of them."""
    wait = torch.cuda.synchronize if tensors[0].is_cuda else lambda: None
    wait()
    begin = time.perf_counter()
    for _ in range(repeats):
        context = call(*tensors)
        if backward:
            torch.autograd.grad(context, tensors, context)
    wait()
    return (time.perf_counter() - begin) / repeats * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", type=int, nargs=4, default=[4, 8, 128, 64])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--repeats", type=int, default=20)
    asked = parser.parse_args()
    torch.manual_seed(0)
    random.seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    dtype = torch.bfloat16 if device == "cuda" else torch.float32
    batch, _, length, _ = asked.shape
    lengths = torch.linspace(length // 2, length, batch, device=device)
    distance = torch.arange(length, device=device)
    alibi = -0.1 * (distance[:, None] - distance).abs()[None, None].to(dtype)
    runs = calls(distance < lengths[:, None], alibi)
    tensors = [
        torch.randn(*asked.shape, device=device, dtype=dtype, requires_grad=True) for _ in range(3)
    ]
    first = {name: timed(call, tensors, True, 1) for name, call in runs.items()}
    times: dict[tuple[str, bool], list[float]] = {(n, b): [] for n in runs for b in (False, True)}
    for _ in range(asked.rounds):
        for name, backward in random.sample(list(times), len(times)):
            times[name, backward].append(timed(runs[name], tensors, backward, asked.repeats))
    middle = {key: statistics.median(values) for key, values in times.items()}

    print(f"{tuple(asked.shape)}, {str(dtype)[6:]}, {device}; microseconds")
    print(
        "| call | forward | − SDPA | with backward | − SDPA | first call |\n" + "| --- " * 6 + "|"
    )
    for name in runs:
        peer = name.replace("attend", "SDPA")
        peer = peer if peer in runs else "SDPA"
        row = [middle[name, False], middle[name, False] - middle[peer, False]]
        row += [middle[name, True], middle[name, True] - middle[peer, True], first[name]]
        print(f"| {name} | " + " | ".join(f"{value:,.0f}" for value in row) + " |")


if __name__ == "__main__":
    main()
