"""Text as a language model reads it: every line by itself, or all lines as one stream cut into blocks.

In the stream a line ends with its line end, a token like others, and EOS stands where a corpus ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from regard.data.problems import Problems
from regard.data.spec import Spec, parse_texts
from regard.data.store import CHUNK, Row
from regard.data.texts import Text, read_corpus, read_texts
from regard.data.tokenizer import EOS, Tokenizer


@dataclass(frozen=True)
class Block:
    """Tokens to be predicted, and how much text they stand for."""

    line: int  # of the first token
    ids: list[int]  # with EOS where the text ends, in a stream; without it, of a line
    characters: int = 0
    bytes: int = 0  # in UTF-8


class Line(NamedTuple):
    """A text in tokens."""

    number: int
    text: str
    ids: list[int]
    ends: list[int] | None  # of the tokens, in the text; None: nobody counts characters


def blocks(
    spec: Spec, tokenizer: Tokenizer, context: int | None, problems: Problems | None = None
) -> Iterator[Block]:
    """Blocks of `context` tokens, the last of each corpus shorter; lines if context is None.

    All characters are counted once: line ends too, and the end of a line that is by itself.
    """
    return _blocks(
        spec, tokenizer, context, Problems() if problems is None else problems, count=True
    )


def block_rows(
    spec: Spec, tokenizer: Tokenizer, context: int | None, problems: Problems
) -> Iterator[Row]:
    """The same for a store, where characters need not be counted: no source, all is target."""
    for block in _blocks(spec, tokenizer, context, problems, count=False):
        yield Row(block.line, [], block.ids)


def _blocks(
    spec: Spec, tokenizer: Tokenizer, context: int | None, problems: Problems, *, count: bool
) -> Iterator[Block]:
    if context is None:
        for line in _encoded(read_texts(spec, problems), tokenizer, count):
            size = len(line.text.encode())
            yield Block(line.number, line.ids, len(line.text) + 1, size + 1)
        return
    for corpus in parse_texts(spec):
        lines = read_corpus(corpus, problems, blank=True)
        ended = (text._replace(text=f"{text.text}\n") for text in lines)
        yield from _cut(_encoded(ended, tokenizer, count), context)


def _cut(lines: Iterator[Line], context: int) -> Iterator[Block]:
    ids: list[int] = []
    number, first, characters, size = 0, 0, 0, 0
    for line in lines:
        number, start = line.number, 0
        while start < len(line.ids):
            first = first if ids else number
            end = min(len(line.ids), start + context - len(ids))
            ids = ids + line.ids[start:end]
            if line.ends is not None:
                part = line.text[line.ends[start - 1] if start else 0 : line.ends[end - 1]]
                characters, size = characters + len(part), size + len(part.encode())
            start = end
            if len(ids) == context:
                yield Block(first, ids, characters, size)
                ids, characters, size = [], 0, 0
    if number:
        yield Block(first if ids else number, [*ids, EOS], characters, size)


def _encoded(texts: Iterator[Text], tokenizer: Tokenizer, count: bool) -> Iterator[Line]:
    while chunk := list(islice(texts, CHUNK)):
        written = [text.text for text in chunk]
        if count:
            for text, tokens in zip(chunk, tokenizer.encode_many(written), strict=True):
                yield Line(text.line, text.text, tokens.ids, [end for _, end in tokens.offsets])
        else:
            for text, ids in zip(chunk, tokenizer.encode_ids(written), strict=True):
                yield Line(text.line, text.text, ids, None)
