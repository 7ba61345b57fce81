"""Scores against their width: where an unscaled dot product stops learning, and what each score costs.

    python benchmarks/score_width.py                        # small, minutes on a CPU
    python benchmarks/score_width.py --steps 2000 --seeds 3 --device cuda --widths 4 8 16 32 64 128 256 512

One of 20 keys is asked for by a noisy rotation of it, and the class of its value is to be told (chance is
10 %). Query and keys are projected to the width, d_k, so that their features have unit variance, as the
footnote of Vaswani et al. 2017 assumes: a dot product then has the variance d_k, its softmax is near 0 or 1
from the start, and gradients are small. Printed: the accuracy after the updates; the standard deviation of
the first scores and the largest of the first weights, on average; then parameters, milliseconds of an update,
and, on a GPU, the most memory that a large one took.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import regard
from regard.attention.scores import as_score

KEYS, CLASSES, SIZE = 20, 10, 32
SCORES = ("dot", "scaled-dot", "cosine(0.1)", "bilinear", "additive")
LARGE = (64, 256)  # queries and keys of the update that is timed


class Retrieval(nn.Module):
    """Keys and queries of one width, a score, and a class from the value that was read."""

    def __init__(self, score: str, width: int) -> None:
        super().__init__()
        self.query, self.key = (nn.Linear(SIZE, width, bias=False) for _ in range(2))
        for part in (self.query, self.key):
            nn.init.normal_(part.weight, std=SIZE**-0.5)  # inputs of unit variance stay so
        named = f"additive({width})" if score == "additive" else score
        sizes = {"query_size": width, "key_size": width}
        self.score = as_score(named, **sizes)
        self.output = nn.Linear(CLASSES, CLASSES)

    def forward(self, query: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        attended = regard.attend(self.query(query), self.key(keys), values, score=self.score)
        return self.output(attended.context)

    @torch.no_grad()
    def first(self, query: Tensor, keys: Tensor) -> tuple[float, float]:
        """The spread of the scores of a query, and its largest weight."""
        q, k = self.score.project_query(self.query(query)), self.score.project_key(self.key(keys))
        scores = self.score.pair(q, k)
        return scores.std(-1).mean().item(), scores.softmax(-1).amax(-1).mean().item()


def drawer(device: str, noise: float) -> Callable[[int, int, int], tuple[Tensor, ...]]:
    """query (B, Lq, SIZE), keys (B, Lk, SIZE), values (B, Lk, CLASSES), answers (B, Lq)"""
    fixed = torch.Generator().manual_seed(7)
    turn = torch.linalg.qr(torch.randn(SIZE, SIZE, generator=fixed)).Q.to(device)

    def draw(batch: int, queries: int, count: int) -> tuple[Tensor, ...]:
        keys = torch.randn(batch, count, SIZE, device=device)
        classes = torch.randint(CLASSES, (batch, count), device=device)
        wanted = torch.randint(count, (batch, queries), device=device)
        asked = keys.gather(1, wanted[..., None].expand(-1, -1, SIZE))
        query = (asked + noise * torch.randn_like(asked)) @ turn
        return query, keys, F.one_hot(classes, CLASSES).float(), classes.gather(1, wanted)

    return draw


def update(model: Retrieval, optimizer: torch.optim.Optimizer, batch: tuple[Tensor, ...]) -> None:
    *tensors, answers = batch
    loss = F.cross_entropy(model(*tensors).flatten(0, 1), answers.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def learnt(score: str, width: int, seed: int, given: argparse.Namespace) -> tuple[float, ...]:
    """The accuracy in percent, and the first spread and largest weight."""
    torch.manual_seed(seed)
    draw, model = drawer(given.device, given.noise), Retrieval(score, width).to(given.device)
    query, keys, *_ = draw(200, 1, KEYS)
    first = model.first(query, keys)
    optimizer = torch.optim.Adam(model.parameters(), lr=given.lr)
    for _ in range(given.steps):
        update(model, optimizer, draw(given.batch, 1, KEYS))
    with torch.no_grad():
        *tensors, answers = draw(4000, 1, KEYS)
        right = (model(*tensors).argmax(-1) == answers).float().mean().item()
    return 100 * right, *first


def cost(score: str, width: int, given: argparse.Namespace) -> tuple[int, float, float | None]:
    """Parameters of the score, milliseconds of a large update, and its most memory in MiB."""
    draw, model = drawer(given.device, given.noise), Retrieval(score, width).to(given.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=given.lr)
    batch, times, most = draw(16, *LARGE), [], None
    for _ in range(6):
        wait(given.device)
        start = time.perf_counter()
        update(model, optimizer, batch)
        wait(given.device)
        times.append(time.perf_counter() - start)
    if given.device == "cuda":
        torch.cuda.reset_peak_memory_stats()
        update(model, optimizer, batch)
        most = torch.cuda.max_memory_allocated() / 2**20
    own = (
        sum(p.numel() for p in model.score.parameters())
        if isinstance(model.score, nn.Module)
        else 0
    )
    return own, 1000 * statistics.median(times[2:]), most


def wait(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scores", nargs="+", default=list(SCORES))
    parser.add_argument("--widths", nargs="+", type=int, default=[4, 16, 64, 256])
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--noise", type=float, default=0.3)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    heads = "".join(f"{width:>10}" for width in given.widths)
    print(f"accuracy, %, after {given.steps} updates; d_k{heads}")
    firsts: dict[str, list[tuple[float, float]]] = {}
    for score in given.scores:
        cells = []
        for width in given.widths:
            found = [learnt(score, width, seed, given) for seed in range(1, given.seeds + 1)]
            right, spread, largest = map(statistics.mean, zip(*found, strict=True))
            firsts.setdefault(score, []).append((spread, largest))
            cells.append(f"{right:>10.1f}")
        print(f"{score:<34}{''.join(cells)}", flush=True)
    print("\nbefore training: spread of the scores / largest weight")
    for score, row in firsts.items():
        print(f"{score:<34}" + "".join(f"{f'{a:.1f}/{b:.2f}':>10}" for a, b in row))
    print("\nparameters of the score; an update of 16 × 64 queries × 256 keys, ms (MiB)")
    for score in given.scores:
        cells = []
        for width in given.widths:
            own, took, most = cost(score, width, given)
            memory = "" if most is None else f" ({most:.0f})"
            cells.append(f"{f'{own:,}; {took:.1f}{memory}':>22}")
        print(f"{score:<14}{''.join(cells)}", flush=True)


if __name__ == "__main__":
    main()
