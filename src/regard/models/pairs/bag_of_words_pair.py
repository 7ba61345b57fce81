"""Two texts by their words alone, in no order: the baseline beside models that attend."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from regard.attention import pooling
from regard.models.pairs.pair_model import ComparedPair, PairedText
from regard.models.pairs.pair_options import BagOfWordsPair


class BagPair(ComparedPair):
    """u, v = the means of the words"""

    def __init__(self, vocabulary: int, outputs: int, options: BagOfWordsPair) -> None:
        super().__init__(vocabulary, options)
        self.make_comparisons([options.embedding], outputs, options.hidden)

    def layers(self, first: PairedText, second: PairedText) -> list[tuple[Tensor, Tensor]]:
        u, v = (pooling.mean(self.words(text), text.mask).vector for text in (first, second))
        return [(u, v)]


def bag_of_words_pair(
    vocabulary: int, outputs: int, options: BagOfWordsPair | None = None, /, **changes: Any
) -> BagPair:
    return BagPair(vocabulary, outputs, BagOfWordsPair.of(options, changes))
