"""Text as a language model reads it: every line by itself, or all lines as one stream cut into blocks.

In the stream a line ends with its line end, a token like others, and EOS stands where a corpus ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from regard.data.examples import Example, read_corpus, read_examples
from regard.data.fields import Text
from regard.data.problems import Problems
from regard.data.spec import Spec, parse
from regard.data.store import CHUNK
from regard.data.tokenizer import EOS


@dataclass(frozen=True)
class TextBlock:
    """Tokens to be predicted, and how much text they stand for."""

    line: int  # of the first token
    ids: list[int]  # with EOS where the text ends, in a stream; without it, of a line
    characters: int = 0
    bytes: int = 0  # in UTF-8


class EncodedLine(NamedTuple):
    """A text in tokens."""

    number: int
    text: str
    ids: list[int]
    ends: list[int] | None  # of the tokens, in the text; None: nobody counts characters


def blocks(
    spec: Spec,
    field: Text,
    context: int | None,
    problems: Problems | None = None,
    *,
    count: bool = True,
) -> Iterator[TextBlock]:
    """Blocks of `context` tokens, the last of each corpus shorter; lines if context is None.

    All characters are counted once: line ends too, and the end of a line that is by itself. A store has
    no use for them: count=False is faster.
    """
    problems = Problems() if problems is None else problems
    if context is None:
        for line in _encoded(read_examples(spec, [field], problems), field, "", count):
            size = len(line.text.encode())
            yield TextBlock(line.number, line.ids, len(line.text) + 1, size + 1)
        return
    for corpus in parse(spec, [field.name]):
        lines = read_corpus(corpus, [field], problems)
        yield from _cut(_encoded(lines, field, "\n", count), context)


def _cut(lines: Iterator[EncodedLine], context: int) -> Iterator[TextBlock]:
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
                yield TextBlock(first, ids, characters, size)
                ids, characters, size = [], 0, 0
    if number:
        yield TextBlock(first if ids else number, [*ids, EOS], characters, size)


def _encoded(
    examples: Iterator[Example], field: Text, end: str, count: bool
) -> Iterator[EncodedLine]:
    tokenizer = field.tokenizer
    while chunk := list(islice(examples, CHUNK)):
        texts = [f"{example[field.name]}{end}" for example in chunk]
        if count:
            for example, text, tokens in zip(
                chunk, texts, tokenizer.encode_many(texts), strict=True
            ):
                yield EncodedLine(
                    example.line, text, tokens.ids, [stop for _, stop in tokens.offsets]
                )
        else:
            for example, text, ids in zip(chunk, texts, tokenizer.encode_ids(texts), strict=True):
                yield EncodedLine(example.line, text, ids, None)
