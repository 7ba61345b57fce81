"""Tokens and their positions as vectors."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from regard.layers.dropout import dropout
from regard.layers.positions import Positions
from regard.layers.special_tokens import PAD, UNK


class TokenEmbedding(nn.Embedding):
    """E[x]; that of padding is 0 and has no gradient, so that no optimiser, decay or average moves it

    Whoever draws the weights anew draws its row too: `zero_padding` ends that.
    """

    def __init__(self, vocabulary: int, size: int) -> None:
        super().__init__(vocabulary, size, padding_idx=PAD)

    def draw(self, std: float) -> None:
        """All but padding from N(0, std²)."""
        nn.init.normal_(self.weight, std=std)
        zero_padding(self)


@torch.no_grad()
def zero_padding(model: nn.Module) -> None:
    """The padding of all embeddings of tokens inside is 0."""
    for part in model.modules():
        if isinstance(part, TokenEmbedding):
            part.weight[PAD].zero_()


class Embedding(nn.Module):
    """Drop(√D · E[x_t] + P[t]): (B, L) token ids -> (B, L, D)

    √D brings the embeddings, which are small where they are also the output matrix, to the size of the
    positions (Vaswani et al. 2017). `scaled` False leaves them as they are.
    """

    def __init__(
        self, vocabulary: int, size: int, positions: Positions, *, scaled: bool, dropout: float
    ) -> None:
        super().__init__()
        self.table = TokenEmbedding(vocabulary, size)
        self.positions = positions
        self.scale = math.sqrt(size) if scaled else 1.0
        self.dropout = dropout

    def forward(self, tokens: Tensor, start: int = 0) -> Tensor:
        """start: the position of the first token."""
        x = self.table(tokens)
        places = self.positions(tokens.shape[-1], start)
        if self.scale != 1.0:
            x = x * self.scale
        x = x if places is None else x + places
        return dropout(x, self.dropout, self.training)

    def extra_repr(self) -> str:
        return f"scale={self.scale:g}, dropout={self.dropout}"


class OpenEmbedding(TokenEmbedding):
    """E[x] of any token: what lies behind the vocabulary, as a word that was copied does, is UNK."""

    def forward(self, tokens: Tensor) -> Tensor:
        return super().forward(tokens.masked_fill(tokens >= self.num_embeddings, UNK))


def without_padding(vectors: Tensor, tokens: Tensor) -> Tensor:
    """vectors (..., D) of tokens (...), 0 where a token is padding

    No state that counts sees padding, but every weight does: 0 · NaN would be NaN in its gradient.
    """
    return vectors.masked_fill((tokens == PAD)[..., None], 0.0)
