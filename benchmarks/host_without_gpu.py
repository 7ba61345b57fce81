"""What a call of a region's kernels costs the host, measured where there is no GPU: nothing is launched.

    python benchmarks/host_without_gpu.py

(4, 8, 128, 64) in bfloat16 on the CPU, microseconds, the least of some turns: checking, planning, allocating
and collecting addresses, and the same with a backward pass; how many kernels would have been launched. On a
GPU each launch comes to that, and autograd's own thread: `python benchmarks/dense_cuda.py --only host`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

import regard
from regard.attention.kernels.launch import Launch
from regard.attention.kernels.region import region_call
from regard.attention.regions import as_region
from regard.attention.sequences.documents import Documents
from regard.attention.sequences.prefix import Prefix

SHAPE = (4, 8, 128, 64)
NAMED = [
    "everywhere",
    "causal",
    "window(16)",
    "(first(4) | window(16)) & causal",
    "atrous(8)",
    "sparse(16)",
]
CALLS, TURNS = 200, 7


def not_launched(launched: list[Any]) -> Callable[..., None]:
    def call(self: Launch, *tensors: Tensor) -> None:
        launched.append([x.data_ptr() for x in tensors])

    return call


def microseconds(work: Callable[[], Any]) -> float:
    turns = []
    for _ in range(TURNS):
        begin = time.perf_counter()
        for _ in range(CALLS):
            work()
        turns.append((time.perf_counter() - begin) / CALLS * 1e6)
    return min(turns)


def calls(length: int) -> dict[str, dict[str, Any]]:
    documents = Documents(torch.arange(length) // 48)
    regions = {name: as_region(name) for name in NAMED} | {"documents": documents}
    regions |= {"documents & causal": documents & as_region("causal")}
    regions |= {"prefix": Prefix(torch.tensor(20))}
    made: dict[str, dict[str, Any]] = {name: {"region": region} for name, region in regions.items()}
    made["key mask"] = {"mask": torch.rand(4, 1, 1, length) > 0.2}
    made["mask of pairs"] = {"mask": torch.rand(4, 1, length, length) > 0.2}
    made["bias"] = {"bias": torch.randn(1, 8, length, length, dtype=torch.bfloat16)}
    return made


def main() -> None:
    launched: list[Any] = []
    Launch.__call__ = not_launched(launched)  # type: ignore[method-assign]
    region_call.available = lambda device: True  # type: ignore[assignment]
    torch.set_num_threads(1)
    leaves = [torch.randn(SHAPE, dtype=torch.bfloat16, requires_grad=True) for _ in range(3)]
    grad = torch.randn_like(leaves[0])
    print("| call | forward | launches | with backward | launches |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, choices in calls(SHAPE[2]).items():

        def forward(choices: dict[str, Any] = choices) -> Tensor:
            return regard.attend(*leaves, **choices).context

        def both(forward: Callable[[], Tensor] = forward) -> Any:
            return torch.autograd.grad(forward(), leaves, grad)

        cells = []
        for work in (forward, both):
            work()
            launched.clear()
            work()
            cells += [str(len(launched))]
            with torch.set_grad_enabled(work is both):
                cells.insert(-1, f"{microseconds(work):.1f}")
        print(f"| `{name}` | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
