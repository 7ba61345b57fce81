"""ABS: a language model over a window of words that asks the source what to say next.

Legend: N hypotheses of B sentences (N = B · k), T target and S source positions, C words of the window,
D embedding, H hidden.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from regard.attention.call import Attended
from regard.attention.memory import Memory
from regard.attention.module import Attention
from regard.layers.attend_per_sentence import attend_per_sentence
from regard.layers.contracts import Decoded, Encoded, Step
from regard.layers.dropout import dropout
from regard.layers.embedding import TokenEmbedding, without_padding
from regard.layers.special_tokens import BOS
from regard.models import initialise
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.summarisers.abs_options import Abs
from regard.models.summarisers.extractive import ExtractiveFeatures
from regard.models.summarisers.source_vectors import MeanWord, Tdnn, WordEncoder, smoothed


@dataclass(frozen=True)
class WindowState:
    """What the next step needs; what belongs to a sentence is kept once for all its hypotheses."""

    window: Tensor  # (N, C): the last tokens, BOS before the first
    encoded: Encoded  # B sources
    memory: Memory | None  # the same, where they are attended to
    position: int = 0

    def select(self, rows: Tensor, sentences: Tensor | None = None) -> WindowState:
        encoded, memory = self.encoded, self.memory
        if sentences is not None:
            encoded = encoded.select(sentences)
            memory = None if memory is None else memory.select(sentences)
        window = self.window.index_select(0, rows)
        return replace(self, window=window, encoded=encoded, memory=memory)


class WindowDecoder(nn.Module):
    """p(y_(i+1) | x, y_c) = softmax(V h + W enc(x, y_c)),   h = tanh(U [E y_(i-C+1); …; E y_i])

    — Rush, Chopra and Weston 2015, https://arxiv.org/abs/1509.00685, after the language model of Bengio et
    al. 2003. enc is the vector of the source, of `vector` features, or, with `smooth`, attention to it:

        enc = Σ_j a_j x̄_j,   a = softmax_j(F x_jᵀ P [G y_(i-C+1); …; G y_i])

    Words are compared as they are, and summed as x̄_j, the mean of word j and `smooth` words on either side.
    """

    def __init__(
        self,
        vocabulary: int,
        size: int,
        hidden: int,
        *,
        window: int = 5,
        vector: int = 0,
        smooth: int | None = None,
        extractive: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.window, self.smooth, self.dropout = window, smooth, dropout
        self.embed = TokenEmbedding(vocabulary, size)
        self.hidden = nn.Linear(window * size, hidden)
        self.attention, self.embed_context = None, None
        if smooth is not None:
            vector = size
            self.embed_context = TokenEmbedding(vocabulary, size)
            self.attention = Attention(window * size, size, score="bilinear")
        self.output = nn.Linear(hidden + vector, vocabulary)
        self.extractive = ExtractiveFeatures() if extractive else None

    def start(self, encoded: Encoded) -> WindowState:
        shape = len(encoded.mask), self.window
        before = torch.full(shape, BOS, device=encoded.mask.device)
        memory = None
        if self.attention is not None:
            values = smoothed(encoded.states, encoded.mask, self.smooth or 0)
            memory = self.attention.remember(encoded.states, encoded.mask, values=values)
        return WindowState(before, encoded, memory)

    def step(self, tokens: Tensor, state: WindowState, *, weights: bool = False) -> Step:
        window = torch.cat([state.window[:, 1:], tokens[:, None]], 1)  # (N, C)
        attended = None
        if self.attention is not None and state.memory is not None:
            query = self._asked(window)[:, None]
            found = attend_per_sentence(
                self.attention, query, state.memory, position=state.position, weights=weights
            )
            seen = None if found.weights is None else found.weights.squeeze(1)
            attended = Attended(found.context.squeeze(1), seen)
        new = replace(state, window=window, position=state.position + 1)
        outputs = self._outputs(window, attended, state.encoded.summary)
        return Step(self.project(outputs), new, attended, self._bonus(window, state.encoded))

    def forward(self, inputs: Tensor, encoded: Encoded, *, weights: bool = False) -> Decoded:
        state = self.start(encoded)
        windows = torch.cat([state.window[:, 1:], inputs], 1).unfold(1, self.window, 1)  # (B, T, C)
        attended = None
        if self.attention is not None:
            attended = self.attention(self._asked(windows), state.memory, offset=0, weights=weights)
        return Decoded(self._outputs(windows, attended, encoded.summary), attended)

    def project(self, outputs: Tensor) -> Tensor:
        return self.output(outputs)

    def features(self, inputs: Tensor, wanted: Tensor, encoded: Encoded) -> Tensor | None:
        """The extractive features (B, T, 4) of targets (B, T) that are known; None: it has none."""
        if self.extractive is None or encoded.tokens is None:
            return None
        first = torch.full_like(inputs[:, :1], BOS)
        before = torch.cat([first, inputs], 1).unfold(1, 2, 1)  # (B, T, 2)
        source, mask = encoded.tokens[:, None], encoded.mask[:, None]
        return self.extractive.features(before, wanted, source, mask)

    def _bonus(self, window: Tensor, encoded: Encoded) -> Tensor | None:
        if self.extractive is None or encoded.tokens is None:
            return None
        each = len(window) // len(encoded.mask)
        source, mask = (x.repeat_interleave(each, 0) for x in (encoded.tokens, encoded.mask))
        return self.extractive.every_bonus(window[:, -2:], source, mask, self.output.out_features)

    def _asked(self, windows: Tensor) -> Tensor:
        """[G y_(i-C+1); …; G y_i]: (..., C) -> (..., C · D)"""
        assert self.embed_context is not None
        return without_padding(self.embed_context(windows), windows).flatten(-2)

    def _outputs(self, windows: Tensor, attended: Attended | None, vector: Tensor) -> Tensor:
        """[h; enc]: windows (N, C) or (B, T, C), vector (B, D)"""
        x = without_padding(self.embed(windows), windows).flatten(-2)
        h = self.hidden(dropout(x, self.dropout, self.training)).tanh()
        if attended is not None:
            source = attended.context
        elif h.dim() == 3:
            source = vector[:, None].expand(-1, h.shape[1], -1)
        else:
            source = vector.repeat_interleave(len(h) // len(vector), 0)
        return dropout(torch.cat([h, source], -1), self.dropout, self.training)


def abs_model(
    source: int, target: int, options: Abs | None = None, /, **changes: Any
) -> EncoderDecoder:
    """Of this kind; `encoder` says how it reads. source, target: the sizes of the vocabularies."""
    options = Abs.of(options, changes)
    size, read = options.embedding, options.encoder
    vector: nn.Module | None = None
    if read == "bow":
        vector = MeanWord()
    elif read == "tdnn":
        vector = Tdnn(size, options.smooth, options.layers)
    encoder = WordEncoder(source, size, vector, dropout=options.dropout)
    decoder = WindowDecoder(
        target,
        size,
        options.hidden,
        window=options.window,
        vector=0 if vector is None else size,
        smooth=options.smooth if read == "attention" else None,
        extractive=options.extractive,
        dropout=options.dropout,
    )
    return initialise.by_name("default", EncoderDecoder(encoder, decoder), initialise.default)
