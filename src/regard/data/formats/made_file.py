"""What files of settings have in common: their rows are made when they are read."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar, get_type_hints

from pydantic import TypeAdapter, ValidationError

from regard.data.byte_lines import open_bytes
from regard.data.formats.format import Format, Row, in_words
from regard.data.problems import CorpusError
from regard.suggestions import meant
from regard.words import t

Settings = TypeVar("Settings")


class MadeFile(Format):
    """JSON of settings. Its columns are called as the fields unless told."""

    known: ClassVar[tuple[str, ...]]  # columns
    needs: ClassVar[frozenset[str]]  # settings without which it is none
    example: ClassVar[str]

    def columns(self, text: str, wanted: Sequence[str], fields: Sequence[str]) -> tuple[str, ...]:
        names = tuple(wanted or fields)
        for name in names:
            if name not in self.known:
                raise CorpusError(
                    t(
                        "'{text}' has no column {name}.{meant} It has {known}",
                        text=text,
                        name=repr(name),
                        meant=meant(name, self.known),
                        known=", ".join(self.known),
                    )
                )
        if len(names) != len(fields):
            raise CorpusError(
                t(
                    "'{text}': after # come {in_words} of the columns {columns}",
                    text=text,
                    in_words=in_words(len(fields)),
                    columns=", ".join(self.known),
                )
            )
        return names

    @classmethod
    def said(cls, path: Path) -> dict[str, Any]:
        """What a file says, with all that it needs."""
        with open_bytes(path) as stream:
            data = stream.read(1 << 16)
        try:
            said = json.loads(data)
        except (ValueError, RecursionError):
            said = None
        if not isinstance(said, dict) or not cls.needs <= said.keys():
            raise CorpusError(
                t(
                    "{path} is no {ending} file: it is JSON, as {example}",
                    path=path,
                    ending=cls.endings[0],
                    example=cls.example,
                )
            )
        return said

    @classmethod
    def settings_of(cls, path: Path, said: dict[str, Any], kind: type[Settings]) -> Settings:
        """What was said as a dataclass; a CorpusError names what is no setting of it, or has another type."""
        types = get_type_hints(kind)
        given = {}
        for name, value in said.items():
            if name not in types:
                raise CorpusError(
                    t(
                        "{path}: {ending} files have no setting {name}.{meant}",
                        path=path,
                        ending=cls.endings[0],
                        name=repr(name),
                        meant=meant(name, types),
                    )
                )
            written = json.dumps(value, ensure_ascii=False)
            try:
                given[name] = TypeAdapter(types[name]).validate_json(written, strict=True)
            except ValidationError:
                raise CorpusError(
                    t(
                        "{path}: {name} cannot be {written}; {ending} files are as {example}",
                        path=path,
                        name=name,
                        written=f"{written:.60}",
                        ending=cls.endings[0],
                        example=cls.example,
                    )
                ) from None
        return kind(**given)

    @abstractmethod
    def made(self, path: Path, columns: Sequence[str]) -> Iterator[list[Any]]:
        """The cells of each row; a ValueError says why there are none."""

    def rows(self, path: Path, columns: Sequence[str]) -> Iterator[Row]:
        try:
            yield from enumerate(self.made(path, columns), start=1)
        except CorpusError:
            raise
        except ValueError as error:
            raise CorpusError(f"{path}: {error}") from None
