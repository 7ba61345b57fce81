"""Masked language modelling as a task: text in which some tokens are hidden, what stood there out.

Legend: B texts, S positions with EOS, M hidden positions, V the vocabulary.
— Devlin et al. 2019 (BERT), https://arxiv.org/abs/1810.04805
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor, nn

from regard.data.tokenizer import EOS, MASK, SPECIALS, Tokenizer, Tokens
from regard.layers.contracts import Encoded
from regard.measures.likelihood import Likelihood
from regard.tasks.longest_first import BATCH
from regard.tasks.loss import smoothed_cross_entropy
from regard.tasks.task_module import LikelihoodModule, Loss, Unanswerable, shortened
from regard.words import t

HIDDEN, OTHER = 0.8, 0.1  # of the chosen tokens become MASK, become another token; the rest stays


class MaskedModel(Protocol):
    def encode(self, source: Tensor, mask: Tensor) -> Encoded:
        """source (B, S) token ids, mask (B, S): True where a token is real."""
        ...

    def project(self, states: Tensor) -> Tensor:
        """(..., D) -> logits (..., V)"""
        ...


class Hidden(NamedTuple):
    """A batch to be guessed."""

    source: Tensor  # (B, S): with MASK and other tokens in it
    chosen: Tensor  # (B, S): True where the model must tell what stood there


class Guess(NamedTuple):
    token: str
    probability: float


@dataclass(frozen=True)
class Filling:
    """A text with masks, and the likeliest tokens of each."""

    text: str
    guesses: tuple[
        tuple[Guess, ...], ...
    ]  # of the first mask, of the second, …; the likeliest first
    filled: str  # with the likeliest of each
    tokens: Tokens

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "text": self.text,
            "filled": self.filled,
            "guesses": [[guess._asdict() for guess in one] for one in self.guesses],
        }


class Masked(LikelihoodModule):
    """Some tokens of a text are chosen, `rate` of them and at least one; the loss is of these alone.

    Of the chosen, 80 % are hidden behind MASK, 10 % are another token, 10 % stay as they are.
    max_length: the first tokens of a text that are read; the rest is cut off.
    """

    model: MaskedModel

    def __init__(
        self,
        model: nn.Module,
        tokenizer: Tokenizer,
        *,
        rate: float = 0.15,
        label_smoothing: float = 0.0,
        max_length: int | None = None,
    ) -> None:
        super().__init__(model)
        self.tokenizer = tokenizer
        if tokenizer.mask is None:
            raise ValueError(
                t("the tokenizer has no token {mask}: it was not made for this task", mask=MASK)
            )
        self.mask_token = tokenizer.mask
        self.rate, self.label_smoothing, self.max_length = rate, label_smoothing, max_length

    def forward(self, text: Tensor, text_mask: Tensor) -> Loss:
        """text (B, S) = x1 … xn EOS PAD …; what is hidden is drawn anew each time."""
        drawn = torch.rand(3, *text.shape).to(text.device)
        hidden = self.hide(text, text_mask, drawn)
        logits = self._guess(hidden, text_mask)
        wanted = text[hidden.chosen]
        total = smoothed_cross_entropy(logits, wanted, self.label_smoothing)
        return Loss(total, hidden.chosen.sum())

    def likelihoods(
        self, texts: Sequence[str], numbers: Sequence[int], *, batch: int = BATCH
    ) -> list[Likelihood]:
        """Of what is hidden in each text; that depends on its number alone."""
        read = self.tokenizer.encode_ids(texts, self.max_length)

        def of_each(rows: list[int]) -> list[Likelihood]:
            source, real = self.padded([read[i] for i in rows])
            drawn = torch.ones(3, *source.shape)
            for place, i in enumerate(rows):
                chance = torch.Generator().manual_seed(numbers[i])
                drawn[:, place, : len(read[i])] = torch.rand(3, len(read[i]), generator=chance)
            hidden = self.hide(source, real, drawn.to(self.device))
            logits, wanted = self._guess(hidden, real), source[hidden.chosen]
            return Likelihood.of_each(logits, wanted, hidden.chosen.sum(-1).tolist())

        return self.in_batches(map(len, read), batch, of_each)

    def hide(self, source: Tensor, real: Tensor, drawn: Tensor) -> Hidden:
        """Choose and hide by numbers from 0 to 1, drawn (3, B, S): which, how, by what."""
        words = real & (source != EOS)
        which = drawn[0].masked_fill(~words, math.inf)
        chosen = words & ((which < self.rate) | (which == which.amin(-1, keepdim=True)))
        ordinary = len(self.tokenizer) - len(SPECIALS) - 1  # MASK is the last
        other = len(SPECIALS) + (drawn[2] * ordinary).long().clamp(max=ordinary - 1)
        shown = torch.where(drawn[1] < HIDDEN, self.mask_token, source)
        swapped = (drawn[1] >= HIDDEN) & (drawn[1] < HIDDEN + OTHER)
        shown = torch.where(swapped, other, shown)
        return Hidden(torch.where(chosen, shown, source), chosen)

    def fill(self, texts: Sequence[str], *, top: int = 5, batch: int = BATCH) -> list[Filling]:
        """The likeliest tokens at every `<mask>` of each text."""
        read = [self._masked(text) for text in texts]

        def filled(rows: list[int]) -> Iterator[Filling]:
            source, real = self.padded([read[i].ids for i in rows])
            chosen = source == self.mask_token
            logits = self._guess(Hidden(source, chosen), real)
            logits[:, [*range(len(SPECIALS)), self.mask_token]] = -math.inf
            best = logits.float().softmax(-1).topk(min(top, logits.shape[-1]))
            every = zip(best.values.tolist(), best.indices.tolist(), strict=True)
            for i, count in zip(rows, chosen.sum(-1).tolist(), strict=True):
                yield self._filling(texts[i], read[i], list(islice(every, count)))

        return self.in_batches(map(len, read), batch, filled)

    def _guess(self, hidden: Hidden, real: Tensor) -> Tensor:
        """logits (M, V)"""
        states = self.model.encode(hidden.source, real).states
        return self.model.project(states[hidden.chosen])

    def _masked(self, text: str) -> Tokens:
        tokens = self.tokenizer.encode(text)
        if self.mask_token not in tokens.ids:
            raise Unanswerable(
                t("there is no {mask} to fill in {text}", mask=MASK, text=shortened(text)),
                t("write {mask} where a word is to be told", mask=MASK),
            )
        if self.max_length is not None and len(tokens) > self.max_length:
            raise Unanswerable(
                t(
                    "{text}… has {count} tokens, the model reads {max_length}",
                    text=repr(text[:30]),
                    count=len(tokens),
                    max_length=self.max_length,
                ),
                t("give a shorter text"),
            )
        return tokens

    def _filling(
        self, text: str, tokens: Tokens, best: Sequence[tuple[list[float], list[int]]]
    ) -> Filling:
        decode = self.tokenizer.decode
        ids = list(tokens.ids)
        places = [place for place, token in enumerate(ids) if token == self.mask_token]
        for place, (_, chosen) in zip(places, best, strict=True):
            ids[place] = chosen[0]
        guesses = tuple(
            tuple(Guess(decode([token]), p) for p, token in zip(*one, strict=True)) for one in best
        )
        return Filling(text, guesses, decode(ids), tokens)
