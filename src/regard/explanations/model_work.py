"""How much work something is, before any of it is done, and the pieces that it is done in.

Work is counted in multiplications, about: what a small machine does in a second is some 1e11 of them.
Legend: S source tokens, T target tokens, w hypotheses side by side.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from torch import nn

from regard.records.maps import attentions_in, heads_of

FEATURE = 32  # multiplications that one feature of a pair is worth: it is copied, squashed and kept
GRADIENT = 3  # a run forwards and the gradient of it, in runs forwards
PIECE = 2e9  # of work at a time: some 50 ms, and what it keeps in memory stays small


def pieces(count: int, each: float) -> Iterator[slice]:
    """0 … count - 1 in slices that are a PIECE of work at most, where one is `each`; never less than one."""
    size = max(1, int(PIECE / each))
    return (slice(first, min(first + size, count)) for first in range(0, count, size))


@dataclass(frozen=True)
class ModelWork:
    """What a token costs a model, and a pair of a query and a key, over all layers."""

    token: float
    cross: float
    encoder: float
    decoder: float
    heads: tuple[int, int, int]  # of the three kinds of attention, over all layers

    @classmethod
    def of(cls, model: nn.Module) -> ModelWork:
        kinds = attentions_in(model)
        cross, encoder, decoder = (
            FEATURE * sum(one.query_size + one.value_size for one in kinds[kind].values())
            for kind in ("cross", "encoder", "decoder")
        )
        heads = (sum(map(heads_of, kinds[kind].values())) for kind in kinds)
        token = sum(each.numel() for each in model.parameters())
        return cls(token, cross, encoder, decoder, (*heads,))  # type: ignore[arg-type]

    def reading(self, source: int, target: int, beam: int = 1) -> float:
        """S tokens encoded and T decoded; or searched for, w hypotheses at a time."""
        written = beam * target
        pairs = self.cross * source * written + self.decoder * target * written
        return self.token * (source + written) + self.encoder * source**2 + pairs

    def numbers(self, source: int, target: int, beam: int = 1) -> int:
        """Weights in a record: those of every head, and those of 2 w candidates at every step."""
        cross, encoder, decoder = self.heads
        tree = 2 * beam * target * source
        return cross * target * source + encoder * source**2 + decoder * target**2 + tree
