"""Models that give a label to every word: an encoder over words and their spelling.

Legend: B texts, L words, C characters of a word, D features, K labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import Tensor, nn

from regard.layers.dropout import dropout
from regard.layers.embedding import TokenEmbedding, without_padding
from regard.layers.positions import Positions, make_positions
from regard.layers.recurrent import Recurrent
from regard.layers.special_tokens import PAD
from regard.models import initialise
from regard.models.encoder_decoder import token_mask
from regard.models.tagger_options import RecurrentTagger, TransformerTagger
from regard.models.transformer import never_empty
from regard.models.transformer_parts import make_encoder_block, make_last_norm
from regard.words import t

CHARACTER = 32  # features of a character
REACH = 3  # characters that a feature of the spelling sees


class WordVectors(nn.Module):
    """[E w; max_t relu(conv(c_1 … c_n))_t]: words (B, L), characters (B, L, C) -> (B, L, D)

    — the spelling after dos Santos and Zadrozny 2014, https://proceedings.mlr.press/v32/santos14.html
    """

    def __init__(self, words: int, size: int, characters: int, spelling: int | None) -> None:
        super().__init__()
        self.words = TokenEmbedding(words, size)
        self.characters = self.convolution = None
        if spelling is not None:
            self.characters = TokenEmbedding(characters, CHARACTER)
            self.convolution = nn.Conv1d(CHARACTER, spelling, REACH, padding=REACH // 2)
        self.output_size = size + (spelling or 0)

    def forward(self, words: Tensor, characters: Tensor | None) -> Tensor:
        known = self.words(words)
        if self.characters is None or self.convolution is None:
            return known
        if characters is None:
            raise ValueError(t("this model reads characters: give them beside the words"))
        spelt = characters.flatten(0, 1)  # (B · L, C)
        flat = without_padding(self.characters(spelt), spelt).transpose(1, 2)
        seen = self.convolution(flat).relu().masked_fill((spelt == PAD)[:, None], 0.0).amax(-1)
        return torch.cat([known, seen.unflatten(0, words.shape)], -1)


class Tagger(nn.Module):
    """logits (B, L, K) = W encoder([words; spelling])"""

    def __init__(self, vectors: WordVectors, encoder: nn.Module, labels: int, drop: float) -> None:
        super().__init__()
        self.vectors, self.encoder, self.dropout = vectors, encoder, drop
        self.output = nn.Linear(cast(int, encoder.output_size), labels)

    def forward(
        self,
        words: Tensor,
        mask: Tensor | None = None,
        characters: Tensor | None = None,
        *,
        lengths: Tensor | None = None,
    ) -> Tensor:
        """mask (B, L), True where a word is real, or lengths (B,); neither: all are."""
        mask = token_mask(words, mask, lengths)
        x = self.vectors(words, characters).masked_fill(~mask[..., None], 0.0)
        x = dropout(x, self.dropout, self.training)
        states = self.encoder(x, mask)
        return self.output(dropout(states, self.dropout, self.training))


class RecurrentStates(nn.Module):
    """x (B, L, D), mask (B, L) -> states (B, L, D') of a recurrent network"""

    def __init__(self, size: int, options: RecurrentTagger) -> None:
        super().__init__()
        self.network = Recurrent(
            size,
            options.hidden,
            cell=options.cell,
            layers=options.layers,
            bidirectional=options.bidirectional,
            dropout=options.dropout,
        )
        self.output_size = self.network.output_size

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        return self.network(x, mask).outputs


class TransformerStates(nn.Module):
    """x (B, L, D), mask (B, L) -> states (B, L, size) of a stack of blocks over W x + positions"""

    def __init__(self, size: int, options: TransformerTagger) -> None:
        super().__init__()
        self.enter = nn.Linear(size, options.size)
        self.positions: Positions = make_positions(
            options.positions, options.size, options.max_positions
        )
        self.blocks = nn.ModuleList(
            make_encoder_block(options, options.attention, layer) for layer in range(options.layers)
        )
        self.norm = make_last_norm(options)
        self.output_size = options.size

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        x, keys = self.enter(x), never_empty(mask)
        places = self.positions(x.shape[-2], 0)
        x = x if places is None else x + places
        for block in self.blocks:
            x = block(x, keys)
        return self.norm(x)


def recurrent_tagger(
    words: Sequence[int], labels: int, options: RecurrentTagger | None = None, /, **changes: Any
) -> Tagger:
    """words: how many there are, and how many characters."""
    options = RecurrentTagger.of(options, changes)
    vectors = WordVectors(words[0], options.embedding, words[1], options.characters)
    encoder = RecurrentStates(vectors.output_size, options)
    return Tagger(vectors, encoder, labels, options.dropout)


def transformer_tagger(
    words: Sequence[int], labels: int, options: TransformerTagger | None = None, /, **changes: Any
) -> Tagger:
    """words: how many there are, and how many characters."""
    options = TransformerTagger.of(options, changes)
    vectors = WordVectors(words[0], options.size, words[1], options.characters)
    encoder = TransformerStates(vectors.output_size, options)
    initialise.transformer(encoder)
    return Tagger(vectors, encoder, labels, options.dropout)
