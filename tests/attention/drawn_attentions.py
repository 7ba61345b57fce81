"""Attentions drawn at random, of any ranks, sizes and broadcast axes, and what each of them is: the
whole matrix of scores in float64, from the formulas, with nothing taken from regard but parameters.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from regard import scores as S

SIZE = 4  # of queries and keys
POISONS = (math.nan, math.inf, -math.inf, 3e38, -3e38, 1e30)

# by the distance d = i + offset - j of a query from a key
REGIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "everywhere": lambda d: d == d,
    "causal({})": lambda d: d >= 0,
    "window(3, align={})": lambda d: d.abs() <= 3,
    "window(0, 2, align={})": lambda d: (d <= 0) & (d >= -2),
    "window(5) & causal({})": lambda d: (d >= 0) & (d <= 5),
    "atrous(3, align={})": lambda d: d % 3 == 0,
    "atrous(4) & causal({})": lambda d: (d % 4 == 0) & (d >= 0),
    "sparse(4, align={})": lambda d: (d.abs() <= 4) | (d % 4 == 0),
    "sparse(3) & causal({})": lambda d: (d >= 0) & ((d <= 3) | (d % 3 == 0)),
    "~window(2, align={})": lambda d: d.abs() > 2,
}
NORMALIZERS = (
    "softmax",
    "softmax",
    "softmax",
    "softmax(0.5)",
    "sparsemax",
    "raw",
    "uniform",
    "hard",
)


def make_scores(dtype: torch.dtype) -> dict[str, S.Score]:
    torch.manual_seed(3)
    made: dict[str, S.Score] = {
        "dot": S.Dot(),
        "scaled-dot": S.ScaledDot(),
        "bilinear": S.Bilinear(SIZE, SIZE),
        "cosine": S.Cosine(0.3),
        "concat": S.Concat(SIZE, SIZE),
        "additive": S.Additive(SIZE, SIZE, 5, bias=True),
        "location": S.Location(SIZE, 60, bias=True),
        "distance": S.Distance(),
    }
    made["location"].bias.data.normal_()  # type: ignore[union-attr]
    return {name: score.to(dtype) for name, score in made.items()}


@dataclass(frozen=True, repr=False)
class Drawn:
    """One attention: tensors in float64, of which a test may take any precision."""

    query: Tensor
    key: Tensor
    value: Tensor | None
    mask: Tensor | None
    score: str
    region: str
    offset: int
    normalize: str
    bias: Tensor | None = None
    cap: float | None = None
    sinks: Tensor | None = None

    def __repr__(self) -> str:
        tensors = {"q": self.query, "k": self.key, "v": self.value, "mask": self.mask}
        tensors |= {"bias": self.bias, "sinks": self.sinks}
        shapes = (f"{name} {tuple(x.shape)}" for name, x in tensors.items() if x is not None)
        return f"{', '.join(shapes)}, {self.score}, {self.named_region}, {self.normalize}, cap {self.cap}"

    def rounded(self, dtype: torch.dtype) -> Drawn:
        """The same in numbers that this precision has."""
        names = ("query", "key", "value", "bias", "sinks")
        tensors = {name: getattr(self, name) for name in names}
        return replace(
            self, **{n: None if x is None else x.to(dtype).double() for n, x in tensors.items()}
        )

    @property
    def values(self) -> Tensor:
        return self.key if self.value is None else self.value

    @property
    def allowed(self) -> Tensor:
        """(..., Lq, Lk) with every leading axis."""
        q, k = self.query.shape[-2], self.key.shape[-2]
        distance = torch.arange(q)[:, None] + self.offset - torch.arange(k)
        allowed = REGIONS[self.region](distance)
        if self.score == "location":
            allowed = allowed & (torch.arange(k) < 60)
        leads = [x.shape[:-2] for x in (self.query, self.key, self.values)]
        if self.mask is not None:
            allowed = allowed & self.mask
        return allowed.expand((*torch.broadcast_shapes(*leads, allowed.shape[:-2]), q, k))

    @property
    def weighed(self) -> Tensor:
        """`allowed`, without the pairs that the bias forbids."""
        return self.allowed if self.bias is None else self.allowed & (self.bias != -math.inf)

    @property
    def named_region(self) -> str:
        return self.region.format(self.offset)

    def poisoned(self, keys: Tensor, number: float) -> Drawn:
        """With this number in these keys and values: (..., Lk) of the axes that they have."""
        spoilt = [
            None if x is None else x.masked_fill(_of_axes(keys, x)[..., None], number)
            for x in (self.key, self.value)
        ]
        return replace(self, key=spoilt[0], value=spoilt[1])

    def with_poisoned_bias(self, number: float) -> Drawn:
        """With this number in the bias of every pair that is not allowed."""
        if self.bias is None:
            return self
        hidden = ~self.allowed
        for axis, size in enumerate((1,) * (hidden.dim() - self.bias.dim()) + self.bias.shape):
            hidden = hidden.all(axis, keepdim=True) if size == 1 else hidden
        hidden = hidden.reshape(hidden.shape[hidden.dim() - self.bias.dim() :])
        return replace(self, bias=self.bias.masked_fill(hidden, number))


def _of_axes(keys: Tensor, x: Tensor) -> Tensor:
    """Flags (..., Lk) of all leading axes for a tensor that has fewer: those flagged in every row."""
    for axis in range(keys.dim() - 1):
        place = axis - keys.dim() + x.dim() - 1
        if place < 0 or x.shape[place] == 1:
            keys = keys.all(axis, keepdim=True)
    return keys.reshape(keys.shape[keys.dim() - x.dim() + 1 :])


def draw(seed: int) -> Drawn:
    chance = random.Random(seed)
    numbers = torch.Generator().manual_seed(seed)
    lead = [chance.choice((1, 2, 3)) for _ in range(chance.randint(0, 3))]
    small, large = (0, 1, 2, 3, 5, 8, 13, 17), (31, 33, 47, 64, 70, 97, 190, 230)
    keys = chance.choice(chance.choice((small, large, large)))
    queries = keys if chance.random() < 0.7 else chance.choice(chance.choice((small, large)))
    if keys * queries > 10_000:
        lead = lead[:1]  # large or many

    def axes() -> list[int]:
        kept = lead[chance.randint(0, len(lead)) :]
        return [chance.choice((size, size, 1)) for size in kept]

    def tensor(length: int, size: int) -> Tensor:
        return torch.randn(*axes(), length, size, generator=numbers, dtype=torch.float64)

    query, key = tensor(queries, SIZE), tensor(keys, SIZE)
    value = None if chance.random() < 0.3 else tensor(keys, chance.choice((1, 3, 6)))
    leads = [x.shape[:-2] for x in (query, key, key if value is None else value)]
    full = torch.broadcast_shapes(*leads)
    mask = None
    if chance.random() < 0.6:
        shape = [chance.choice((size, 1)) for size in full]
        rows = chance.choice((1, 1, 1, queries))
        columns = chance.choice((keys, keys, keys, 1))
        mask = torch.rand(*shape, rows, columns, generator=numbers) < chance.choice((0.1, 0.5, 0.9))
    normalize = chance.choice(NORMALIZERS)
    more = random.Random(seed + 2_000_000)
    cap = more.choice((0.5, 2.0, 30.0)) if more.random() < 0.25 else None
    sinks = None
    if normalize.startswith("softmax") and more.random() < 0.3:
        shape = [more.choice((size, size, 1)) for size in full[more.randint(0, len(full)) :]]
        sinks = torch.randn(shape, generator=numbers, dtype=torch.float64)
    return Drawn(
        query,
        key,
        value,
        mask,
        chance.choice(list(make_scores(torch.float64))),
        chance.choice(list(REGIONS)),
        0 if chance.random() < 0.7 else chance.randint(-9, 9),
        normalize,
        draw_bias(random.Random(seed + 1_000_000), numbers, (*full, queries, keys)),
        cap,
        sinks,
    )


def draw_bias(
    chance: random.Random, numbers: torch.Generator, whole: tuple[int, ...]
) -> Tensor | None:
    """Of any axes that broadcast to these, now and then with pairs that it forbids."""
    if chance.random() < 0.5:
        return None
    kept = whole[chance.randint(0, len(whole)) :] if chance.random() < 0.3 else whole
    shape = [chance.choice((size, size, 1)) for size in kept]
    bias = torch.randn(shape, generator=numbers, dtype=torch.float64)
    if chance.random() < 0.4:
        share = chance.choice((0.1, 0.5, 1.0))
        bias = bias.masked_fill(torch.rand(shape, generator=numbers) < share, -math.inf)
    return bias


def definition(
    drawn: Drawn, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, sinks: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Context and weights, in float64, with every leading axis."""
    allowed = drawn.weighed
    lead = allowed.shape[:-2]
    q, k, v = (x.expand(*lead, *x.shape[-2:]) for x in (q, k, v))
    scores = _scores(make_scores(torch.float64)[drawn.score], q, k)
    if drawn.cap is not None:
        scores = drawn.cap * torch.tanh(scores / drawn.cap)
    if bias is not None:
        scores = scores + bias
    scores = scores.masked_fill(~allowed, -math.inf)
    if sinks is None:
        weights = _weights(drawn.normalize, scores, allowed)
    else:  # exp(s) / (exp(sink) + Σ exp(s))
        logs = scores / (0.5 if "0.5" in drawn.normalize else 1.0)
        beside = sinks[..., None, None].expand(*logs.shape[:-1], 1)
        weights = torch.cat([logs, beside], -1).softmax(-1)[..., :-1]
    weights = torch.where(allowed, weights, 0.0)
    return weights @ v, weights


def _scores(score: S.Score, q: Tensor, k: Tensor) -> Tensor:
    dots = torch.einsum("...id,...jd->...ij", q, k)
    match score:
        case S.ScaledDot():
            return dots / math.sqrt(SIZE)
        case S.Dot():
            return dots
        case S.Bilinear():
            return torch.einsum("...id,de,...je->...ij", q, score.weight, k)
        case S.Cosine():
            return dots / (q.norm(dim=-1)[..., :, None] * k.norm(dim=-1)[..., None, :]) / 0.3
        case S.Concat():
            return q @ score.query_weight + (k @ score.key_weight).mT
        case S.Additive():
            left, right = q @ score.query_weight, k @ score.key_weight + score.bias
            return torch.tanh(left[..., :, None, :] + right[..., None, :, :]) @ score.vector[:, 0]
        case S.Location():
            rows = torch.cat([score.table, score.bias], -1)
            missing = rows.new_zeros(max(k.shape[-2] - 60, 0), SIZE + 1)
            rows = torch.cat([rows, missing])[: k.shape[-2]]
            return q @ rows[:, :-1].mT + rows[:, -1]
        case S.Distance():
            apart = q[..., :, None, :] - k[..., None, :, :]
            return 1 / (1 + apart.square().sum(-1).sqrt())
    raise TypeError(score)


def _weights(name: str, scores: Tensor, allowed: Tensor) -> Tensor:
    """From scores that are -inf where not allowed; what a row without any key has does not matter."""
    empty = ~allowed.any(-1, keepdim=True)
    scores = scores.masked_fill(empty, 0.0)
    if scores.shape[-1] == 0:
        return scores
    match name:
        case "softmax":
            return scores.softmax(-1)
        case "softmax(0.5)":
            return (scores / 0.5).softmax(-1)
        case "raw":
            return scores
        case "uniform":
            return allowed.double() / allowed.sum(-1, keepdim=True).clamp(min=1)
        case "hard":
            return torch.nn.functional.one_hot(scores.argmax(-1), scores.shape[-1]).to(scores)
        case "sparsemax":  # of all sizes of the support, the one whose threshold lies below it
            ordered = scores.sort(-1, descending=True).values
            sizes = torch.arange(1, scores.shape[-1] + 1)
            thresholds = (ordered.cumsum(-1) - 1) / sizes
            size = (ordered > thresholds).sum(-1, keepdim=True)
            return (scores - thresholds.gather(-1, size - 1)).clamp(min=0)
    raise ValueError(name)
