"""What models of two texts have in common: words, comparisons, the judgement.

Legend: B pairs, L words of the first text, M of the second, D features, K outputs. Padding stands at the end
of a row; masks are True where a word is real.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.layers.dropout import dropout
from regard.layers.embedding import TokenEmbedding
from regard.layers.special_tokens import PAD
from regard.models.encoder_decoder import token_mask
from regard.models.pairs.pair_options import ComparedOptions, PairOptions

OVERLAPS = 4  # numbers of `overlap`


class PairedText(NamedTuple):
    """One text of each pair."""

    ids: Tensor  # (B, L)
    mask: Tensor  # (B, L) bool


class Judged(NamedTuple):
    """Logits of labels, or the number itself; and what is added to the loss of each pair in training."""

    outputs: Tensor  # (B, K)
    penalty: Tensor | None = None  # (B,)


class PairModel(nn.Module, ABC):
    """outputs (B, K) = W [what `read` gives; overlap], or of tanh(V […]) with `hidden`"""

    def __init__(self, vocabulary: int, options: PairOptions) -> None:
        super().__init__()
        self.embed = TokenEmbedding(vocabulary, options.embedding)
        self.embed.draw(std=0.1)
        self.dropout, self.overlap = options.dropout, options.overlap

    def make_judgement(self, features: int, outputs: int, hidden: int | None) -> None:
        """The last layers, once it is known how many features `read` gives."""
        features += OVERLAPS * self.overlap
        self.hidden = nn.Linear(features, hidden) if hidden is not None else None
        self.output = nn.Linear(hidden or features, outputs)

    @abstractmethod
    def read(self, first: PairedText, second: PairedText) -> tuple[Tensor, Tensor | None]:
        """Features (B, …) of the pairs, and the penalty, if there is one."""

    def forward(
        self,
        first: Tensor,
        first_mask: Tensor | None,
        second: Tensor,
        second_mask: Tensor | None,
        *,
        first_lengths: Tensor | None = None,
        second_lengths: Tensor | None = None,
    ) -> Judged:
        """Masks, or lengths (B,) instead; of a text with neither all words are real."""
        one = never_without(first, token_mask(first, first_mask, first_lengths))
        other = never_without(second, token_mask(second, second_mask, second_lengths))
        features, penalty = self.read(one, other)
        if self.overlap:
            features = torch.cat([features, overlap(one, other).to(features)], -1)
        features = self._drop(features)
        if self.hidden is not None:
            features = self._drop(self.hidden(features).tanh())
        return Judged(self.output(features), penalty)

    def words(self, words: PairedText) -> Tensor:
        """(B, L, D): 0 where there is no word"""
        return self._drop(self.embed(words.ids).masked_fill(~words.mask[..., None], 0.0))

    def _drop(self, x: Tensor) -> Tensor:
        return dropout(x, self.dropout, self.training)


class ComparedPair(PairModel):
    """Every layer gives a vector u of the first text and v of the second, which are compared."""

    def __init__(self, vocabulary: int, options: ComparedOptions) -> None:
        super().__init__(vocabulary, options)
        self.compare, self.rest = options.compare, options.rest

    def make_comparisons(self, sizes: list[int], outputs: int, hidden: int | None) -> None:
        """sizes: of the vectors of each layer."""
        features = sum(4 * size if self.compare == "vectors" else 1 for size in sizes)
        self.make_judgement(features * (1 + self.rest), outputs, hidden)

    @abstractmethod
    def layers(self, first: PairedText, second: PairedText) -> list[tuple[Tensor, Tensor]]:
        """u and v (B, D) of each layer."""

    def read(self, first: PairedText, second: PairedText) -> tuple[Tensor, None]:
        pairs = self.layers(first, second)
        if self.rest:
            pairs = [*pairs, *self.layers(*without_shared(first, second))]
        return torch.cat([compared(u, v, self.compare) for u, v in pairs], -1), None


def compared(u: Tensor, v: Tensor, how: str) -> Tensor:
    """u, v (B, D) -> (B, 1), or (B, 4 D) as vectors; a vector of zeros has the cosine 0 with all."""
    if how == "cosine":
        return cosine(u, v)
    if how == "distance":
        return 1 / (1 + torch.linalg.vector_norm(u - v, dim=-1, keepdim=True))
    return torch.cat([u, v, (u - v).abs(), u * v], -1)


def cosine(u: Tensor, v: Tensor) -> Tensor:
    """(B, 1), found in single precision at least; 0, with no gradient, where u or v is all zeros"""
    nothing = ~(u.any(-1, keepdim=True) & v.any(-1, keepdim=True))
    wide = torch.promote_types(u.dtype, torch.float32)
    one, other = (x.to(wide).masked_fill(nothing, 1.0) for x in (u, v))
    found = F.cosine_similarity(one, other, dim=-1)[:, None]
    return found.masked_fill(nothing, 0.0).to(u.dtype)


def shared(first: PairedText, second: PairedText) -> Tensor:
    """(B, L): which words of the first text are in the second"""
    same = first.ids[:, :, None] == second.ids[:, None, :]
    return (same & second.mask[:, None, :]).any(-1) & first.mask


def without_shared(first: PairedText, second: PairedText) -> tuple[PairedText, PairedText]:
    """What is left of both, moved together: NONOVER of Yin et al. 2016."""
    return (
        packed(first, first.mask & ~shared(first, second)),
        packed(second, second.mask & ~shared(second, first)),
    )


def packed(words: PairedText, kept: Tensor) -> PairedText:
    """The words that are kept, in their order, at the beginning of each row."""
    order = (~kept).byte().argsort(dim=-1, stable=True)
    mask = kept.gather(-1, order)
    return PairedText(words.ids.gather(-1, order).masked_fill(~mask, PAD), mask)


def overlap(first: PairedText, second: PairedText) -> Tensor:
    """(B, 4): the shares of words of either that are in the other, and log(1 + length) of both"""
    found = []
    for one, other in ((first, second), (second, first)):
        count = one.mask.sum(-1)
        found += [shared(one, other).sum(-1) / count.clamp(min=1), count.log1p()]
    return torch.stack(found, -1)


def never_without(ids: Tensor, mask: Tensor) -> PairedText:
    """At least one column, of padding if there is no word at all."""
    return (
        PairedText(ids, mask)
        if ids.shape[1]
        else PairedText(F.pad(ids, (0, 1)), F.pad(mask, (0, 1)))
    )
