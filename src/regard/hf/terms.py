"""What Hugging Face models add to an attention: a scale, a cap, a sink, a bias, and float masks."""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from regard.attention.normalizers import HardChoice, Normalizer
from regard.attention.scores import DotLike, Score
from regard.words import t

MASKED = -1e4  # no bias is meant to be this low: it is a mask, and exp(-10000) is 0


class ModelScaledDot(DotLike):
    """score(q, k) = scaling · q · k: the scaled dot product with the scale that the model asks for"""

    def __init__(self, scaling: float) -> None:
        super().__init__()
        self.scaling = scaling

    def scale(self, size: int) -> float:
        return self.scaling


class Capped(Score):
    """score'(q, k) = cap · tanh(score(q, k) / cap)      — Gemma 2, https://arxiv.org/abs/2408.00118"""

    def __init__(self, score: Score, cap: float) -> None:
        super().__init__()
        self.score, self.cap = score, cap
        self.query_size, self.key_size = score.query_size, score.key_size
        self.uses_keys, self.max_keys = score.uses_keys, score.max_keys
        self.pairwise = score.pairwise

    def project_query(self, query: Tensor) -> Tensor:
        return self.score.project_query(query)

    def project_key(self, key: Tensor) -> Tensor:
        return self.score.project_key(key)

    def pair(self, query: Tensor, key: Tensor) -> Tensor:
        return self.cap * torch.tanh(self.score.pair(query, key) / self.cap)


class WithSink(Normalizer):
    """weights = normalize([s, sink]) without the last: what the sink takes is missing from the row

    The sink (H,) is one learned score a head, which no key owns (gpt-oss).
    """

    def __init__(self, normalize: Normalizer, sink: Tensor) -> None:
        self.normalize, self.sink = normalize, sink

    def __call__(
        self,
        scores: Tensor,
        allowed: Tensor | None = None,
        *,
        training: bool = False,
        generator: Generator | None = None,
    ) -> tuple[Tensor, HardChoice | None]:
        sink = self.sink.to(scores.dtype)[:, None, None].expand(*scores.shape[:-1], 1)
        if allowed is not None:
            allowed = allowed.expand(scores.shape)
            allowed = torch.cat([allowed, torch.ones_like(allowed[..., :1])], -1)
        weights, choice = self.normalize(
            torch.cat([scores, sink], -1), allowed, training=training, generator=generator
        )
        return weights[..., :-1], choice


def split_mask(mask: Tensor | None) -> tuple[Tensor | None, Tensor | None]:
    """A mask of a Hugging Face model as (allowed, bias): a float one is added to the scores."""
    if mask is None or mask.dtype == torch.bool:
        return mask, None
    if not mask.is_floating_point():
        raise TypeError(
            t(
                "the attention mask must be bool (True: may be attended) or float (added to "
                "the scores), given {dtype} {mask_shape}",
                dtype=mask.dtype,
                mask_shape=tuple(mask.shape),
            )
        )
    allowed = mask > MASKED
    return allowed, mask.masked_fill(~allowed, 0.0)


def total_bias(remainder: Tensor | None, position_bias: Tensor | None) -> Tensor | None:
    """What is added to the scores: what a float mask does not forbid, and the position bias of T5."""
    if remainder is None or position_bias is None:
        return position_bias if remainder is None else remainder
    return remainder + position_bias
