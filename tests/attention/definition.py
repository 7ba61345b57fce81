"""Attention written down a second time, pair by pair and row by row, with nothing taken from regard
but the parameters. Slow and plain: every path of the library is compared with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from regard import scores as S


def score_of(score: S.Score, q: Tensor, k: Tensor, position: int) -> Tensor:
    """The score of one query (Dq,) and one key (Dk,) that stands at `position`."""
    match score:
        case S.ScaledDot():
            return (q * k).sum() / math.sqrt(len(k))
        case S.Dot():
            return (q * k).sum()
        case S.Bilinear():
            return q @ score.weight @ k
        case S.Cosine():
            norms = q.norm().clamp(min=1e-12) * k.norm().clamp(min=1e-12)
            return (q * k).sum() / norms / score.temperature
        case S.Concat():
            weight = torch.cat([score.query_weight, score.key_weight]).squeeze(-1)
            return weight @ torch.cat([q, k])
        case S.Additive():
            matrix = torch.cat([score.query_weight, score.key_weight])
            bias = 0 if score.bias is None else score.bias.squeeze()
            return score.vector.squeeze(-1) @ torch.tanh(torch.cat([q, k]) @ matrix + bias)
        case S.Location():
            bias = 0 if score.bias is None else score.bias[position, 0]
            return score.table[position] @ q + bias
        case S.Distance():
            return 1 / (1 + (q - k).square().sum().sqrt())
    raise TypeError(score)


def row_weights(name: str, scores: Tensor) -> Tensor:
    """The weights of one query over the keys it may attend to (at least one)."""
    match name:
        case "softmax":
            return torch.exp(scores - scores.max()) / torch.exp(scores - scores.max()).sum()
        case "softmax(0.5)":
            return row_weights("softmax", scores / 0.5)
        case "sparsemax":  # the threshold by search over the size of the support
            for size in range(1, len(scores) + 1):
                top = scores.topk(size).values
                threshold = (top.sum() - 1) / size
                beyond = scores.topk(size + 1).values[-1] if size < len(scores) else None
                if top[-1] > threshold and (beyond is None or beyond <= threshold):
                    return torch.relu(scores - threshold)
            raise AssertionError
        case "raw":
            return scores
        case "uniform":
            return torch.ones_like(scores) / len(scores)
        case "hard":
            return torch.nn.functional.one_hot(scores.argmax(), len(scores)).to(scores.dtype)
    raise ValueError(name)


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    score: S.Score,
    allowed: Callable[[int, int], bool],
    normalize: str,
    mask: Tensor,
    bias: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Context and weights for q (Lq, Dq), k (Lk, Dk), v (Lk, Dv), mask and finite bias (Lq, Lk)."""
    contexts, rows = [], []
    for i in range(len(q)):
        seen = [j for j in range(len(k)) if mask[i, j] and allowed(i, j)]
        if isinstance(score, S.Location):
            seen = [j for j in seen if j < len(score.table)]
        if not seen:
            contexts.append(torch.zeros(v.shape[-1], dtype=v.dtype))
            rows.append(torch.zeros(len(k), dtype=v.dtype))
            continue
        scores = [
            score_of(score, q[i], k[j], j) + (0 if bias is None else bias[i, j]) for j in seen
        ]
        weights = row_weights(normalize, torch.stack(scores))
        contexts.append(sum(w * v[j] for w, j in zip(weights, seen, strict=True)))
        rows.append(torch.zeros(len(k), dtype=v.dtype).index_put((torch.tensor(seen),), weights))
    return torch.stack(contexts), torch.stack(rows)


def far(d: int, rate: int) -> bool:
    return d % rate == 0


REGIONS: dict[str, Callable[[int, int], bool]] = {
    "everywhere": lambda i, j: True,
    "causal(start)": lambda i, j: j <= i,
    "first(2) | window(1, align=start)": lambda i, j: j < 2 or abs(i - j) <= 1,
    "window(1, 2)": lambda i, j: -1 <= j - i <= 2,
    "window(2) & causal(start)": lambda i, j: 0 <= i - j <= 2,
    "atrous(3)": lambda i, j: far(i - j, 3),
    "atrous(2) & causal(start)": lambda i, j: j <= i and far(i - j, 2),
    "sparse(3)": lambda i, j: abs(i - j) <= 3 or far(i - j, 3),
    "sparse(2) & causal(start)": lambda i, j: j <= i and (abs(i - j) <= 2 or far(i - j, 2)),
    "~window(1, align=start) | causal(2)": lambda i, j: not abs(i - j) <= 1 or j <= i + 2,
}

NORMALIZERS = ["softmax", "softmax(0.5)", "sparsemax", "raw", "uniform", "hard"]


def all_scores(dtype: torch.dtype = torch.float64) -> dict[str, S.Score]:
    """One of each, for queries of size 4 and keys of size 4, with parameters that matter."""
    torch.manual_seed(7)
    made: dict[str, S.Score] = {
        "dot": S.Dot(),
        "scaled-dot": S.ScaledDot(),
        "bilinear": S.Bilinear(4, 4),
        "cosine": S.Cosine(0.3, learned=True),
        "concat": S.Concat(4, 4),
        "additive": S.Additive(4, 4, 5, bias=True),
        "location": S.Location(4, 5, bias=True),
        "distance": S.Distance(),
    }
    for score in made.values():
        score.to(dtype)
        for parameter in score.parameters():
            torch.nn.init.normal_(parameter, std=0.7)
    return made
