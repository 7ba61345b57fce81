"""Attentions drawn at random."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import Any

import plain_attention as plain
import torch
from plain_regions import Tree, draw_region
from torch import Tensor, nn

import regard

SCORES = (
    "Dot",
    "ScaledDot",
    "Bilinear",
    "Cosine",
    "Concat",
    "Additive",
    "Location",
    "Distance",
)
SMALL = [0, 1, 1, 2, 3, 4, 5, 7, 8, 9, 11, 16, 17]
LARGE = [31, 32, 33, 64, 65, 97, 127, 128, 129, 211, 256, 257, 300]


@dataclass
class Problem:
    """What `regard.attend` is given; the region as a tree, or a predicted window."""

    query: Tensor
    key: Tensor
    value: Tensor | None
    mask: Tensor | None
    score: regard.scores.Score
    region: Tree | regard.regions.PredictedWindow
    normalizer: str
    weights: bool

    def __str__(self) -> str:
        shapes = [f"query {tuple(self.query.shape)}", f"key {tuple(self.key.shape)}"]
        shapes += [] if self.value is None else [f"value {tuple(self.value.shape)}"]
        shapes += [] if self.mask is None else [f"mask {tuple(self.mask.shape)}"]
        names = (type(self.score).__name__, str(self.within), self.normalizer)
        return ", ".join([*shapes, *names, str(self.query.dtype)[6:], f"weights={self.weights}"])

    @property
    def within(self) -> regard.regions.Region:
        return self.region if isinstance(self.region, nn.Module) else self.region.region()

    @property
    def inputs(self) -> list[Tensor]:
        """Query, key, and value if there is one of its own."""
        return [x for x in (self.query, self.key, self.value) if x is not None]

    @property
    def lead(self) -> tuple[int, ...]:
        return tuple(torch.broadcast_shapes(*(x.shape[:-2] for x in self.inputs)))

    def attend(self, query: Tensor, key: Tensor, value: Tensor | None = None) -> regard.Attended:
        return regard.attend(
            query,
            key,
            value,
            score=self.score,
            region=self.within,
            normalize=self.normalizer,
            mask=self.mask,
            weights=self.weights,
        )

    def parameters(self) -> list[nn.Parameter]:
        modules = [m for m in (self.score, self.region) if isinstance(m, nn.Module)]
        return [p for module in modules for p in module.parameters()]


def draw_problem(draw: random.Random, kind: str, *, least: int = 0) -> Problem:
    """Queries and keys: `least` of each at least."""
    large = draw.random() < 0.1
    sizes = [n for n in (LARGE if large else SMALL) if n >= least]
    queries = draw.choice(sizes)
    keys = queries if draw.random() < 0.4 else draw.choice(sizes)
    dtype = draw.choices([torch.float32, torch.float64, torch.bfloat16], [6, 2, 2])[0]
    numbers = torch.Generator().manual_seed(draw.getrandbits(40))
    # a cosine of vectors near 0 has gradients that no rounding survives
    size = draw.choice([3, 4, 8, 17] if kind == "Cosine" else [1, 2, 3, 4, 5, 8, 16, 17])
    free = kind in ("Bilinear", "Concat", "Additive", "Location")
    key_size = draw.choice([1, 3, 4, 7]) if free else size
    axes = [1, 2] if large else [1, 1, 2, 2, 3, 5, *([] if least else [0])]
    lead = [draw.choice(axes) for _ in range(draw.choice([0, 1, 1, 2] if large else range(5)))]

    def filled(length: int, width: int) -> Tensor:
        shape = (*narrowed(draw, lead), length, width)
        return torch.randn(shape, generator=numbers).to(dtype)

    query, key = filled(queries, size), filled(keys, key_size)
    value = None if draw.random() < 0.2 else filled(keys, draw.choice([1, 2, 3, 8, 17]))
    problem = Problem(
        query,
        key,
        value,
        None,
        make_score(kind, size, key_size, draw.choice([1, 5, 400]), numbers).to(dtype),
        draw_region(draw, queries, keys),
        draw.choice(list(plain.NORMALIZERS)),
        weights=draw.random() < 0.4,
    )
    if draw.random() < 0.12:
        width = draw.choice([1.5, 3.0, 10.0])
        # raw weights may sum to almost 0
        whole = problem.normalizer != "raw" and draw.random() < 0.5
        window = regard.regions.PredictedWindow(width, size, renormalize=whole)
        problem.region = randomised(window, numbers).to(dtype)
    if draw.random() < 0.6:
        problem.mask = draw_mask(draw, problem, numbers)
    return problem


def narrowed(draw: random.Random, lead: list[int]) -> list[int]:
    """The leading axes, some of them of size 1, and without some of the first."""
    kept = lead[draw.choice([0, 0, 0, draw.randint(0, len(lead))]) :]
    return [1 if draw.random() < 0.2 else axis for axis in kept]


def make_score(
    kind: str, query_size: int, key_size: int, longest: int, numbers: torch.Generator, **heads: Any
) -> regard.scores.Score:
    scores = regard.scores
    made: regard.scores.Score
    match kind:
        case "Bilinear" | "Concat":
            made = getattr(scores, kind)(query_size, key_size, **heads)
        case "Additive":
            made = scores.Additive(query_size, key_size, 6, bias=True, **heads)
        case "Location":
            made = scores.Location(query_size, longest, bias=True, **heads)
        case "Cosine":
            made = scores.Cosine(0.3, learned=True)
        case _:
            made = getattr(scores, kind)()
    return randomised(made, numbers)


def randomised(module: nn.Module, numbers: torch.Generator) -> Any:
    """Parameters that matter, of about the size that training gives them."""
    for parameter in module.parameters():
        wide = parameter.shape[-2] if parameter.dim() > 1 else 1
        values = torch.randn(parameter.shape, generator=numbers) / math.sqrt(wide)
        parameter.data.copy_(values)
    return module


def draw_mask(draw: random.Random, problem: Problem, numbers: torch.Generator) -> Tensor:
    """True where a key may be attended: of any shape that broadcasts, some rows without any key."""
    queries, keys = problem.query.shape[-2], problem.key.shape[-2]
    lead = narrowed(draw, list(problem.lead))
    rows = draw.choice([1, queries])
    columns = 1 if draw.random() < 0.05 else keys
    shape = [*lead, rows, columns]
    if rows == 1 and draw.random() < 0.1:
        shape = [columns]
    padding = [*problem.key.shape[: len(shape) - 1], keys]
    if len(shape) < len(problem.lead) + 2 and shape == padding:  # it is refused: it could be either
        shape = [1] * (len(problem.lead) + 2 - len(shape)) + shape
    if draw.random() < 0.4:  # sources of different lengths
        lengths = torch.randint(0, columns + 1, (*shape[:-1], 1), generator=numbers)
        return torch.arange(columns) < lengths
    mask = torch.rand(shape, generator=numbers) < draw.choice([0.0, 0.2, 0.5, 0.9])
    return mask & (torch.rand((*shape[:-1], 1), generator=numbers) < 0.9)
