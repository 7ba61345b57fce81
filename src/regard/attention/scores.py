"""How alike are this query and that key?  query (..., Lq, Dq), key (..., Lk, Dk) -> (..., Lq, Lk).

Every score is written as three small functions,

    score(q, k) = pair(project_query(q), project_key(k))

so that keys can be projected once per source, and so that all scores whose `pair` is a dot product
run on the same fast path. `heads=h` gives every head parameters of its own; the queries and keys
then have an axis of that size before the length: (..., h, L, D).
"""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn

from regard.attention.kernels.additive import additive_scores
from regard.attention.language import build
from regard.attention.shapes import broadcast
from regard.words import t


class Summands(NamedTuple):
    """What a score adds up, number by number: Σ q ⊙ k, or with a vector Σ v ⊙ tanh(q + k)."""

    query: Tensor  # (..., Lq, E), scaled
    key: Tensor  # (..., Lk, E)
    vector: Tensor | None = None  # (heads or 1, E)


class Score(nn.Module):
    """score(q, k) = pair(project_query(q), project_key(k)): what the subclass says they are.

    What a score can do, it says itself; one that writes a `pair` and says nothing runs on the definition.
    """

    query_size: int | None = None  # what the parameters expect; None: any size
    key_size: int | None = None
    uses_keys = True  # Location does not
    query_cancels = False  # Concat: its query adds the same number to every key's score
    max_keys: int | None = None  # keys from this position on cannot be scored, hence not attended
    kernel: Literal["dot", "additive"] | None = None  # the fused kernels that compute `pair`
    pairwise = (
        False  # `pair` of a query and a key depends on these two alone: keys may be rearranged
    )
    takes_scale = (
        False  # a model with a scale of its own, as Hugging Face's have, means this score by it
    )
    operations = 4  # of one feature of a pair: a sum, a tanh, a product and a sum

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "pair" in vars(cls):  # what its parent says of another `pair` does not hold for this one
            cls.kernel = vars(cls).get("kernel")
            cls.pairwise = vars(cls).get("pairwise", False)

    def __init__(self) -> None:  # nn.Module takes anything; a score without sizes takes nothing
        super().__init__()

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        return self.pair(self.project_query(query), self.project_key(key))

    def project_query(self, query: Tensor) -> Tensor:
        return query

    def project_key(self, key: Tensor) -> Tensor:
        return key

    def pair(self, query: Tensor, key: Tensor) -> Tensor:
        raise NotImplementedError(t("{kind} does not say how to pair", kind=type(self).__name__))

    def summands(self, query: Tensor, key: Tensor) -> Summands | None:
        """What `pair` of these adds up; None: it is no sum over features that is known."""
        return None

    def fill_as_published(self) -> None:
        """The values that its paper starts from, where they are not those of the rest of the network."""

    def extra_repr(self) -> str:
        sizes = {"query_size": self.query_size, "key_size": self.key_size}
        return ", ".join(f"{name}={size}" for name, size in sizes.items() if size is not None)


class DotLike(Score):
    """score(q, k) = scale · project_query(q) · project_key(k): whatever the fused dot kernels run."""

    kernel = "dot"
    pairwise = True
    operations = 2  # a product and a sum

    def scale(self, size: int) -> float:
        return 1.0

    def pair(self, query: Tensor, key: Tensor) -> Tensor:
        scale = self.scale(key.shape[-1])
        return (query if scale == 1.0 else query * scale) @ key.mT

    def summands(self, query: Tensor, key: Tensor) -> Summands | None:
        if self.kernel != "dot":  # another `pair`
            return None
        return Summands(query * self.scale(key.shape[-1]), key)


class Dot(DotLike):
    """score(q, k) = q · k      — Luong et al. 2015, https://arxiv.org/abs/1508.04025"""


class ScaledDot(DotLike):
    """score(q, k) = q · k / √d      — Vaswani et al. 2017, https://arxiv.org/abs/1706.03762

    The variance of q · k is d for parts of unit variance; the root keeps the softmax out of saturation.
    """

    takes_scale = True

    def scale(self, size: int) -> float:
        return 1.0 / math.sqrt(max(size, 1))


class Bilinear(DotLike):
    """score(q, k) = qᵀ W k      — Luong et al. 2015 ("general"), https://arxiv.org/abs/1508.04025"""

    def __init__(self, query_size: int, key_size: int, *, heads: int | None = None) -> None:
        super().__init__()
        self.query_size, self.key_size = query_size, key_size
        self.weight = _matrix(heads, query_size, key_size)

    def project_query(self, query: Tensor) -> Tensor:
        return query @ self.weight


class Cosine(DotLike):
    """score(q, k) = q · k / (‖q‖ ‖k‖ τ)

    Cosines lie in [-1, 1]: at temperature τ = 1 a softmax over n keys cannot give one of them more
    than e² / (e² + n - 1). `learned=True` makes log τ a parameter, starting from `temperature`.
    """

    def __init__(self, temperature: float = 1.0, *, learned: bool = False) -> None:
        super().__init__()
        if not torch.finfo(torch.float32).tiny <= temperature < math.inf:
            raise ValueError(
                t(
                    "the temperature of a cosine must be above 0, and a number that float32 has, "
                    "not {temperature}",
                    temperature=temperature,
                )
            )
        self.fixed = temperature
        log = nn.Parameter(torch.tensor(math.log(temperature))) if learned else None
        self.log_temperature = log

    @property
    def temperature(self) -> Tensor | float:
        return self.fixed if self.log_temperature is None else self.log_temperature.exp()

    def scale(self, size: int) -> float:
        return 1.0 / self.fixed if self.log_temperature is None else 1.0

    def project_query(self, query: Tensor) -> Tensor:
        if self.log_temperature is None:
            return _unit(query)
        return _unit(query) * (-self.log_temperature).exp().to(query.dtype)

    def project_key(self, key: Tensor) -> Tensor:
        return _unit(key)

    def extra_repr(self) -> str:
        return (
            f"temperature={float(self.temperature):.4g}, learned={self.log_temperature is not None}"
        )


class Concat(DotLike):
    """score(q, k) = w · [q; k] = w_q · q + w_k · k      (linear: no tanh)

    Mind: w_q · q is the same number for every key, so in a softmax (or sparsemax, or arg max) the
    query cancels and every query gets the same weights. With a tanh it is `Additive`.
    """

    query_cancels = True

    def __init__(self, query_size: int, key_size: int, *, heads: int | None = None) -> None:
        super().__init__()
        self.query_size, self.key_size = query_size, key_size
        self.query_weight = _matrix(heads, query_size, 1)
        self.key_weight = _matrix(heads, key_size, 1)

    # w_q · q + w_k · k = [w_q · q, 1] · [1, w_k · k]
    def project_query(self, query: Tensor) -> Tensor:
        part = query @ self.query_weight
        return torch.cat([part, torch.ones_like(part)], dim=-1)

    def project_key(self, key: Tensor) -> Tensor:
        part = key @ self.key_weight
        return torch.cat([torch.ones_like(part), part], dim=-1)


class Additive(Score):
    """score(q, k) = v · tanh(W q + U k)      — Bahdanau et al. 2015, https://arxiv.org/abs/1409.0473

    The same function as v · tanh(M [q; k]) with M = [W U]: see `from_matrix`. `size` is the length
    of v (default: key_size); `bias` adds b inside the tanh. The kernels
    store nothing of size Lq·Lk·size; with one query, which has nothing to save, plain torch runs.
    """

    kernel = "additive"
    pairwise = True

    def __init__(
        self,
        query_size: int,
        key_size: int,
        size: int | None = None,
        *,
        heads: int | None = None,
        bias: bool = False,
    ) -> None:
        super().__init__()
        _check_size("the size of an additive score", size)
        self.query_size, self.key_size, self.size = query_size, key_size, size or key_size
        self.query_weight = _matrix(heads, query_size, self.size)
        self.key_weight = _matrix(heads, key_size, self.size)
        self.vector = _matrix(heads, self.size, 1)
        self.bias = nn.Parameter(torch.zeros(*_heads(heads), 1, self.size)) if bias else None

    @classmethod
    def from_matrix(cls, matrix: Tensor, vector: Tensor, query_size: int) -> Additive:
        """v · tanh(M [q; k]) from M (size, query_size + key_size) and v (size,): the first columns meet q."""
        size, width = matrix.shape
        if not 0 < query_size < width or vector.shape != (size,):
            raise ValueError(
                t(
                    "expected a matrix (size, query_size + key_size) and a vector (size,), given "
                    "{matrix_shape}, {vector_shape} and query_size={query_size}",
                    matrix_shape=tuple(matrix.shape),
                    vector_shape=tuple(vector.shape),
                    query_size=query_size,
                )
            )
        score = cls(query_size, width - query_size, size).to(matrix)
        with torch.no_grad():
            score.query_weight.copy_(matrix[:, :query_size].T)
            score.key_weight.copy_(matrix[:, query_size:].T)
            score.vector.copy_(vector[:, None])
        return score

    def project_query(self, query: Tensor) -> Tensor:
        return query @ self.query_weight

    def project_key(self, key: Tensor) -> Tensor:
        projected = key @ self.key_weight
        return projected if self.bias is None else projected + self.bias

    def fill_as_published(self) -> None:
        nn.init.zeros_(self.vector)

    def pair(self, query: Tensor, key: Tensor) -> Tensor:
        if query.dim() == key.dim() == 3 and self.vector.dim() == 2 and len(query) == len(key):
            return additive_scores(query, key, self.rows)
        lead = broadcast(query.shape[:-2], key.shape[:-2], self.vector.shape[:-2])
        query, key = (
            x.expand(*lead, *x.shape[-2:]).flatten(0, -3) if lead else x[None] for x in (query, key)
        )
        return (
            additive_scores(query, key, self.rows)
            .unflatten(0, lead or (1,))
            .reshape(*lead, query.shape[-2], key.shape[-2])
        )

    def summands(self, query: Tensor, key: Tensor) -> Summands | None:
        if self.kernel != "additive":  # another `pair`
            return None
        return Summands(query, key, self.rows.detach().float())

    @property
    def rows(self) -> Tensor:
        """v as (heads or 1, size), as the kernels want it."""
        return self.vector.mT.reshape(-1, self.size)


class Location(DotLike):
    """score(q, k_j) = (W q)_j: position j's own row of W, no key

    — Luong et al. 2015, https://arxiv.org/abs/1508.04025

    The table W has a fixed length: short sources use its top, and keys from position `max_length`
    on are not attended. `bias` adds b_j: a place that is looked at whatever is asked.
    """

    uses_keys = False

    def __init__(
        self, query_size: int, max_length: int, *, heads: int | None = None, bias: bool = False
    ) -> None:
        super().__init__()
        _check_size("the length of a location score", max_length)
        self.query_size, self.max_keys = query_size, max_length
        self.table = nn.Parameter(_matrix(heads, query_size, max_length).detach().mT.contiguous())
        self.bias = nn.Parameter(torch.zeros(*_heads(heads), max_length, 1)) if bias else None

    # (W q)_j + b_j = [q, 1] · [W_j, b_j]
    def project_query(self, query: Tensor) -> Tensor:
        if self.bias is None:
            return query
        return torch.cat([query, torch.ones_like(query[..., :1])], dim=-1)

    def project_key(self, key: Tensor) -> Tensor:
        length = key.shape[-2]
        table = self.table if self.bias is None else torch.cat([self.table, self.bias], dim=-1)
        rows = table[..., :length, :]
        if length > rows.shape[-2]:  # never attended: any finite row will do
            rows = nn.functional.pad(rows, (0, 0, 0, length - rows.shape[-2]))
        lead = broadcast(rows.shape[:-2], key.shape[:-2])
        return rows.expand(*lead, *rows.shape[-2:])


class Distance(Score):
    """score(q, k) = 1 / (1 + ‖q - k‖)      — Yin et al. 2016 (ABCNN), https://arxiv.org/abs/1512.05193

    The gradient at distance 0 is taken as 0 (that of a square root would be NaN).
    """

    pairwise = True

    def pair(self, query: Tensor, key: Tensor) -> Tensor:
        if query.dtype == torch.float64:  # the definition, twice differentiable
            distance = torch.linalg.vector_norm(
                query[..., :, None, :] - key[..., None, :, :], dim=-1
            )
        else:  # the same without Lq·Lk·D numbers
            exact = "donot_use_mm_for_euclid_dist"
            distance = torch.cdist(query.float(), key.float(), compute_mode=exact).to(query.dtype)
        return 1 / (1 + distance)


SCORES: dict[str, type[Score]] = {
    "dot": Dot,
    "scaled-dot": ScaledDot,
    "bilinear": Bilinear,
    "cosine": Cosine,
    "concat": Concat,
    "additive": Additive,
    "location": Location,
    "distance": Distance,
}


def as_score(given: Score | str | None, **sizes: Any) -> Score:
    """The score that was given, named, or (None) scaled dot; `sizes` complete a name."""
    if given is None:
        return ScaledDot()
    if isinstance(given, str):
        return build(given, "score", SCORES, **sizes)
    if isinstance(given, Score):
        return given
    raise TypeError(
        t("score must be a Score, a name or None, not {given}", given=repr(given))
        + (t(" — call it to make one") if isinstance(given, type) else "")
    )


def _unit(x: Tensor) -> Tensor:
    """x / ‖x‖, and 0 for 0, also where 1e-12 is below the dtype's smallest number."""
    return nn.functional.normalize(x, dim=-1, eps=max(1e-12, torch.finfo(x.dtype).tiny))


def _heads(heads: int | None) -> tuple[int, ...]:
    return () if heads is None else (heads,)


def _check_size(what: str, size: int | None) -> None:
    if size is not None and size < 1:
        raise ValueError(t("{what} is 1 or more, not {size}", what=what, size=size))


def _matrix(heads: int | None, rows: int, columns: int) -> nn.Parameter:
    """(rows, columns), or (heads, rows, columns), uniform as Glorot and Bengio have it."""
    bound = math.sqrt(6.0 / (rows + columns))
    return nn.Parameter(torch.empty(*_heads(heads), rows, columns).uniform_(-bound, bound))
