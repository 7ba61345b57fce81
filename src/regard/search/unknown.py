"""UNK replaced by the source word it was attending to."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from regard.layers.special_tokens import UNK
from regard.words import t


def replace_unknown(
    pieces: Sequence[str], tokens: Sequence[int], attention: Tensor, source: Sequence[str]
) -> list[str]:
    """The pieces, with source[argmax_j a_ij] in the place of every UNK — Luong et al. 2015,
    https://arxiv.org/abs/1410.8206.

    pieces and tokens (T), attention (T, S), source: the words of the source as they were written. What
    is attended beyond them, the EOS of the source, is not a word and is passed over.
    """
    if not len(pieces) == len(tokens) == len(attention):
        raise ValueError(
            t(
                "there must be a piece and a row of attention for every token; given {count} "
                "pieces, {tokens} tokens, attention {attention_shape}",
                count=len(pieces),
                tokens=len(tokens),
                attention_shape=tuple(attention.shape),
            )
        )
    if not source:
        return [*pieces]
    attended = attention[:, : len(source)].argmax(1).tolist()
    return [
        source[place] if token == UNK else piece
        for piece, token, place in zip(pieces, tokens, attended, strict=True)
    ]
