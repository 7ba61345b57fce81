"""A scene file: settings of scenes that are composed of digits when they are read, in JSON.

    {"digits": "digits:train", "count": 3000, "canvas": [36, 36], "digit": 14}

`digits` is a corpus of pictures and labels; `from` and `to` may cut a part out of it. The others are the
settings of `regard.data.scenes.digit_scenes.SceneSettings`. Columns are `image`, a caption in one of the
styles (short, long, detail, side, or these with _zh; `caption` is long), and, of that caption, `prompt` and
`boxes`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, ClassVar

from regard.data.byte_lines import open_bytes
from regard.data.formats.format import Format, Row
from regard.data.problems import CorpusError, Unusable
from regard.suggestions import meant
from regard.words import t

MANY = 10_000  # scenes that take a while
USUAL = {"caption": "long"}
STYLES = ("short", "long", "short_zh", "long_zh", "detail", "detail_zh", "side", "side_zh")
KNOWN = ("image", "prompt", "boxes", *USUAL, *STYLES)


class SceneFile(Format):
    """Its pictures are made, not read."""

    endings: ClassVar = (".scenes",)

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
            if name not in KNOWN:
                raise CorpusError(
                    t(
                        "'{text}' has no column {name}.{meant} It has {known}",
                        text=text,
                        name=repr(name),
                        meant=meant(name, KNOWN),
                        known=", ".join(KNOWN),
                    )
                )
        return names

    def beforehand(self, path: Path) -> str:
        said = scene_settings(path)
        count, digits = said["count"], said["digits"]
        if not isinstance(count, int) or count < MANY:
            return ""
        return t("composing {count} scenes of {digits}", count=f"{count:,}", digits=digits)

    def rows(self, path: Path, columns: Sequence[str]) -> Iterator[Row]:
        from regard.data.scenes.digit_scenes import SceneSettings, digit_scenes
        from regard.data.scenes.scene_captions import scene_caption

        named = [USUAL.get(name, name) for name in columns]
        style = next((name for name in named if name in STYLES), "long")
        said = scene_settings(path)
        part = slice(said.pop("from", None), said.pop("to", None))
        pictures, labels = digits_in(said.pop("digits", ""), path)
        unknown = said.keys() - {field.name for field in fields(SceneSettings)}
        if unknown:
            raise CorpusError(
                t(
                    "{path}: there is no setting {unknown} of scenes",
                    path=path,
                    unknown=repr(sorted(unknown)[0]),
                )
            )
        try:
            given: dict[str, Any] = {
                name: tuple(v) if isinstance(v, list) else v for name, v in said.items()
            }
            settings = SceneSettings(**given)
            for number, scene in enumerate(
                digit_scenes(settings, pictures[part], labels[part]), start=1
            ):
                caption = scene_caption(scene, style, settings)
                cells = {
                    "image": scene.picture,
                    style: caption.text,
                    "prompt": caption.prompt,
                    "boxes": caption.boxes,
                }
                yield number, [cells[name] for name in named]
        except (ValueError, TypeError) as error:
            raise CorpusError(f"{path}: {error}") from None


def scene_settings(path: Path) -> dict[str, Any]:
    """What a scene file says, with its digits and its count at least."""
    with open_bytes(path) as stream:
        data = stream.read(1 << 16)
    try:
        said = json.loads(data)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict) or "digits" not in said or "count" not in said:
        raise CorpusError(
            t(
                '{path} is no scene file: it is JSON, as {"digits": "digits:train", "count": '
                '1000, "canvas": [64, 64], "digit": 28}',
                path=path,
            )
        )
    return said


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
