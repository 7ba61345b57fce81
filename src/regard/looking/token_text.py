"""What each token of a Hugging Face tokenizer stands for: a slice of the text, never its spelling.

Byte-level tokens may share one character: three tokens of 我 are called 我 1/3, 我 2/3 and 我 3/3.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import groupby
from typing import Any

from regard.records.side import Side
from regard.records.token_sides import BLANK, BLANKS
from regard.records.token_words import word_numbers

Offsets = list[tuple[int, int]]
BROKEN = "\ufffd"  # what decoding shows for a part of a character
ESCAPED = re.compile("[\udc80-\udcff]")  # bytes that are no letter


def side_of_ids(
    tokenizer: Any,
    ids: Sequence[int],
    *,
    text: str | None = None,
    target: bool = False,
    title: str = "",
) -> Side:
    """text: what was tokenised, if it is known; without it, it is what the tokens decode to.

    target: the text is of the target side, for tokenizers that have two.
    """
    found = None if text is None else _as_tokenised(tokenizer, ids, text, target)
    if found is None or text is None:
        text, found = _as_decoded(tokenizer, ids)
    return side_of_cut(tokenizer, ids, text, found, title=title)


def side_of_cut(
    tokenizer: Any,
    ids: Sequence[int],
    text: str,
    found: Offsets,
    *,
    title: str = "",
    parts: Sequence[int] = (),
) -> Side:
    """found: where in the text each token lies. parts: of which of two texts it is."""
    specials = set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}
    offsets = _in_order([_without_blanks(text, place) for place in found])
    marks = [i in specials and a == b for i, (a, b) in zip(ids, offsets, strict=True)]
    apart = [a == b for a, b in offsets]
    names = [token_name(tokenizer, i) for i in ids]
    labels = _labels(text, offsets, names)
    words = word_numbers(text, offsets, apart)
    return Side.of(text, labels, offsets, special=marks, words=words, title=title, parts=parts)


def _as_tokenised(tokenizer: Any, ids: Sequence[int], text: str, target: bool) -> Offsets | None:
    """The offsets that the tokenizer gives, if it cuts this text into these tokens."""
    if not tokenizer.is_fast:
        return None
    named = {"text_target": text} if target else {"text": text}
    for special in (True, False):
        cut = tokenizer(**named, return_offsets_mapping=True, add_special_tokens=special)
        if list(cut["input_ids"]) == list(ids):
            return [(int(a), int(b)) for a, b in cut["offset_mapping"]]
    return None


def _as_decoded(tokenizer: Any, ids: Sequence[int]) -> tuple[str, Offsets]:
    """The text of the tokens, and how far each reaches: by decoding one more at a time."""

    def decode(part: Sequence[int]) -> str:
        return str(
            tokenizer.decode(
                list(part), skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
        )

    text = decode(ids)
    offsets, end = [], 0
    for number in range(len(ids)):
        so_far = decode(ids[: number + 1])
        whole = so_far.rstrip(BROKEN)
        reach = max(end, len(whole))
        # a part of a character stands for the whole of it
        stop = min(reach + 1, len(text)) if whole != so_far else reach
        offsets.append((min(end, stop), stop))
        end = reach
    return text, offsets


def _without_blanks(text: str, place: tuple[int, int]) -> tuple[int, int]:
    """A token owns its letters, not the blanks around them; blanks alone are its own."""
    start, end = place
    piece = text[start:end]
    if not piece.strip():
        return place
    return start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())


def _in_order(offsets: Offsets) -> Offsets:
    """What stands for no text stands where the token before it ended."""
    end, placed = 0, []
    for a, b in offsets:
        placed.append((a, b) if a < b else (end, end))
        end = max(end, placed[-1][1])
    return placed


def token_name(tokenizer: Any, token: int) -> str:
    """What a token is called that stands alone: </s>, or ␣ if it is a blank."""
    alone = str(tokenizer.decode([token], skip_special_tokens=False))
    if BROKEN in alone:  # a part of a character
        return _spelt_bytes(str(tokenizer.convert_ids_to_tokens(token)))
    return alone.strip() or _blanks(alone)


def _spelt_bytes(piece: str) -> str:
    """What characters that stand for bytes stand for: the letters that these make, else <0xF0>."""
    byte_of = _bytes_of_letters()
    if not all(letter in byte_of for letter in piece):
        return piece  # <0xF0>, as SentencePiece calls it
    read = bytes(byte_of[letter] for letter in piece).decode("utf-8", "surrogateescape")
    apart = "".join(BLANKS.get(c, BLANK) if c.isspace() else c for c in read)
    return ESCAPED.sub(lambda found: f"<0x{ord(found[0]) - 0xDC00:02X}>", apart)


@cache
def _bytes_of_letters() -> dict[str, int]:
    """What spells each byte: a letter of GPT-2's alphabet, or the character of its number, as ByT5 has it."""
    seen = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]  # as they are
    unseen = [byte for byte in range(0x100) if byte not in seen]  # 256, 257, … in their order
    spelt = {chr(byte): byte for byte in range(0x100)}
    return spelt | {chr(0x100 + n): byte for n, byte in enumerate(unseen)}


def _blanks(piece: str) -> str:
    return "".join(BLANKS.get(c, BLANK) for c in piece) or BLANK


def _labels(text: str, offsets: Offsets, names: Sequence[str]) -> list[str]:
    labels: list[str] = []
    for (start, end), group in groupby(range(len(offsets)), key=offsets.__getitem__):
        members = list(group)
        piece = text[start:end]
        if not piece:
            labels += [names[member] for member in members]
        elif not piece.strip():
            labels += [_blanks(piece)] * len(members)
        elif len(members) > 1:
            labels += [f"{piece} {part}/{len(members)}" for part in range(1, len(members) + 1)]
        else:
            labels.append(piece)
    return labels
