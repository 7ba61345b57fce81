"""The pointer-generator: a decoder that writes a word of its own or copies one of the source, with coverage.

Legend: N hypotheses of B sentences (N = B · k), T target and S source positions, V tokens of the vocabulary,
n hidden, a width of the score. Token V + k is the k-th word of its source that the vocabulary lacks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.attention.call import Attended
from regard.attention.memory import Memory
from regard.attention.module import Attention
from regard.layers.contracts import Decoded, Encoded, Prefilled, Step
from regard.layers.dropout import dropout
from regard.layers.embedding import OpenEmbedding
from regard.layers.recurrent_cells import Linear
from regard.layers.special_tokens import EOS, PAD
from regard.models import initialise
from regard.models.decoder import DecoderMoment, RecurrentDecoder, RecurrentState
from regard.models.encoder import RecurrentEncoder
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.summarisers.pointer_options import PointerGenerator
from regard.models.summary import Summary
from regard.words import t


class PointerEncoder(RecurrentEncoder):
    """A `RecurrentEncoder` that reads words behind the vocabulary as UNK, and hands on which they are."""

    def __init__(self, vocabulary: int, embedding: int, hidden: int, **how: Any) -> None:
        super().__init__(vocabulary, embedding, hidden, **how)
        self.embed = OpenEmbedding(vocabulary, embedding)

    def forward(self, source: Tensor, mask: Tensor) -> Encoded:
        return replace(super().forward(source, mask), tokens=source.masked_fill(~mask, PAD))


@dataclass(frozen=True)
class PointerState(RecurrentState):
    tokens: Tensor | None = None  # (B, S): what can be copied
    coverage: Tensor | None = None  # (N, S): Σ of the weights so far

    def select(self, rows: Tensor, sentences: Tensor | None = None) -> PointerState:
        state, tokens, coverage = super().select(rows, sentences), self.tokens, self.coverage
        assert isinstance(state, PointerState)
        if tokens is not None and sentences is not None:
            tokens = tokens.index_select(0, sentences)
        if coverage is not None:
            coverage = coverage.index_select(0, rows)
        return replace(state, tokens=tokens, coverage=coverage)


class PointerDecoder(RecurrentDecoder):
    """p(y) = g · softmax(W_o t)_y + (1 - g) · Σ_(j: x_j = y) a_j,   g = σ(w · [c; s; E y_(t-1)])

    a is asked with coverage: score_j = v · tanh(W s + U h_j + u cov_j), cov_t = Σ_(t' < t) a_t', and what is
    attended to twice costs `coverage` · Σ_j min(a_tj, cov_tj) in training — See, Liu and Manning 2017,
    https://arxiv.org/abs/1704.04368. None: no coverage, neither in the score nor in the loss.

    The logits are log-probabilities over V + S tokens, -inf where a source has no such word, and so are the
    outputs: as those of an ensemble, they are projected already.
    """

    copies: ClassVar[bool] = True

    def __init__(
        self, vocabulary: int, embedding: int, hidden: int, coverage: float | None, **how: Any
    ) -> None:
        super().__init__(vocabulary, embedding, hidden, place="next", readout_token=False, **how)
        assert self.attention is not None
        self.embed = OpenEmbedding(vocabulary, embedding)
        self.gate = nn.Linear(self.attention.value_size + hidden + embedding, 1)
        self.covered, self.seen_before = coverage, None
        if coverage is not None:
            width = self.attention.score.size  # of an additive score
            self.seen_before = nn.Linear(1, width, bias=False)  # type: ignore[arg-type]

    @property
    def covers(self) -> bool:  # type: ignore[override]
        return self.covered is not None

    def start(self, encoded: Encoded) -> PointerState:
        state, tokens = super().start(encoded), encoded.tokens
        if tokens is None:
            raise ValueError(t("a decoder that copies needs what was read: Encoded(tokens=source)"))
        nothing = self.output.weight.new_zeros(tokens.shape) if self.covers else None
        return PointerState(**vars(state), tokens=tokens, coverage=nothing)

    def step(self, tokens: Tensor, state: RecurrentState, *, weights: bool = False) -> Step:
        made = super().step(tokens, state, weights=True)
        return made._replace(logits=self._said(made.logits, made.attended, state))

    def prefill(self, tokens: Tensor, state: RecurrentState, *, weights: bool = False) -> Prefilled:
        read = super().prefill(tokens, state, weights=True)
        return read._replace(outputs=self._said(read.outputs, read.attended, state))

    def forward(self, inputs: Tensor, encoded: Encoded, *, weights: bool = False) -> Decoded:
        state = self.start(encoded)
        read = super().prefill(inputs, state, weights=True)
        generated = read.outputs[..., -1].sigmoid()
        penalty = self._repeated(read.attended, inputs) if self.covers else None
        outputs = self._said(read.outputs, read.attended, state)
        return Decoded(outputs, read.attended, penalty, generated)

    def project(self, outputs: Tensor) -> Tensor:
        return outputs

    def _ask(self, top: Tensor, x: Tensor | None, state: RecurrentState, weights: bool) -> Attended:
        assert isinstance(state, PointerState)
        if self.seen_before is None or state.coverage is None:
            return super()._ask(top, x, state, True)
        assert self.attention is not None
        assert state.memory is not None
        memory = _for_each(state.memory, len(top))
        marked = memory.keys + self.seen_before(state.coverage[..., None])  # (N, S, a)
        memory = replace(memory, keys=marked, room=None)
        attended = self.attention(top[:, None], memory, offset=state.position, weights=True)
        assert attended.weights is not None
        return Attended(attended.context.squeeze(1), attended.weights.squeeze(1))

    def _hand_on(
        self, state: RecurrentState, moment: DecoderMoment, out: Tensor | None
    ) -> RecurrentState:
        new = super()._hand_on(state, moment, out)
        assert isinstance(new, PointerState)
        if new.coverage is None or moment.attended is None or moment.attended.weights is None:
            return new
        return replace(new, coverage=new.coverage + moment.attended.weights)

    def _read(
        self,
        state: Tensor,
        x: Tensor,
        attended: Attended | None,
        context: Tensor | None,
        linear: Linear = F.linear,
    ) -> Tensor:
        """[t; what g is the sigmoid of]"""
        assert attended is not None
        out = super()._read(state, x, attended, context, linear)
        return torch.cat([out, self.gate(torch.cat([attended.context, state, x], -1))], -1)

    def _said(self, read: Tensor, attended: Attended | None, state: RecurrentState) -> Tensor:
        """(…, R + 1) of a step or of all -> log p (…, V + S)"""
        assert isinstance(state, PointerState)
        assert state.tokens is not None
        assert attended is not None
        assert attended.weights is not None
        tokens, size = state.tokens, self.output.out_features
        out, gate = dropout(read[..., :-1], self.dropout, self.training), read[..., -1:].sigmoid()
        own = gate * self.output(out).softmax(-1)
        copied = ((1 - gate) * attended.weights).to(own.dtype)  # (…, S)
        ends = (
            tokens.amax(-1, keepdim=True) if tokens.shape[1] else tokens.new_zeros(len(tokens), 1)
        )
        tokens = tokens.repeat_interleave(len(read) // len(tokens), 0)
        ends = ends.repeat_interleave(len(read) // len(ends), 0)
        if read.dim() == 3:
            tokens, ends = tokens[:, None].expand_as(copied), ends[:, None]
        both = F.pad(own, (0, copied.shape[-1])).scatter_add(-1, tokens, copied)
        there = torch.arange(both.shape[-1], device=both.device) < ends.clamp(min=size - 1) + 1
        least = torch.finfo(both.dtype).tiny  # what nobody attends to, and nobody says
        return both.clamp(min=least).log().masked_fill(~there, -torch.inf)

    def _repeated(self, attended: Attended | None, inputs: Tensor) -> Tensor:
        """λ Σ_t Σ_j min(a_tj, Σ_(t' < t) a_t'j) over the steps that are no padding: (B,)"""
        assert attended is not None
        assert attended.weights is not None
        weights = attended.weights
        again = torch.minimum(weights, weights.cumsum(1) - weights).sum(-1)
        real = (inputs != PAD) & (inputs != EOS)
        return (self.covered or 0.0) * again.masked_fill(~real, 0.0).sum(-1)


def _for_each(memory: Memory, hypotheses: int) -> Memory:
    """Of B sentences -> of N hypotheses"""
    sentences = len(memory.keys)
    if sentences == hypotheses:
        return memory
    rows = torch.arange(sentences, device=memory.keys.device)
    return memory.select(rows.repeat_interleave(hypotheses // sentences))


def pointer_generator(
    vocabulary: int, options: PointerGenerator | None = None, /, **changes: Any
) -> EncoderDecoder:
    """Source and target share a vocabulary, and their embeddings."""
    options = PointerGenerator.of(options, changes)
    size, hidden = options.embedding, options.hidden
    cell, drop = options.cell, options.dropout
    encoder = PointerEncoder(vocabulary, size, hidden, cell=cell, dropout=drop)
    states = encoder.output_size
    decoder = PointerDecoder(
        vocabulary,
        size,
        hidden,
        options.coverage,
        summary=Summary("last", states, states),
        cell=cell,
        attention=Attention(hidden, states, score=f"additive({hidden})"),
        readout="linear",
        dropout=drop,
    )
    model = EncoderDecoder(encoder, decoder)
    initialise.by_name("default", model, initialise.default)
    decoder.embed.weight = encoder.embed.weight
    return model
