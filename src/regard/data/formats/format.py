"""What a format is: a kind of file that has rows, and cells in them."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from regard.data.problems import CorpusError, Unusable
from regard.words import t

COMPRESSED = (".gz", ".xz")
NUMBER = re.compile(r"[0-9]{1,6}")  # of a column

# A row's number, from 1, and its cells, or why it has none.
Row: TypeAlias = "tuple[int, list[Any] | Unusable]"


class Kin(list[Any]):
    """The cells of a row that belongs with others, those of its `family`: a split keeps them together."""

    def __init__(self, cells: Iterable[Any], family: str) -> None:
        super().__init__(cells)
        self.family = family


class Format(ABC):
    """A kind of file. Unless told otherwise its columns are numbered from 0."""

    endings: ClassVar[tuple[str, ...]] = ()

    def has(self, name: str) -> bool:
        """Whether a file of this name is in this format."""
        return bare_name(name).endswith(self.endings)

    def columns(self, text: str, wanted: Sequence[str], fields: Sequence[str]) -> tuple[str, ...]:
        """Where the fields stand; (): a row is a cell. wanted: what the user wrote after #, in `text`."""
        if not wanted:
            return self.usual_columns(text, fields)
        if len(wanted) != len(fields) or not all(NUMBER.fullmatch(x) for x in wanted):
            raise CorpusError(
                t(
                    "'{text}': after # {numbered_columns}",
                    text=text,
                    numbered_columns=numbered_columns(len(fields)),
                )
            )
        return tuple(str(int(column)) for column in wanted)

    def usual_columns(self, text: str, fields: Sequence[str]) -> tuple[str, ...]:
        """Where the fields stand if nothing is said."""
        return tuple(str(number) for number in range(len(fields))) if len(fields) > 1 else ()

    def check(self, path: Path, columns: Sequence[str]) -> None:  # noqa: B027, most take any
        """A CorpusError says which of the columns a file has not."""

    def beforehand(self, path: Path) -> str:
        """What is done before and while its rows are read, where it takes long; empty: it does not."""
        return ""

    @abstractmethod
    def rows(self, path: Path, columns: Sequence[str]) -> Iterator[Row]:
        """The rows of a file, with a cell for each column; without columns, a single cell."""


def only_place(name: str, known: Sequence[str], path: Path) -> int:
    """Where a name stands in the first line; a CorpusError if it stands there more than once."""
    places = [place for place, other in enumerate(known) if other == name]
    if len(places) > 1:
        raise CorpusError(
            t(
                "'{path}' has {in_words} columns {name}, {map} counted from 0: which is meant?",
                path=path,
                in_words=in_words(len(places)),
                name=repr(name),
                map=", ".join(map(str, places)),
            ),
            t("give each column of its first line a name of its own"),
        )
    return places[0]


def bare_name(name: str) -> str:
    """Without .gz or .xz."""
    return next((name.removesuffix(end) for end in COMPRESSED if name.endswith(end)), name)


def numbered_columns(count: int) -> str:
    if count == 1:
        return t("comes one column from 0, as #0")
    return t(
        "come {in_words} columns from 0, as #{map}",
        in_words=in_words(count),
        map=",".join(map(str, range(count))),
    )


def in_words(count: int) -> str:
    return {2: "two", 3: "three", 4: "four"}.get(count, str(count))
