"""From words, or vectors, to states: what all models that judge a text begin with.

Legend: B texts, S positions, E features of a word, D features of a state. What is not real is 0 for every
network, and its states are 0, so that nothing depends on how far a text was padded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, cast

import torch
from torch import Tensor, nn

from regard.attention import pooling
from regard.layers.contracts import Encoded
from regard.layers.dropout import dropout
from regard.layers.embedding import TokenEmbedding
from regard.layers.recurrent import Recurrent
from regard.models.encoder_decoder import check_vectors, check_words
from regard.models.tagger import TransformerStates
from regard.models.tagger_options import TransformerTagger


class InputVectors(nn.Module):
    """E w of words (B, S), or W x of vectors (B, S, source) -> (B, S, E), 0 where nothing is real

    dropout: of the features; word_dropout: of whole words, in training.
    """

    def __init__(
        self,
        source: int,
        size: int,
        *,
        vectors: bool = False,
        dropout: float = 0.0,
        word_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.embed: nn.Module = nn.Linear(source, size) if vectors else TokenEmbedding(source, size)
        self.dropout, self.word_dropout, self.output_size = dropout, word_dropout, size
        if isinstance(self.embed, TokenEmbedding):
            self.embed.draw(std=0.1)

    @classmethod
    def of(cls, options: Any, source: int, *, vectors: bool = False) -> InputVectors:
        """As the options of a model say."""
        drop, words = options.dropout, options.word_dropout
        return cls(source, options.embedding, vectors=vectors, dropout=drop, word_dropout=words)

    def forward(self, source: Tensor, mask: Tensor) -> Tensor:
        if isinstance(self.embed, nn.Linear):
            check_vectors(source, self.embed.in_features)
        else:
            check_words(source)
        kept = mask
        if self.training and self.word_dropout:
            kept = mask & (torch.rand(mask.shape, device=mask.device) >= self.word_dropout)
        if isinstance(self.embed, nn.Linear):  # 0 · NaN is NaN in the gradient of its weight
            source = source.masked_fill(~kept[..., None], 0.0)
        x = dropout(self.embed(source), self.dropout, self.training)
        return x.masked_fill(~kept[..., None], 0.0)

    def extra_repr(self) -> str:
        return f"dropout={self.dropout}, word_dropout={self.word_dropout}"


class SequenceEncoder(nn.Module):
    """source (B, S) or (B, S, E), mask (B, S) -> states (B, S, D), and one vector of the whole"""

    def __init__(self, vectors: InputVectors, network: nn.Module) -> None:
        super().__init__()
        self.vectors, self.network = vectors, network
        self.output_size = cast(int, network.output_size)

    def forward(self, source: Tensor, mask: Tensor) -> Encoded:
        states, summary = self.network(self.vectors(source, mask), mask)
        return Encoded(states.masked_fill(~mask[..., None], 0.0), mask, summary)


class Bag(nn.Module):
    """h_t = x_t: the order of words means nothing to what pools them"""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.output_size = size

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        return x, pooling.last(x, mask).vector


class RecurrentNetwork(nn.Module):
    """h_t = [forward_t; backward_t], and [forward_T; backward_1]; 0 of a text without words"""

    def __init__(self, size: int, hidden: int, **options: Any) -> None:
        super().__init__()
        self.recurrent = Recurrent(size, hidden, **options)
        self.output_size = self.recurrent.output_size

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        states, final = self.recurrent(x, mask)
        return states, final[-1][0].masked_fill(~mask.any(-1)[:, None], 0.0)


class Convolutions(nn.Module):
    """h_t = relu(W [x_(t-w) … x_(t+w)] + b) for each width of a window, side by side

    — Kim 2014, https://aclanthology.org/D14-1181, whose windows these are, but for those that stand over
    the edge: there is a state for every word.
    """

    def __init__(self, size: int, features: int, windows: Sequence[int], layers: int = 1) -> None:
        super().__init__()
        self.output_size = features * len(windows)
        sizes = [size] + [self.output_size] * (layers - 1)
        self.layers = nn.ModuleList(
            nn.ModuleList(nn.Conv1d(each, features, width) for width in windows) for each in sizes
        )

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        for layer in self.layers:
            seen = [_in_windows(x, cast(nn.Conv1d, one)) for one in cast(nn.ModuleList, layer)]
            x = torch.cat(seen, -1).relu().masked_fill(~mask[..., None], 0.0)
        return x, pooling.last(x, mask).vector


class TransformerNetwork(nn.Module):
    """h of a stack of self-attention; positions none: of a set, h(P x) = P h(x) for every permutation P"""

    def __init__(
        self,
        size: int,
        hidden: int,
        *,
        layers: int,
        heads: int,
        dropout: float,
        positions: Literal["rotary", "sinusoidal", "none"] = "rotary",
    ) -> None:
        super().__init__()
        options = TransformerTagger(
            size=hidden,
            heads=heads,
            inner=2 * hidden,
            layers=layers,
            dropout=dropout,
            positions=positions,
        )
        self.stack = TransformerStates(size, options)
        self.output_size = hidden

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        states = self.stack(x, mask)
        return states, pooling.last(states, mask).vector


def _in_windows(x: Tensor, convolution: nn.Conv1d) -> Tensor:
    """x (B, S, E) -> (B, S, D), a window around every position"""
    (width,) = convolution.kernel_size
    wide = nn.functional.pad(x.mT, ((width - 1) // 2, width // 2))
    if x.shape[1]:
        return convolution(wide).mT
    return x.new_zeros(*x.shape[:2], convolution.out_channels)
