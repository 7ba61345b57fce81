"""Perplexity and token accuracy from sums, so that how a corpus was cut into batches changes nothing.

total = Likelihood()
for batch in batches:
    total += Likelihood.of(model(batch), batch.outputs, batch.output_mask)
total.perplexity, total.accuracy
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from regard.layers.special_tokens import UNK
from regard.words import t

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Likelihood:
    """perplexity = exp(Σ nll / tokens), accuracy = correct / tokens; likelihoods add up.

    A token that stands for an unknown word counts in both, and is never correct: which word it was is not
    told by it.
    """

    nll: float = 0.0  # Σ -log p(token), in nats, without smoothing
    tokens: int = 0
    correct: int = 0  # tokens that were the most probable

    @classmethod
    def of(cls, logits: Tensor, outputs: Tensor, mask: Tensor) -> Likelihood:
        """logits (..., V), outputs (...) int64, mask (...) bool, True where a token counts."""
        kept = logits[mask]
        wanted = outputs[mask]
        log_probs = kept.float().log_softmax(-1).gather(-1, wanted[:, None])
        return cls(
            nll=-log_probs.double().sum().item(),
            tokens=wanted.numel(),
            correct=int(_right(kept, wanted).sum().item()),
        )

    @classmethod
    def of_each(cls, logits: Tensor, outputs: Tensor, lengths: Sequence[int]) -> list[Likelihood]:
        """One for each text of a batch: logits (M, V), outputs (M,), the tokens of one after the other."""
        log_probs = logits.float().log_softmax(-1).gather(-1, outputs[:, None])[:, 0].double()
        right = _right(logits, outputs)
        pairs = zip(log_probs.split(lengths), right.split(lengths), strict=True)
        return [cls(-p.sum().item(), len(p), int(r.sum().item())) for p, r in pairs]

    @classmethod
    def summed(cls, counts: Sequence[float]) -> Likelihood:
        """Of nll, tokens and correct tokens that were added up elsewhere."""
        nll, tokens, correct = counts
        return cls(nll, int(tokens), int(correct))

    def __add__(self, other: Likelihood) -> Likelihood:
        return Likelihood(
            self.nll + other.nll, self.tokens + other.tokens, self.correct + other.correct
        )

    @property
    def loss(self) -> float:
        """Mean nll of a token, in nats."""
        return self.nll / self._counted()

    @property
    def perplexity(self) -> float:
        try:
            return math.exp(self.loss)
        except OverflowError:
            return math.inf

    def bits(self, symbols: int) -> float:
        """Bits for each of so many characters or bytes, those that the tokens stand for."""
        return self.nll / math.log(2) / max(symbols, 1)

    @property
    def accuracy(self) -> float:
        return self.correct / self._counted()

    def _counted(self) -> int:
        if not self.tokens:
            raise ValueError(t("no tokens were counted: perplexity and accuracy need at least one"))
        return self.tokens


def _right(logits: Tensor, wanted: Tensor) -> Tensor:
    """(M, V), (M,) -> (M,): where the most probable token is the word that was wanted"""
    return (logits.argmax(-1) == wanted) & (wanted != UNK)
