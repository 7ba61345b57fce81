"""What the rows and columns of weights stand for: tokens of a text, or cells of a picture."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from regard.records.image_size import image_size
from regard.records.kinds import are_words, brief, listed, text, texts, whole_numbers
from regard.records.png_chunks import what_is_missing
from regard.records.token_words import word_numbers
from regard.words import t

IMAGE = re.compile(r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/]*={0,2}\Z")
MOST_CELLS = 10_000  # of a picture, in a row or a column
MOST_PIXELS = 1 << 26  # of a picture: what a camera makes
START, END = "(start)", "(end)"  # of a sentence: positions that stand for no text


class NotARecord(ValueError):
    """What was given is no record, or none that this version can read."""

    status = 2  # a mistake of whoever gave it
    hint = "regard look TEXT --json FILE writes a record, and regard look FILE opens it"


@dataclass(frozen=True)
class Picture:
    """What the keys lie on when they are cells of an image, row by row."""

    source: str  # a data: URI of an image, so that nothing is ever fetched
    rows: int
    columns: int

    def __post_init__(self) -> None:
        if not isinstance(self.source, str) or not IMAGE.match(self.source):
            raise NotARecord(
                t(
                    "a picture is a data:image/ URI of a PNG, JPEG, GIF or WebP, not {source}",
                    source=repr(str(self.source)[:40]),
                )
            )
        wide, high = image_size(self.source) or (0, 0)
        if not 0 < wide * high <= MOST_PIXELS:
            raise NotARecord(
                t(
                    "a picture has 1 to {most} pixels, as its first bytes say; this one has "
                    "{wide} × {high}",
                    most=f"{MOST_PIXELS:,}",
                    wide=wide,
                    high=high,
                )
            )
        sizes = self.rows, self.columns
        if any(type(size) is not int or not 0 < size <= MOST_CELLS for size in sizes):
            raise NotARecord(t("a picture has rows and columns of cells, not {sizes}", sizes=sizes))

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Picture:
        """As a file has it, in which it may be cut off."""
        made = cls(**given)
        try:
            data = base64.b64decode(made.source.partition(",")[2])
        except binascii.Error:
            raise NotARecord(
                t("a picture of this record is cut off: write the record anew")
            ) from None
        if made.source.startswith("data:image/png") and (wrong := what_is_missing(data)):
            raise NotARecord(
                t("a picture of this record {wrong}: write the record anew", wrong=wrong)
            )
        return made


def cell_names(rows: int, columns: int) -> list[str]:
    """What the cells of a picture are called, row by row."""
    return [
        t("row {row}, column {column}", row=row, column=column)
        for row in range(1, rows + 1)
        for column in range(1, columns + 1)
    ]


@dataclass(frozen=True)
class Side:
    """Tokens of one text, in their order, and where they stand in it."""

    text: str
    tokens: tuple[str, ...]  # what is shown for each: a slice of the text, or a name such as (end)
    offsets: tuple[tuple[int, int], ...]  # into the text, in characters; (n, n): stands for no text
    words: tuple[int, ...]  # the number of the word that each belongs to: rising, without gaps
    special: tuple[bool, ...]  # True: marks the start or the end, or fills; no part of the text
    language: str = ""  # zh, ja, …: which shapes of the characters are meant
    title: str = ""  # "source", "target"
    picture: Picture | None = None
    parts: tuple[int, ...] = ()  # of a pair of texts: 0 the first, 1 the second, -1 neither
    corrected: bool = False  # the words were put together by hand, and are shown as they are

    def __post_init__(self) -> None:
        lengths = {len(x) for x in (self.tokens, self.offsets, self.words, self.special)}
        if len(lengths) != 1:
            raise NotARecord(
                t(
                    "a side needs tokens, offsets, words and special of one length, not {lengths}",
                    lengths=lengths,
                )
            )
        if self.parts and (len(self.parts) != len(self.tokens) or set(self.parts) - {-1, 0, 1}):
            raise NotARecord(
                f"the parts of a side are one of 0, 1 and -1 for each of {len(self.tokens)} tokens"
            )

    def __len__(self) -> int:
        return len(self.tokens)

    @classmethod
    def of(
        cls,
        text: str,
        tokens: Sequence[str],
        offsets: Sequence[tuple[int, int]],
        *,
        special: Sequence[bool] | None = None,
        words: Sequence[int] | None = None,
        language: str = "",
        title: str = "",
        picture: Picture | None = None,
        parts: Sequence[int] = (),
    ) -> Side:
        """words: if not given, tokens that no blank and no sign parts are one word."""
        marks = tuple(special) if special is not None else (False,) * len(tokens)
        numbers = word_numbers(text, offsets, marks) if words is None else words
        return cls(
            text,
            tuple(tokens),
            tuple((int(a), int(b)) for a, b in offsets),
            tuple(numbers),
            marks,
            language,
            title,
            picture,
            tuple(int(part) for part in parts),
        )

    @classmethod
    def of_grid(cls, source: str, rows: int, columns: int, *, title: str = "image") -> Side:
        """The cells of a picture, row by row, all of one size. source: a data: URI, `PngImage.source`."""
        cells = cell_names(rows, columns)
        return cls.of(
            "",
            cells,
            [(0, 0)] * len(cells),
            words=range(len(cells)),
            title=title,
            picture=Picture(source, rows, columns),
        )

    @classmethod
    def of_labels(cls, labels: Sequence[object], *, title: str = "", language: str = "") -> Side:
        """Tokens without a text: each is a word, and the text is all of them with blanks between."""
        tokens = [str(label) for label in labels]
        offsets, end = [], 0
        for token in tokens:
            offsets.append((end, end + len(token)))
            end += len(token) + 1
        return cls.of(
            " ".join(tokens),
            tokens,
            offsets,
            words=range(len(tokens)),
            title=title,
            language=language,
        )

    def with_words(self, words: Sequence[int]) -> Side:
        """The same tokens as other words, put together by hand: [0, 0, 1] of 学, 生, 。"""
        numbers = tuple(words)
        if len(numbers) != len(self) or not are_words(numbers):
            raise NotARecord(
                t(
                    "words are a number for each of the {count} tokens, from 0, rising without gaps; "
                    "given {words}",
                    count=len(self),
                    words=list(numbers),
                )
            )
        return replace(self, words=numbers, corrected=True)

    def to_dict(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "language": self.language,
            "text": self.text,
            "tokens": list(self.tokens),
            "offsets": [list(pair) for pair in self.offsets],
            "words": list(self.words),
            "special": [int(mark) for mark in self.special],
            "picture": None if self.picture is None else vars(self.picture),
            "parts": list(self.parts),
            **({"corrected": True} if self.corrected else {}),
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Side:
        """As a file has it, in which anything may stand."""
        picture = given.get("picture")
        tokens = texts(given["tokens"], "tokens")
        offsets = [whole_numbers(each, "offsets") for each in listed(given["offsets"], "offsets")]
        words = whole_numbers(given["words"], "words")
        if not are_words(words):
            raise NotARecord(
                t(
                    "words are a number for each of the {count} tokens, from 0, rising without gaps; "
                    "given {words}",
                    count=len(tokens),
                    words=brief(list(words)),
                )
            )
        return cls(
            text(given["text"], "text"),
            tokens,
            tuple((a, b) for a, b in offsets),
            words,
            tuple(bool(mark) for mark in given["special"]),
            text(given.get("language", ""), "language"),
            text(given.get("title", ""), "title"),
            None if picture is None else Picture.from_dict(picture),
            whole_numbers(given.get("parts", ()), "parts"),
            given.get("corrected") is True,
        )
