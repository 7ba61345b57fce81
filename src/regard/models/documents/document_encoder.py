"""An encoder that reads the words of each sentence, then the sentences, then the words again.

Legend: B documents, S words, K sentences, W words of the longest sentence, n hidden.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.attention.module import Attention
from regard.attention.pooling import AttentionPooling
from regard.layers.contracts import Encoded
from regard.layers.dropout import dropout
from regard.layers.embedding import TokenEmbedding
from regard.layers.recurrent import Recurrent
from regard.models import initialise
from regard.models.decoder import RecurrentDecoder
from regard.models.documents.hierarchical_options import HierarchicalTranslator
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.summary import Summary

ENDS = tuple(".!?…")  # end a sentence where a word follows after a blank
WIDE_ENDS = tuple("。！？｡")  # end one anywhere
SPACE = "▁"  # before a piece: it follows a blank


class SentenceLayout(NamedTuple):
    """Where the words of flat documents stand in their sentences."""

    at: Tensor  # (B, K, W): the flat place of each word; any, where there is none
    real: Tensor  # (B, K, W): whether there is one
    sentence: Tensor  # (B, S): the sentence of each flat word
    word: Tensor  # (B, S): its place in it


class HierarchicalEncoder(nn.Module):
    """h_kw = BiGRU(E x_k1 … E x_kW);   s_k = Σ_w α_kw h_kw,   α_k = softmax_w(u · tanh(W h_kw + b))
    d = BiGRU(s_1 … s_K);   the state of a word is tanh(V [h_kw; d_k] + c)

    The two levels of Yang et al. 2016 (HAN), https://aclanthology.org/N16-1174; sentences, which know of
    each other, are given back to their words: a decoder attends to these.

    A sentence ends at a token of ENDS before one that follows a blank, and at one of WIDE_ENDS; `mark_ends`
    says which tokens these are. Until then a document is one sentence.
    """

    endings: Tensor  # (V,): 1 such a token, 2 such a wide token
    spaced: Tensor  # (V,): whether it follows a blank

    def __init__(
        self,
        vocabulary: int,
        embedding: int,
        hidden: int,
        *,
        cell: str = "gru",
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.dropout = dropout
        self.embed = TokenEmbedding(vocabulary, embedding)
        self.words = Recurrent(embedding, hidden, cell=cell, bidirectional=True)
        self.output_size = size = self.words.output_size
        self.pool = AttentionPooling(size, hidden=size)
        self.sentences = Recurrent(size, hidden, cell=cell, bidirectional=True)
        self.together = nn.Linear(2 * size, size)
        self.register_buffer("endings", torch.zeros(vocabulary, dtype=torch.uint8))
        self.register_buffer("spaced", torch.zeros(vocabulary, dtype=torch.bool))

    def mark_ends(self, pieces: Sequence[str]) -> None:
        """pieces: what every token of the vocabulary is, with a mark where it follows a blank."""
        bare = [piece.removeprefix(SPACE) for piece in pieces]
        kinds = [
            2 if piece.endswith(WIDE_ENDS) else 1 if piece.endswith(ENDS) else 0 for piece in bare
        ]
        self.endings.copy_(torch.tensor(kinds, dtype=torch.uint8))
        self.spaced.copy_(torch.tensor([piece.startswith(SPACE) for piece in pieces]))

    def forward(self, source: Tensor, mask: Tensor) -> Encoded:
        """source, mask (B, S) -> states (B, S, 2 n)"""
        if not source.shape[1]:
            found = self(F.pad(source, (0, 1)), F.pad(mask, (0, 1)))
            return replace(found, states=found.states[:, :0], mask=mask)
        layout = self.layout(source, mask)
        batch, count, width = layout.at.shape
        tokens = source.gather(1, layout.at.flatten(1)).view(layout.at.shape)
        x = self.embed(tokens).masked_fill(~layout.real[..., None], 0.0)
        x = dropout(x, self.dropout, self.training)
        inside = layout.real.flatten(0, 1)  # (B K, W)
        h, _ = self.words(x.flatten(0, 1), inside)
        pooled = self.pool(h, inside).vector.view(batch, count, -1)  # (B, K, 2 n)
        there = layout.real.any(-1)
        d, final = self.sentences(pooled, there)
        every = layout.sentence[..., None].expand(-1, -1, d.shape[-1])
        flat = h.view(batch, count * width, -1)
        places = (layout.sentence * width + layout.word)[..., None].expand(every.shape)
        states = torch.cat([flat.gather(1, places), d.gather(1, every)], -1)
        states = self.together(dropout(states, self.dropout, self.training)).tanh()
        states = states.masked_fill(~mask[..., None], 0.0)
        known = mask.any(-1)[:, None]
        ends = tuple(s.masked_fill(~known, 0.0) for layer in final for s in layer)
        return Encoded(states, mask, ends[-self.sentences.cells[0].states], ends)

    def layout(self, source: Tensor, mask: Tensor) -> SentenceLayout:
        """The sentences of flat documents (B, S). The end of the source belongs to the last of them."""
        rows, length = source.shape
        kinds = self.endings[source]
        breaks = torch.zeros_like(mask)
        if length > 1:
            ended = (kinds[:, :-1] == 2) | ((kinds[:, :-1] == 1) & self.spaced[source[:, 1:]])
            again = kinds[:, 1:] == 2  # 。” and ！！ end one sentence, not two
            final = mask[:, 1:] & ~torch.cat([mask[:, 2:], torch.zeros_like(mask[:, :1])], 1)
            breaks[:, 1:] = ended & ~again & ~final & mask[:, 1:]
        sentence = breaks.long().cumsum(1)
        places = torch.arange(length, device=source.device).expand(rows, -1)
        first = torch.where(breaks, places, 0).cummax(1).values if length else places
        word = places - first
        count = int(sentence.max()) + 1 if sentence.numel() else 1
        width = int(word.masked_fill(~mask, 0).max()) + 1 if word.numel() else 1
        word = word.clamp(max=width - 1)
        at = places.new_zeros(rows, count * width + 1)
        slots = torch.where(mask, sentence * width + word, count * width)  # padding: a place aside
        at.scatter_(1, slots, places)
        real = torch.zeros(at.shape, dtype=torch.bool, device=source.device).scatter_(
            1, slots, mask
        )
        shape = rows, count, width
        return SentenceLayout(at[:, :-1].view(shape), real[:, :-1].view(shape), sentence, word)


def hierarchical(
    source: int, target: int, options: HierarchicalTranslator | None = None, /, **changes: Any
) -> EncoderDecoder:
    """Of this kind, with a decoder as RNNsearch has. source, target: the sizes of the vocabularies."""
    options = HierarchicalTranslator.of(options, changes)
    hidden, how = options.hidden, options.attention
    encoder = HierarchicalEncoder(
        source, options.embedding, hidden, cell=options.cell, dropout=options.dropout
    )
    size = encoder.output_size
    decoder = RecurrentDecoder(
        target,
        options.embedding,
        hidden,
        summary=Summary("last", size, size),
        cell=options.cell,
        attention=Attention(hidden, size, **how.mechanism, bridge=True),
        static=not how.dynamic,
        place="before",
        readout="tanh",
        dropout=options.dropout,
    )
    return initialise.by_name("default", EncoderDecoder(encoder, decoder), initialise.default)
