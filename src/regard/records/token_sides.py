"""From a text and its tokens to a side of a record: what is shown for each token."""

from __future__ import annotations

from regard.data.tokenizer import UNK, Tokens
from regard.records.side import END, START, Side
from regard.records.token_words import word_numbers

UNKNOWN = "(unknown)"  # a token that the model wrote and that stands for no text
BLANKS = {"\n": "⏎", "\t": "⇥"}
BLANK = "␣"


def token_side(
    text: str,
    tokens: Tokens,
    *,
    start: bool = False,
    end: bool = False,
    title: str = "",
    language: str = "",
) -> Side:
    """start, end: whether a (start) stands before the tokens, an (end) behind them."""
    labels = [
        label_of(text[slice(*offset)], token)
        for token, offset in zip(tokens.ids, tokens.offsets, strict=True)
    ]
    offsets, marks = [*tokens.offsets], [False] * len(labels)
    apart = [  # what stands for no text joins no word, but for a space
        a == b and token == UNK for (a, b), token in zip(offsets, tokens.ids, strict=True)
    ]
    if start:
        labels, offsets = [START, *labels], [(0, 0), *offsets]
        marks, apart = [True, *marks], [True, *apart]
    if end:
        labels, offsets = [*labels, END], [*offsets, (len(text), len(text))]
        marks, apart = [*marks, True], [*apart, True]
    words = word_numbers(text, offsets, apart)
    return Side.of(
        text, labels, offsets, special=marks, words=words, title=title, language=language
    )


def label_of(piece: str, token: int) -> str:
    """A piece of a text as it can be seen: blanks have signs, and nothing is not empty."""
    if piece.strip():
        return piece
    if token == UNK:
        return UNKNOWN
    return "".join(BLANKS.get(character, BLANK) for character in piece) or BLANK


def cut_off_note(read: int, whole: int, title: str = "") -> tuple[str, ...]:
    """That a text was cut: tokens that were read, and those that it has; title: of which text."""
    if read == whole:
        return ()
    of = f" of the {title}" if title else ""
    return (f"the first {read:,} of {whole:,} tokens{of} were read",)
