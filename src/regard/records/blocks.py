"""Long inputs as a record: a row and a column for every few tokens, so that all of it can be seen at once.

Legend: L layers, H heads, S tokens, N = ⌈S / size⌉ blocks of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from regard.attention.mechanism_text import mechanism
from regard.attention.recording import RecordedSummary
from regard.records.attention_map import AttentionMap
from regard.records.maps import Attentions, heads_of
from regard.records.side import Side
from regard.words import t

MOST_TOKENS = 4096  # that have a row and a column each, whatever the number of heads
MOST_DRAWN = 2**24  # weights that a page takes token by token
MOST_BLOCKS = 256  # rows and columns of what is drawn instead
MOST_OF_ALL = 2**22  # weights of all heads together then
LONGEST_TITLE = 200  # characters


def block_size(attentions: Attentions, tokens: int) -> int:
    """How many tokens share a row: 1 while all weights can be drawn."""
    heads = max(1, sum(map(heads_of, attentions.values())))
    if tokens <= MOST_TOKENS and heads * tokens**2 <= MOST_DRAWN:
        return 1
    most = min(MOST_BLOCKS, int((MOST_OF_ALL / heads) ** 0.5))
    return -(-tokens // most)


def block_side(side: Side, size: int) -> Side:
    """Every `size` tokens as one: the slice of the text that they are, named by its beginning and end."""
    labels, offsets = [], []
    for first in range(0, len(side), size):
        last = min(first + size, len(side)) - 1
        labels.append(
            f"{side.tokens[first]} … {side.tokens[last]}" if last > first else side.tokens[first]
        )
        offsets.append((side.offsets[first][0], side.offsets[last][1]))
    return Side.of(
        side.text, labels, offsets, words=range(len(labels)), title=side.title, language=side.language
    )  # fmt: skip


def block_map(
    name: str, side: str, attentions: Attentions, recorded: Sequence[RecordedSummary], size: int
) -> AttentionMap:
    """The map of attentions of a text to itself, a layer each: (L, H, N, N)."""
    layers = []
    for one in attentions:
        found = [_heads(each.weights.blocks) for each in recorded if each.name == one]
        layers.append(found[0] if len(found) == 1 else _of_steps(torch.cat(found, -2), size))
    weights = torch.stack(layers).float().cpu().numpy()
    texts = dict.fromkeys(mechanism(attention) for attention in attentions.values())
    return AttentionMap(name, side, side, np.asarray(weights), mechanism="; ".join(texts))


def block_title(text: str, size: int) -> str:
    """The text as a heading: of one in blocks, its beginning."""
    return text if size == 1 or len(text) <= LONGEST_TITLE else f"{text[:LONGEST_TITLE]} …"


def block_note(tokens: int, size: int) -> str:
    return t(
        "the text has {tokens} tokens: every row and column stands for {size} of them "
        "in a row, and a weight is the mean over the {size} tokens of a row of what "
        "they give to all those of a column",
        tokens=f"{tokens:,}",
        size=size,
    )


def _heads(blocks: Tensor | None) -> Tensor:
    """(1, [H,] Q, N) -> (H, Q, N)"""
    assert blocks is not None
    return blocks[0] if blocks.dim() == 4 else blocks


def _of_steps(rows: Tensor, size: int) -> Tensor:
    """Calls for one token each, (H, S, N), as rows of `size` of them: (H, N, N)."""
    return torch.stack([part.mean(-2) for part in rows.split(size, -2)], -2)
