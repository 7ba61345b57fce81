"""A scene file: settings of scenes that are composed of digits when they are read, in JSON.

    {"digits": "digits:train", "count": 3000, "canvas": [36, 36], "digit": 14}

`digits` is a corpus of pictures and labels; `from` and `to` may cut a part out of it. The others are the
settings of `regard.data.scenes.digit_scenes.SceneSettings`. Columns are `image`, a caption in one of the
styles (short, long, detail, side, or these with _zh; `caption` is long), and, of that caption, `prompt` and
`boxes`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

from regard.data.formats.made_file import MadeFile
from regard.data.problems import CorpusError, Unusable
from regard.words import t

MANY = 10_000  # scenes that take a while
USUAL = {"caption": "long"}
STYLES = ("short", "long", "short_zh", "long_zh", "detail", "detail_zh", "side", "side_zh")


class SceneFile(MadeFile):
    """Its pictures are made, not read."""

    endings: ClassVar = (".scenes",)
    known: ClassVar = ("image", "prompt", "boxes", *USUAL, *STYLES)
    needs: ClassVar = frozenset({"digits", "count"})
    example: ClassVar = '{"digits": "digits:train", "count": 1000, "canvas": [64, 64], "digit": 28}'

    def beforehand(self, path: Path) -> str:
        said = self.said(path)
        count, digits = said["count"], said["digits"]
        if not isinstance(count, int) or count < MANY:
            return ""
        return t("composing {count} scenes of {digits}", count=f"{count:,}", digits=digits)

    def made(self, path: Path, columns: Sequence[str]) -> Iterator[list[Any]]:
        from regard.data.scenes.digit_scenes import SceneSettings, digit_scenes
        from regard.data.scenes.scene_captions import scene_caption

        said = self.said(path)
        part = slice(said.pop("from", None), said.pop("to", None))
        digits = said.pop("digits")
        settings = self.settings_of(path, said, SceneSettings)
        pictures, labels = digits_in(digits, path)
        named = [USUAL.get(name, name) for name in columns]
        style = next((name for name in named if name in STYLES), "long")
        for scene in digit_scenes(settings, pictures[part], labels[part]):
            caption = scene_caption(scene, style, settings)
            cells = {
                "image": scene.picture,
                style: caption.text,
                "prompt": caption.prompt,
                "boxes": caption.boxes,
            }
            yield [cells[name] for name in named]


def digits_in(spec: str, path: Path) -> tuple[list[Any], list[int]]:
    """All pictures and labels of the corpus that the digits are from."""
    from regard.data.rows import read_rows  # which reads all formats, and so this one
    from regard.data.spec import parse

    pictures, labels = [], []
    for corpus in parse(spec, ["image", "label"]):
        for _, cells in read_rows(corpus, ["image", "label"]):
            if not isinstance(cells, Unusable):
                pictures.append(cells[0])
                labels.append(int(cells[1]))
    if not pictures:
        raise CorpusError(t("{path}: there are no digits in {spec}", path=path, spec=repr(spec)))
    return pictures, labels
