"""A joint model: the next word from a window of the words before and a vector of the source.

Legend: N hypotheses of B sentences (N = B · k), T target and S source positions, C words of the window,
E features of a word, H hidden, V tokens of the target vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from regard.attention.call import Attended
from regard.layers.contracts import Decoded, Encoded, Step
from regard.layers.dropout import dropout
from regard.layers.embedding import TokenEmbedding, without_padding
from regard.layers.special_tokens import BOS
from regard.models import initialise
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.joint.affiliated import NOWHERE, Affiliated
from regard.models.joint.meng_options import Meng
from regard.models.joint.source_cnn import SourceCnn, SourceVector, SourceWindow
from regard.models.summarisers.source_vectors import WordEncoder

WORDS = 0.5  # of the first features of a word: smaller ones are drowned beside a source vector
LOGITS = 1 << 24  # that are there at a time, where every place of the source has its own


@dataclass(frozen=True)
class JointState:
    """What the next step needs; what belongs to a sentence is kept once for all its hypotheses."""

    window: Tensor  # (N, C): the last tokens, BOS before the first
    encoded: Encoded  # B sources
    last: Tensor  # (N,): where the last token came from, if the model is told

    def select(self, rows: Tensor, sentences: Tensor | None = None) -> JointState:
        encoded = self.encoded if sentences is None else self.encoded.select(sentences)
        return JointState(
            self.window.index_select(0, rows), encoded, self.last.index_select(0, rows)
        )


class JointDecoder(nn.Module):
    """p(e_n | e_(n-C..n-1), S) = softmax(O tanh(W [E e_(n-C); …; E e_(n-1); φ]))

    φ, the vector of the source, is made by `reader` of the source, the words before, and, if `aligned`, the
    place a_n of the source word that e_n translates: see `SourceCnn` and `SourceWindow`.

    In training a_n is known, since e_n is. Of a word that is yet to be said it is not: then every word v is
    taken at its own place, and what they have is made a distribution again,

        q(v) = p(v | …, a(v)) / Σ_u p(u | …, a(u)),

    for `forward` and `step`. So models that are told a_n and models that are not answer the same question.
    """

    def __init__(
        self,
        vocabulary: int,
        size: int,
        hidden: int,
        reader: nn.Module | None,
        vector: int,
        *,
        window: int = 4,
        aligned: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.window, self.aligned, self.dropout = window, aligned, dropout
        self.embed = TokenEmbedding(vocabulary, size)
        self.reader = reader
        self.hidden = nn.Linear(window * size + vector, hidden)
        self.output = nn.Linear(hidden, vocabulary)

    def start(self, encoded: Encoded) -> JointState:
        shape = len(encoded.mask), self.window
        before = torch.full(shape, BOS, device=encoded.mask.device)
        return JointState(before, encoded, torch.full_like(before[:, 0], NOWHERE))

    def step(self, tokens: Tensor, state: JointState, *, weights: bool = False) -> Step:
        encoded, sentences = state.encoded, len(state.encoded.mask)
        window = torch.cat([state.window[:, 1:], tokens[:, None]], 1)  # (N, C)
        windows = window.view(sentences, -1, self.window)  # (B, k, C): hypotheses as positions
        last = state.last
        if self.aligned:
            last = self._come_from(encoded, tokens, last)
        outputs, source = self._next(windows, encoded, last.view(sentences, -1))
        new = replace(state, window=window, last=last)
        logits, attended = self.project(outputs.flatten(0, 1)), None
        if source.weights is not None:
            attended = Attended(source.vector.flatten(0, 1), source.weights.flatten(0, 1))
        return Step(logits, new, attended)

    def forward(self, inputs: Tensor, encoded: Encoded, *, weights: bool = False) -> Decoded:
        windows = self._windows(inputs)
        last = inputs
        if self.aligned:
            last = torch.full_like(inputs[:, 0], NOWHERE)
            places = []
            for tokens in inputs.unbind(1):
                places.append(last := self._come_from(encoded, tokens, last))
            last = torch.stack(places, 1)
        outputs, source = self._next(windows, encoded, last)
        return Decoded(outputs, None if source.weights is None else Attended(*source))

    def project(self, outputs: Tensor) -> Tensor:
        """Of a model that is told places, outputs are log q already."""
        return outputs if self.aligned else self.output(outputs)

    def given(self, inputs: Tensor, encoded: Encoded, places: Tensor) -> Tensor:
        """(B, T, H), of which `output` makes the logits of p(e_n | …, a_n); places (B, T) of the e_n."""
        read = self._vectors(self._windows(inputs))
        return self._hidden(read, self._read(encoded, read, places))

    def shares(self, inputs: Tensor, encoded: Encoded, places: Tensor | None) -> Tensor | None:
        """(B, T, S): the share of each source word in the source vector of each target token, if there are
        gates; places (B, T) of the tokens, for a model that must be told."""
        return self._read(encoded, self._vectors(self._windows(inputs)), places).weights

    def _come_from(self, encoded: Encoded, tokens: Tensor, last: Tensor) -> Tensor:
        """Where the tokens (N,) that were just said came from; BOS is NOWHERE."""
        assert isinstance(encoded, Affiliated)
        shape = len(encoded.mask), -1
        found = encoded.after(tokens.view(shape), last.view(shape)).flatten()
        return found.masked_fill(tokens == BOS, NOWHERE)

    def _next(self, windows: Tensor, encoded: Encoded, last: Tensor) -> tuple[Tensor, SourceVector]:
        """windows (B, T, C), last (B, T) -> H features, or log q (B, T, V); and the vector of the source"""
        read = self._vectors(windows)
        if not self.aligned:
            source = self._read(encoded, read, None)
            return self._hidden(read, source), source
        assert isinstance(encoded, Affiliated)
        targets, positions = last.shape[1], encoded.mask.shape[1]
        wide = max(1, targets * positions * self.output.out_features)
        rows = torch.arange(len(windows), device=windows.device).split(max(1, LOGITS // wide))
        made = [self._by_own_place(read[r], encoded.select(r), last[r]) for r in rows]
        likely, vectors, shares = (torch.cat(parts) for parts in zip(*made, strict=True))
        return likely, SourceVector(vectors, shares if shares.shape[-1] else None)

    def _by_own_place(
        self, read: Tensor, encoded: Affiliated, last: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """log q (B, T, V), every token at its own place; vector and weights at that of the likeliest."""
        targets, positions = last.shape[1], encoded.mask.shape[1]
        places = torch.arange(positions, device=last.device).repeat(len(read), targets)  # (B, T S)
        every = read.repeat_interleave(positions, 1)
        source = self._read(encoded, every, places)
        shape = (targets, positions)
        logits = self.output(self._hidden(every, source)).unflatten(1, shape)  # (B, T, S, V)
        own = encoded.places(last)  # (B, T, V)
        likely = logits.log_softmax(-1).gather(2, own[:, :, None]).squeeze(2).log_softmax(-1)
        best = own.gather(-1, likely.argmax(-1, keepdim=True))[..., None]  # (B, T, 1, 1)

        def chosen(x: Tensor) -> Tensor:
            x = x.unflatten(1, shape)  # (B, T, S, …)
            return x.gather(2, best.expand(-1, -1, 1, x.shape[-1])).squeeze(2)

        nothing = source.vector[..., :0]
        shares = nothing if source.weights is None else source.weights
        return likely, chosen(source.vector), chosen(shares)

    def _windows(self, inputs: Tensor) -> Tensor:
        """(B, T) -> (B, T, C), BOS before the first"""
        before = torch.full_like(inputs[:, :1], BOS).expand(-1, self.window - 1)
        return torch.cat([before, inputs], 1).unfold(1, self.window, 1)

    def _vectors(self, windows: Tensor) -> Tensor:
        """(B, T, C) -> (B, T, C E)"""
        x = without_padding(self.embed(windows), windows).flatten(-2)
        return dropout(x, self.dropout, self.training)

    def _read(self, encoded: Encoded, read: Tensor, places: Tensor | None) -> SourceVector:
        if self.reader is None:
            return SourceVector(read.new_zeros(*read.shape[:-1], 0))
        found: SourceVector = self.reader(encoded.states, encoded.mask, read, places)
        return found

    def _hidden(self, read: Tensor, source: SourceVector) -> Tensor:
        h = self.hidden(torch.cat([read, source.vector], -1)).tanh()
        return dropout(h, self.dropout, self.training)


def meng(
    source: int, target: int, options: Meng | None = None, /, **changes: Any
) -> EncoderDecoder:
    """Of this kind; `encoder` says how it reads. source, target: the sizes of the vocabularies."""
    options = Meng.of(options, changes)
    size, features, how = options.embedding, options.features, options.encoder
    reader: nn.Module | None = None
    vector = 0
    if how == "window":
        reader, vector = SourceWindow(options.around), (2 * options.around + 1) * size
    elif how != "none":
        history = options.window * size if how == "in-cnn" else None
        reader = SourceCnn(
            size, features, history=history, tagged=how == "tag-cnn", gate=options.gate
        )
        vector = features
    decoder = JointDecoder(
        target,
        size,
        options.hidden,
        reader,
        vector,
        window=options.window,
        aligned=options.aligned,
        dropout=options.dropout,
    )
    encoder = WordEncoder(source, size, dropout=options.dropout)
    model = initialise.by_name("default", EncoderDecoder(encoder, decoder), initialise.default)
    for embed in (encoder.embed, decoder.embed):
        embed.draw(std=WORDS)
    return model
