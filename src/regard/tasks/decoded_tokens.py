"""From the ids of a target to its text, and to the place of every token in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from regard.data.tokenizer import EOS, Tokenizer, Tokens
from regard.records.side import END
from regard.records.token_sides import label_of


def spell(
    tokenizer: Tokenizer, ids: Sequence[int], unknown: Mapping[int, str] | None = None
) -> tuple[str, Tokens]:
    """The text of these ids (without EOS) and its tokens; `unknown` is as in `Tokenizer.decode`."""
    text = tokenizer.decode(ids, unknown)
    offsets: list[tuple[int, int]] = []
    end = 0
    lengths = tokenizer.decoded_lengths(ids, unknown)
    for position, (token, length) in enumerate(zip(ids, lengths, strict=True)):
        start, end = end, length
        alone = {0: unknown[position]} if unknown and position in unknown else None
        # a token owns its letters, not the space before them
        offsets.append((max(start, end - len(tokenizer.decode([token], alone))), end))
    return text, Tokens(list(ids), [text[start:end] for start, end in offsets], offsets)


def last_label(tokenizer: Tokenizer, ids: Sequence[int]) -> str:
    """What is shown of the last of these: as the text has it, with the space before it if there is one."""
    if ids[-1] == EOS:
        return END
    before, whole = tokenizer.decode(ids[:-1]), tokenizer.decode(ids)
    return label_of(whole[len(before) :], ids[-1])
