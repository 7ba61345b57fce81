"""A film file: settings of films of moving digits, which are made when they are read, in JSON.

    {"digits": "digits:train", "count": 2000, "seed": 1}

`digits` is a corpus of pictures and labels; the others are the settings of
`regard.data.scenes.moving_digits.FilmSettings`. Columns are `frames` (also `numbers` and `image`, as tasks
call what they read), `label`, the way that the digit goes, `digit`, and `caption` and `caption_zh`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import ClassVar

from regard.data.formats.format import Format, Row
from regard.data.formats.scene_file import digits_in, scene_settings
from regard.data.problems import CorpusError
from regard.suggestions import meant
from regard.words import t

FRAMES = ("frames", "numbers", "image")
COLUMNS = (*FRAMES, "label", "digit", "caption", "caption_zh")


class FilmFile(Format):
    """Its films are made, not read. Columns are called as the fields unless told."""

    endings: ClassVar = (".films",)

    def columns(self, text: str, wanted: Sequence[str], fields: Sequence[str]) -> tuple[str, ...]:
        names = tuple(wanted or fields)
        if len(names) != len(fields):
            raise CorpusError(
                t(
                    "'{text}': after # come the columns of {fields}",
                    text=text,
                    fields=", ".join(fields),
                )
            )
        for name in names:
            if name not in COLUMNS:
                known = ", ".join(COLUMNS)
                raise CorpusError(
                    t(
                        "'{text}' has no column {name}.{meant} It has {known}",
                        text=text,
                        name=repr(name),
                        meant=meant(name, COLUMNS),
                        known=known,
                    )
                )
        return names

    def rows(self, path: Path, columns: Sequence[str]) -> Iterator[Row]:
        from regard.data.scenes.moving_digits import FilmSettings, moving_digits

        said = scene_settings(path)
        pictures, labels = digits_in(said.pop("digits"), path)
        known = [field.name for field in fields(FilmSettings)]
        for name in said:
            if name not in known:
                raise CorpusError(
                    t(
                        "{path}: there is no setting {name} of films.{meant}",
                        path=path,
                        name=repr(name),
                        meant=meant(name, known),
                    )
                )
        names = ["frames" if name in FRAMES else name for name in columns or ("frames",)]
        try:
            films = moving_digits(FilmSettings(**said), pictures, labels)
            for number, film in enumerate(films, start=1):
                yield number, [getattr(film, name) for name in names]
        except (ValueError, TypeError) as error:
            raise CorpusError(f"{path}: {error}") from None
