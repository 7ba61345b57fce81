"""The structured self-attentive embedding of two texts — Lin et al. 2017, https://arxiv.org/abs/1703.03130

Legend: B pairs, L words, r hops, m factors.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from regard.attention.pooling import AttentionPooling
from regard.layers.recurrent import Recurrent
from regard.models.pairs.pair_model import PairedText, PairModel
from regard.models.pairs.pair_options import SelfAttentivePair


class HopProduct(PairModel):
    """F = (M_1 W_1) ∘ (M_2 W_2),  M = A H,  A = softmax(U tanh(V Hᵀ)),  H = BiLSTM(x)

    H, V and U are the same for both texts; every hop has a matrix of its own in W_1 and in W_2.
    """

    def __init__(self, vocabulary: int, outputs: int, options: SelfAttentivePair) -> None:
        super().__init__(vocabulary, options)
        self.network = Recurrent(
            options.embedding, options.states, cell=options.cell, bidirectional=True
        )
        size = self.network.output_size
        self.pool = AttentionPooling(size, options.scoring, hops=options.hops)
        # products of small numbers teach nothing: words and factors begin with a variance near 1
        self.embed.draw(std=1.0)
        bound = (3 / size) ** 0.5
        shape = (2, options.hops, size, options.factors)
        self.gates = nn.Parameter(torch.empty(shape).uniform_(-bound, bound))
        self.penalty = options.penalty
        self.make_judgement(options.hops * options.factors, outputs, options.hidden)

    def read(self, first: PairedText, second: PairedText) -> tuple[Tensor, Tensor | None]:
        penalty: Tensor | None = None
        product: Tensor | None = None
        for text, gates in zip((first, second), self.gates, strict=True):
            states = self.network(self.words(text), text.mask).outputs
            pooled = self.pool(states, text.mask)
            texts, length, size = states.shape
            weights = pooled.weights.reshape(texts, self.pool.hops, length)  # one hop has no axis
            vectors = pooled.vector.reshape(texts, self.pool.hops, size)  # (B, r, D)
            factors = torch.einsum("brd,rdm->brm", vectors, gates.to(vectors))
            product = factors if product is None else product * factors
            if self.penalty and self.training:
                more = self.penalty * self.pool.penalty(weights)
                penalty = more if penalty is None else penalty + more
        assert product is not None
        return product.flatten(1), penalty


def self_attentive_pair(
    vocabulary: int, outputs: int, options: SelfAttentivePair | None = None, /, **changes: Any
) -> HopProduct:
    return HopProduct(vocabulary, outputs, SelfAttentivePair.of(options, changes))
