"""Attention with several heads, as a module.

Legend: query (..., Lq, Dq), states (..., Lk, Dk), H heads of D features.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from torch import Tensor, nn

from regard.attention.argument_checks import check_counts, check_score_sizes
from regard.attention.memory import Memory
from regard.attention.module import AttentionModule
from regard.attention.normalizers import Normalizer, as_normalizer
from regard.attention.region import Region
from regard.attention.regions import as_region
from regard.attention.rotary import Rotary
from regard.attention.scores import Score, as_score
from regard.words import t


class MultiHead(AttentionModule):
    """Concat(head_1 .. head_h) W_O,  head_i = attend(Q W_i^Q, K W_i^K, V W_i^V)

    — Vaswani et al. 2017, https://arxiv.org/abs/1706.03762, for any score. Narrow heads share the
    width (head_size = query_size / heads), `wide` ones have all of it each. `key_heads` < heads:
    groups of heads share keys and values (Ainslie et al. 2023, https://arxiv.org/abs/2305.13245).
    rotary: positions as rotations of queries and keys. cap, nan_safe: as in `Attention`; sinks: one for
    every head.
    weights are (..., heads, Lq, Lk).
    """

    heads_axis = (-3,)

    def __init__(
        self,
        query_size: int,
        key_size: int | None = None,
        value_size: int | None = None,
        *,
        heads: int = 8,
        key_heads: int | None = None,
        head_size: int | None = None,
        wide: bool = False,
        score: Score | str | None = None,
        region: Region | str | None = None,
        normalize: Normalizer | str | None = None,
        dropout: float = 0.0,
        cap: float | None = None,
        sinks: bool = False,
        bias: bool = True,
        rotary: Rotary | None = None,
        nan_safe: bool = True,
    ) -> None:
        super().__init__()
        check_counts(
            query_size=query_size,
            key_size=key_size,
            value_size=value_size,
            heads=heads,
            key_heads=key_heads,
            head_size=head_size,
        )
        if rotary is not None and not isinstance(rotary, Rotary):
            raise TypeError(t("rotary must be a Rotary or None, not {rotary}", rotary=repr(rotary)))
        self.query_size, self.key_size = query_size, key_size
        self.dropout, self.rotary, self.nan_safe = dropout, rotary, nan_safe
        self.heads, self.key_heads = heads, key_heads or heads
        self.head_size = head_size or (query_size if wide else query_size // heads)
        if head_size is None and not wide and query_size % heads:
            raise ValueError(
                t(
                    "{heads} heads do not divide query_size {query_size}: choose another number, "
                    "give head_size, or wide=True",
                    heads=heads,
                    query_size=query_size,
                )
            )
        if heads % self.key_heads:
            raise ValueError(
                t(
                    "key_heads {key_heads} must divide heads {heads}",
                    key_heads=self.key_heads,
                    heads=heads,
                )
            )
        sizes: dict[str, Any] = {"query_size": self.head_size, "key_size": self.head_size}
        self.score = as_score(score, **sizes, heads=heads)
        self.region = as_region(region, query_size=query_size)
        self.normalize = as_normalizer(normalize)
        self._keep_slots(cap, sinks, heads)
        # shared keys are kept once, so each head's own projection of them waits as well
        self.projects_late = self.key_heads != heads or not self.score.uses_keys
        check_score_sizes(self.score, self.head_size, self.head_size)
        keys = query_size if key_size is None else key_size
        self.value_size = value_size or keys
        width, key_width = heads * self.head_size, self.key_heads * self.head_size
        self.query = nn.Linear(query_size, width, bias=bias)
        self.key = nn.Linear(keys, key_width, bias=bias)
        self.value = nn.Linear(self.value_size, key_width, bias=bias)
        self.output = nn.Linear(width, query_size, bias=bias)

    def project_query(self, query: Tensor, start: int) -> Tensor:
        heads = self._turned(_split(self.query(query), self.heads), start)
        return self.score.project_query(heads)

    def project_key(self, states: Tensor, start: int) -> Tensor:
        return self._turned(_split(self.key(states), self.key_heads), start)

    def project_value(self, values: Tensor) -> Tensor:
        return _split(self.value(values), self.key_heads)

    def recall(self, memory: Memory) -> tuple[Tensor, Tensor]:
        group = self.heads // self.key_heads
        if group > 1:
            keys, values = (x.repeat_interleave(group, -3) for x in (memory.keys, memory.values))
            memory = replace(memory, keys=keys, values=values)
        return super().recall(memory)

    def _turned(self, heads: Tensor, start: int) -> Tensor:
        return heads if self.rotary is None else self.rotary.turn(heads, start)

    def merge(self, context: Tensor) -> Tensor:
        return self.output(context.transpose(-2, -3).flatten(-2))  # (..., Lq, H · head_size)


def _split(x: Tensor, heads: int) -> Tensor:
    """(..., L, H · D) -> (..., H, L, D)"""
    return x.unflatten(-1, (heads, -1)).transpose(-2, -3)
