"""How fast are the additive kernels on this CPU?     python benchmarks/kernels_additive_cpu.py [--compile]

Each row compares, in the same run, the operator with eager PyTorch (the faster of two ways to write it) and,
with --compile, with torch.compile of that. Times are in ms, the best of repeated calls that take turns.
"""

import argparse
import time
from collections.abc import Callable

import torch
from torch import Tensor

from regard.attention.kernels.additive import additive_attention, additive_scores, backend

SHAPES = [  # N, Lq, Lk, D
    (16, 48, 48, 256), (64, 1, 10, 256), (64, 1, 20, 256), (64, 1, 50, 256),
    (1, 1, 50, 256), (8, 32, 32, 512), (2, 256, 256, 256),
]  # fmt: skip


def eager_product(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    return torch.tanh(query[:, :, None] + key[:, None]) @ weight[0]


def eager_sum(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    return (weight[0] * torch.tanh(query[:, :, None] + key[:, None])).sum(-1)


def eager_attention(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    return torch.softmax(eager_product(query, key, weight), -1) @ key


def kernel_attention(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    return additive_attention(query, key, key, weight)[0]


def milliseconds(calls: dict[str, Callable[[], object]], seconds: float = 1.5) -> dict[str, float]:
    """The best time of each call; the calls take turns, so that a busy machine slows all alike."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        call()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(next(iter(times.values()))) < 5:
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(3):
                call()
            times[name].append((time.perf_counter() - start) / 3 * 1e3)
    return {name: min(values) for name, values in times.items()}


def forward(function: Callable[..., Tensor], inputs: list[Tensor]) -> Callable[[], object]:
    def call() -> object:
        with torch.no_grad():
            return function(*inputs)

    return call


def both_ways(function: Callable[..., Tensor], inputs: list[Tensor]) -> Callable[[], object]:
    leaves = [x.clone().requires_grad_() for x in inputs]
    upstream = torch.randn_like(function(*inputs))
    return lambda: torch.autograd.grad(function(*leaves), leaves, upstream)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--compile", action="store_true", help="also torch.compile (a C++ compiler is needed)"
    )
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    print(f"{backend('cpu')}, torch {torch.__version__}, {options.threads} threads, float32")
    print(
        f"{'':10}{'N, Lq, Lk, D':20}{'':18}{'kernel':>9}{'eager':>9}{'×':>7}{'compile':>9}{'×':>7}"
    )
    for shape in SHAPES:
        rows, queries, keys, features = shape
        inputs = [
            torch.randn(rows, queries, features), torch.randn(rows, keys, features),
            torch.randn(1, features),
        ]  # fmt: skip
        for what in ("scores", "attention"):
            kernel = additive_scores if what == "scores" else kernel_attention
            eager = [eager_product, eager_sum] if what == "scores" else [eager_attention]
            for way in (forward, both_ways):
                calls = {"kernel": way(kernel, inputs)}
                calls |= {function.__name__: way(function, inputs) for function in eager}
                if options.compile:
                    torch._dynamo.reset()
                    calls["compile"] = way(torch.compile(eager[0]), inputs)
                times = milliseconds(calls)
                kernel_time, compiled = times.pop("kernel"), times.pop("compile", float("nan"))
                plain = min(times.values())
                name = "forward" if way is forward else "forward+backward"
                print(
                    f"{what:10}{shape!s:20}{name:18}{kernel_time:9.3f}{plain:9.3f}"
                    f"{plain / kernel_time:7.1f}{compiled:9.3f}{compiled / kernel_time:7.1f}"
                )


if __name__ == "__main__":
    main()
