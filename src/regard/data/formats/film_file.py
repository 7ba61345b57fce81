"""A film file: settings of films of moving digits, which are made when they are read, in JSON.

    {"digits": "digits:train", "count": 2000, "seed": 1}

`digits` is a corpus of pictures and labels; the others are the settings of
`regard.data.scenes.moving_digits.FilmSettings`. Columns are `frames` (also `numbers` and `image`, as tasks
call what they read), `label`, the way that the digit goes, `digit`, and `caption` and `caption_zh`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

from regard.data.formats.made_file import MadeFile
from regard.data.formats.scene_file import digits_in

FRAMES = ("frames", "numbers", "image")


class FilmFile(MadeFile):
    """Its films are made, not read."""

    endings: ClassVar = (".films",)
    known: ClassVar = (*FRAMES, "label", "digit", "caption", "caption_zh")
    needs: ClassVar = frozenset({"digits", "count"})
    example: ClassVar = '{"digits": "digits:train", "count": 2000}'

    def made(self, path: Path, columns: Sequence[str]) -> Iterator[list[Any]]:
        from regard.data.scenes.moving_digits import FilmSettings, moving_digits

        said = self.said(path)
        digits = said.pop("digits")
        settings = self.settings_of(path, said, FilmSettings)
        names = ["frames" if name in FRAMES else name for name in columns or ("frames",)]
        for film in moving_digits(settings, *digits_in(digits, path)):
            yield [getattr(film, name) for name in names]
