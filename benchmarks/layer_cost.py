"""What a layer costs by the length of a text, what a batch makes up for, and how far a stack of layers sees.

    python benchmarks/layer_cost.py                                  # three tables, a minute on a CPU
    python benchmarks/layer_cost.py --device cuda --lengths 64 256 1024 4096 16384

length  Milliseconds of a layer, forward and backward, on one text of so many positions, one thread of a
        CPU: a recurrent one waits for every step, dense attention grows with the square, windows and
        convolutions with the length.
batch   A GRU over texts of 100 steps: microseconds a text, megabytes that the way forward keeps for the way
        back and, on a GPU, the most that an update takes, by how many are read at once. Texts fill a step
        up to what the machine can do at once; the steps still wait for each other.
field   Positions that the middle of the last layer depends on, counted where its derivative is not 0: of
        convolutions of width 3 one on the other, doubling their gaps, windows, and one layer of attention.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from regard.attention.multi_head import MultiHead
from regard.layers.recurrent import Recurrent
from run_folders import head, row

STEPS = 100  # of `batch`
FIELD = 255  # positions of `field`
DEPTHS = (1, 2, 3, 4, 6)


class Convolution(nn.Module):
    """(B, T, D) -> (B, T, D), width 3"""

    def __init__(self, size: int, gap: int = 1) -> None:
        super().__init__()
        self.inner = nn.Conv1d(size, size, 3, padding=gap, dilation=gap)

    def forward(self, x: Tensor) -> Tensor:
        return torch.tanh(self.inner(x.mT)).mT


class Reading(nn.Module):
    """A recurrent layer, of which the states alone are given."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.inner = Recurrent(size, size, cell="gru")

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x).outputs


class Attending(nn.Module):
    def __init__(self, size: int, region: str) -> None:
        super().__init__()
        self.inner = MultiHead(size, heads=4, region=region)

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x).context


LAYERS: dict[str, Callable[[int], nn.Module]] = {
    "GRU": Reading,
    "convolution of 3": Convolution,
    "attention, window(16)": lambda size: Attending(size, "window(16)"),
    "attention, everywhere": lambda size: Attending(size, "everywhere"),
}
STACKS: dict[str, Callable[[int, int], nn.Module]] = {
    "convolution of 3": lambda size, layer: Convolution(size),
    "convolution of 3, gaps 1, 2, 4 …": lambda size, layer: Convolution(size, 2**layer),
    "attention, window(16)": lambda size, layer: Attending(size, "window(16)"),
    "attention, everywhere": lambda size, layer: Attending(size, "everywhere"),
}


def seconds(run: Callable[[], object], device: str) -> float:
    """The least of some rounds, since others use the machine too; on a CPU of this thread's own time."""
    clock = time.perf_counter if device == "cuda" else time.thread_time
    found, began = [], clock()
    while len(found) < 4 or (len(found) < 30 and clock() - began < 2):
        wait(device)
        start = clock()
        run()
        wait(device)
        found.append(clock() - start)
    return min(found[1:])


def wait(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def update(layer: nn.Module, x: Tensor) -> Callable[[], object]:
    return lambda: layer(x).sum().backward()


def kept(layer: nn.Module, x: Tensor) -> float:
    """Megabytes that the way forward keeps for the way back, without weights and inputs."""
    found: dict[int, int] = {}

    def pack(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        found[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        held = layer(x)  # or what it keeps would be given to others
    for known in (x, held, *layer.parameters()):
        found.pop(known.untyped_storage().data_ptr(), None)
    return sum(found.values()) / 2**20


def length(given: argparse.Namespace) -> Iterator[str]:
    yield from head("layer, ms", *(f"{count:,} positions" for count in given.lengths))
    for name, make in LAYERS.items():
        torch.manual_seed(1)
        layer, cells = make(given.size).to(given.device), []
        for count in given.lengths:
            x = torch.randn(1, count, given.size, device=given.device)
            cells.append(f"{1000 * seconds(update(layer, x), given.device):.2f}")
        yield row(name, *cells)


def batch(given: argparse.Namespace) -> Iterator[str]:
    yield from head("a GRU, 100 steps; texts at once", *map(str, given.batches))
    torch.manual_seed(1)
    layer = Reading(given.size).to(given.device)
    times, sizes, memory = [], [], []
    for count in given.batches:
        x = torch.randn(count, STEPS, given.size, device=given.device)
        times.append(seconds(update(layer, x), given.device))
        sizes.append(kept(layer, x))
        if given.device == "cuda":
            torch.cuda.reset_peak_memory_stats()
            update(layer, x)()
            memory.append(torch.cuda.max_memory_allocated() / 2**20)
    yield row("ms an update", *(f"{1000 * took:.2f}" for took in times))
    each = [took / count for took, count in zip(times, given.batches, strict=True)]
    yield row("µs a text", *(f"{1e6 * took:.0f}" for took in each))
    yield row("µs a step", *(f"{1e6 * took / STEPS:.1f}" for took in times))
    yield row("MB kept for the way back", *(f"{size:.1f}" for size in sizes))
    if memory:
        yield row("MB at most", *(f"{most:.0f}" for most in memory))


def field(given: argparse.Namespace) -> Iterator[str]:
    yield from head("layers one on the other", *map(str, DEPTHS))
    for name, make in STACKS.items():
        cells = []
        for depth in DEPTHS:
            torch.manual_seed(1)
            stack = nn.Sequential(*(make(16, layer) for layer in range(depth))).double()
            x = torch.randn(1, FIELD, 16, dtype=torch.float64, requires_grad=True)
            (found,) = torch.autograd.grad(stack(x)[0, FIELD // 2].sum(), x)
            cells.append(str(int((found.abs().sum(-1) > 0).sum())))
        yield row(name, *cells)


TABLES = {"length": length, "batch": batch, "field": field}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--lengths", nargs="+", type=int, default=[64, 256, 1024, 4096])
    parser.add_argument("--batches", nargs="+", type=int, default=[1, 4, 16, 64, 256])
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    torch.set_num_threads(1)
    for name in given.only:
        print(f"## {name}\n", flush=True)
        for line in TABLES[name](given):
            print(line, flush=True)
        print()


if __name__ == "__main__":
    main()
