"""What was pooled by attention, and its map: a recording keeps an `AttentionModule` only.

Legend: B inputs, S states, D features of a state.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from regard.attention.mechanism_text import written_normalizer
from regard.attention.normalizers import as_normalizer
from regard.attention.pooling import AttentionPooling, Pooled
from regard.records.attention_map import AttentionMap


class PooledStates(NamedTuple):
    """One call of a pooling."""

    name: str  # of the module, as in named_modules()
    pooling: AttentionPooling
    states: Tensor  # (B, S, D)
    weights: Tensor  # (B, S), with several hops (B, hops, S)

    def of(self, row: int) -> Tensor:
        """The weights of one input: (hops, S)."""
        return self.weights[row].reshape(self.pooling.hops, -1)


@contextmanager
def recording_poolings(module: nn.Module) -> Iterator[list[PooledStates]]:
    """Inside the block, keep what is pooled by attention, in the order of the calls."""
    kept: list[PooledStates] = []

    names = {
        part: name for name, part in module.named_modules() if isinstance(part, AttentionPooling)
    }

    def keep(pooling: AttentionPooling, args: tuple[Any, ...], pooled: Pooled) -> None:
        kept.append(PooledStates(names[pooling], pooling, args[0], pooled.weights))

    handles = [pooling.register_forward_hook(keep) for pooling in names]
    try:
        yield kept
    finally:
        for handle in handles:
            handle.remove()


@torch.no_grad()
def pooling_map(
    pooled: PooledStates, queries: str, keys: str, *, details: bool, name: str = "pooling"
) -> AttentionMap:
    """The map of the first input: its one query is what was pooled for, its heads are the hops."""
    pooling, states = pooled.pooling, pooled.states[0]
    hidden: nn.Module | None = pooling.hidden
    read = states if hidden is None else torch.tanh(hidden(states))
    scores = pooling.query @ read.mT  # (hops, S)
    normalizer = written_normalizer(as_normalizer(pooling.normalize))
    score = "dot" if hidden is None else "u · tanh(W h)"
    values = states.expand(pooling.hops, *states.shape)
    return AttentionMap(
        name,
        queries,
        keys,
        pooled.of(0)[None, :, None].float().cpu().numpy(),
        mechanism=f"score: {score} · normalize: {normalizer} · kind: {pooling.kind}",
        normalizer=normalizer,
        reported="layer 1",
        scores=scores[None, :, None].float().cpu().numpy() if details else None,
        values=values[None].float().cpu().numpy() if details else None,
    )
