"""Two small decoders, and what a search should find with them, written as plainly as possible."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn

from regard.attention.call import Attended
from regard.layers.contracts import Decoded, Encoded, State, Step
from regard.search import Search

PAD, UNK, BOS, EOS = 0, 1, 2, 3


def sources(lengths: Sequence[int], size: int = 8, pad_to: int = 0, seed: int = 0) -> Encoded:
    """Random sources, each the same whatever stands beside it; NaN in the padding."""
    longest = max(*lengths, pad_to, 1)
    states = torch.full((len(lengths), longest, size), torch.nan)
    for row, length in enumerate(lengths):
        generator = torch.Generator().manual_seed(1000 * seed + row)
        states[row, :length] = torch.randn(length, size, generator=generator)
    mask = torch.arange(longest) < torch.tensor(lengths)[:, None]
    return Encoded(states, mask, states[:, 0])


class Stepwise(nn.Module):
    """`forward` as its steps one by one."""

    def forward(self, inputs: Tensor, encoded: Encoded, *, weights: bool = False) -> Decoded:
        state, steps = self.start(encoded), []
        for tokens in inputs.unbind(1):
            steps.append(self.step(tokens, state, weights=weights))
            state = steps[-1].state
        return Decoded(torch.stack([step.logits for step in steps], 1))

    def project(self, outputs: Tensor) -> Tensor:
        return outputs


@dataclass(frozen=True)
class Told:
    """The whole history of a hypothesis as one number."""

    code: Tensor  # (N,)
    source: Tensor  # (B,)
    mask: Tensor  # (B, S)

    def select(self, rows: Tensor, sentences: Tensor | None = None) -> Told:
        if sentences is None:
            return replace(self, code=self.code[rows])
        return Told(self.code[rows], self.source[sentences], self.mask[sentences])


class TableDecoder(Stepwise):
    """Logits and attention looked up by (source, history): every history has rows of its own.

    `levels`: the logits are whole numbers of this many values, so that many candidates are equal.
    """

    def __init__(self, size: int = 6, *, levels: int = 0, attends: bool = True, seed: int = 0):
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.table = 2 * torch.randn(4099, size, generator=generator)
        if levels:
            self.table = torch.randint(levels, (4099, size), generator=generator).float()
        self.attention = 2 * torch.randn(4099, 16, generator=generator)
        self.attends, self.rows = attends, []

    def start(self, encoded: Encoded) -> Told:
        source = (1000 * encoded.summary[:, 0]).long()
        return Told(torch.zeros_like(source), source, encoded.mask)

    def step(self, tokens: Tensor, state: State, *, weights: bool = False) -> Step:
        assert isinstance(state, Told)
        self.rows.append(len(tokens))
        each = len(tokens) // len(state.source)
        code = (state.code * 31 + tokens + 1) % 1_000_003
        row = (code + 7919 * state.source.repeat_interleave(each)) % len(self.table)
        attended = None
        if self.attends:
            mask = state.mask.repeat_interleave(each, 0)
            scores = self.attention[row, : mask.shape[1]].masked_fill(~mask, -torch.inf)
            alpha = scores.softmax(-1)
            attended = Attended(alpha, alpha if weights else None)
        return Step(self.table[row], replace(state, code=code), attended)


@dataclass(frozen=True)
class Hidden:
    h: Tensor  # (N, D)
    encoded: Encoded

    def select(self, rows: Tensor, sentences: Tensor | None = None) -> Hidden:
        encoded = self.encoded if sentences is None else self.encoded.select(sentences)
        return Hidden(self.h[rows], encoded)


class GruDecoder(Stepwise):
    """A GRU with dot attention after the cell: what it says depends on source, history and weights."""

    def __init__(self, vocabulary: int = 150, size: int = 8, *, scale: float = 4.0):
        super().__init__()
        self.embed, self.cell = nn.Embedding(vocabulary, size), nn.GRUCell(size, size)
        self.out = nn.Linear(2 * size, vocabulary)
        nn.init.normal_(self.out.weight, std=scale / math.sqrt(size))
        nn.init.constant_(self.out.bias[EOS : EOS + 1], scale)

    def start(self, encoded: Encoded) -> Hidden:
        return Hidden(encoded.summary, replace(encoded, states=encoded.states.nan_to_num(0.0)))

    def step(self, tokens: Tensor, state: State, *, weights: bool = False) -> Step:
        assert isinstance(state, Hidden)
        h = self.cell(self.embed(tokens), state.h)
        query = h.view(len(state.encoded.mask), -1, h.shape[1])
        scores = query @ state.encoded.states.mT
        alpha = scores.masked_fill(~state.encoded.mask[:, None], -torch.inf).softmax(-1)
        context = (alpha @ state.encoded.states).flatten(0, 1)
        logits = self.out(torch.cat([h, context], -1))
        attended = Attended(context, alpha.flatten(0, 1) if weights else None)
        return Step(logits, replace(state, h=h), attended)


@dataclass(frozen=True)
class Plain:
    """A hypothesis of the searches below."""

    tokens: tuple[int, ...]
    total: np.float32
    attended: Tensor
    state: State

    @property
    def finished(self) -> bool:
        return self.tokens[-1:] == (EOS,)


def continuations(decoder: nn.Module, one: Plain, settings: Search) -> list[Plain]:
    """Every allowed continuation of a hypothesis of a batch of one, by token."""
    last = torch.tensor(one.tokens[-1:] or [BOS])
    step = decoder.step(last, one.state, weights=True)
    log_probs = step.logits.log_softmax(-1)[0].numpy()
    weights = step.attended.weights[0]
    n, longer = settings.no_repeat_ngram, []
    for token, log_prob in enumerate(log_probs):
        tokens = (*one.tokens, token)
        grams = [tokens[i : i + n] for i in range(len(tokens) - n + 1)]
        repeated = n > 0 and len(set(grams)) < len(grams)
        early = token == EOS and len(one.tokens) < settings.min_length
        if token not in (PAD, BOS) and not repeated and not early:
            total = np.float32(one.total + log_prob)
            longer.append(Plain(tokens, total, one.attended + weights, step.state))
    return longer


def plain_score(one: Plain, mask: Tensor, settings: Search) -> float:
    covered = one.attended[mask].clamp(1e-6, 1.0).log().sum().item()
    penalty = ((5 + len(one.tokens)) / 6) ** settings.length_penalty
    return float(one.total) / penalty + settings.coverage_penalty * covered


def plain_search(
    decoder: nn.Module, encoded: Encoded, settings: Search, *, everything: bool = False
) -> list[Plain]:
    """Beam search for a batch of one, without a bound; `everything`: all hypotheses there are."""
    limit = int(settings.limits(encoded.mask.sum(1)))
    zero = torch.zeros(encoded.mask.shape[1])
    alive, ended = [Plain((), np.float32(0.0), zero, decoder.start(encoded))], []
    for length in range(1, limit + 1):
        longer = [more for one in alive for more in continuations(decoder, one, settings)]
        if not everything:
            longer.sort(key=lambda one: -one.total)  # stable: by hypothesis, then by token
        first = longer if everything else longer[: settings.beam]
        ended += [one for one in first if one.finished]
        alive = [one for one in longer if not one.finished]
        alive = alive if everything else alive[: settings.beam]
        if length == limit:
            ended += alive
        elif not everything and len(ended) >= settings.beam:
            break
    mask = encoded.mask[0]
    ended.sort(key=lambda one: (not one.finished, -plain_score(one, mask, settings)))
    return ended[: settings.nbest]
