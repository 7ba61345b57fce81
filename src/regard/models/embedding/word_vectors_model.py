"""Two tables of word vectors, and how a word and the words around it meet in them.

Legend: N places in texts, P = 2 · window places around one, V words, D features.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from regard.layers.special_tokens import PAD
from regard.models.embedding.context_bag import context_bag, place_weights
from regard.models.embedding.embedding_options import Cbow, SkipGram, VectorOptions


class WordVectorsModel(nn.Module):
    """vectors: of words as they are seen; outputs: of words as they are predicted."""

    def __init__(self, vocabulary: int, options: VectorOptions) -> None:
        super().__init__()
        self.options = options
        size = options.size
        self.vectors = nn.Parameter(torch.empty(vocabulary, size).uniform_(-0.5, 0.5) / size)
        with torch.no_grad():
            self.vectors[PAD].zero_()  # what no bag has gets no gradient, and stays so
        self.outputs = nn.Parameter(torch.zeros(vocabulary, size))

    def questions(
        self, centres: Tensor, words: Tensor, mask: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """What is asked of the places: vectors (Q, D), the words that they should tell (Q,), and the place
        (Q,) that each belongs to.

        centres (N,), words (N, P) around them, mask (N, P): True where there is one.
        """
        raise NotImplementedError


class CbowModel(WordVectorsModel):
    """One question for a place: the weighted words around it."""

    options: Cbow

    def __init__(self, vocabulary: int, options: Cbow) -> None:
        super().__init__(vocabulary, options)
        places = 2 * options.window
        variable, placed = options.attention == "variable", options.attention != "uniform"
        self.scores = nn.Parameter(torch.zeros(vocabulary, places)) if variable else None
        self.places = nn.Parameter(torch.zeros(places)) if placed else None

    def questions(
        self, centres: Tensor, words: Tensor, mask: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        some = mask.any(-1)  # a word by itself has nothing to be told from
        bags = context_bag(self.vectors, words[some], mask[some], self.scores, self.places)
        return bags, centres[some], some.nonzero().squeeze(-1)

    def weights(self, words: Tensor, mask: Tensor) -> Tensor:
        """(N, P): how much each of the words around a place counts."""
        return place_weights(words, mask, self.scores, self.places)


class SkipGramModel(WordVectorsModel):
    """A question for each word around a place: the word there."""

    options: SkipGram

    def questions(
        self, centres: Tensor, words: Tensor, mask: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        row, place = mask.nonzero(as_tuple=True)
        alone = torch.ones(len(row), 1, dtype=torch.bool, device=row.device)
        asked = context_bag(self.vectors, centres[row][:, None], alone, None, None)
        return asked, words[row, place], row
