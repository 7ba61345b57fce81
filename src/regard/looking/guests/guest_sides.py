"""What the tokens, patches and frames of a model stand for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from regard.looking.token_text import side_of_cut, side_of_ids
from regard.records.side import Picture, Side, cell_names
from regard.words import t

MOST_FRAMES = 256  # rows and columns of a sound; more of them are drawn together


def pair_side(tokenizer: Any, inputs: Any, texts: Sequence[str], title: str) -> Side:
    """Two texts that are read together, with the part that each token is of."""
    ids = inputs["input_ids"][0].tolist()
    first, second = texts
    whole, after = f"{first}\n{second}", len(first) + 1
    if tokenizer.is_fast:
        cut = tokenizer(first, second, return_offsets_mapping=True)
        parts = [-1 if part is None else int(part) for part in cut.sequence_ids(0)]
        offsets = [
            (a + after, b + after) if part == 1 else (a, b)
            for (a, b), part in zip(cut["offset_mapping"], parts, strict=True)
        ]
        return side_of_cut(tokenizer, ids, whole, offsets, title=title, parts=parts)
    kinds = inputs.get("token_type_ids")
    side = side_of_ids(tokenizer, ids, title=title)
    places = [0] * len(ids) if kinds is None else kinds[0].tolist()
    if kinds is None:  # it has no sign for them: the first is as long as it is alone
        begins = len(tokenizer(first, add_special_tokens=False)["input_ids"])
        seen = 0
        for place, mark in enumerate(side.special):
            places[place] = int(seen >= begins)
            seen += not mark
    parts = [-1 if mark else min(part, 1) for part, mark in zip(places, side.special, strict=True)]
    return Side.of(
        side.text,
        side.tokens,
        side.offsets,
        special=side.special,
        words=side.words,
        title=title,
        parts=parts,
    )


def picture_side(source: str, pixels: Sequence[int], config: Any, tokens: int, title: str) -> Side:
    """Patches on their picture, with the tokens beside them: those before are [CLS] and registers.

    pixels: height and width of what the model was given. Where patches cannot be laid on a grid, they
    are counted.
    """
    grid = _grid(config, pixels, tokens)
    if grid is None:
        return Side.of_labels(range(1, tokens + 1), title=title)
    rows, columns = grid
    behind = int(getattr(config, "num_detection_tokens", 0) or 0)
    before = tokens - rows * columns - behind
    cells = cell_names(rows, columns)
    registers = (t("register {n}", n=n) for n in range(1, before))
    names = ["[CLS]", *registers][:before]
    labels = [*names, *cells, *(t("detection {n}", n=n + 1) for n in range(behind))]
    marks = [True] * before + [False] * len(cells) + [True] * behind
    return Side.of(
        "",
        labels,
        [(0, 0)] * tokens,
        special=marks,
        words=range(tokens),
        title=title,
        picture=Picture(source, rows, columns),
    )


def _grid(config: Any, pixels: Sequence[int], tokens: int) -> tuple[int, int] | None:
    size = getattr(config, "patch_size", None)
    if size is None:
        return None
    high, wide = (size, size) if isinstance(size, int) else (int(size[-2]), int(size[-1]))
    rows, columns = pixels[0] // high, pixels[1] // wide
    return (rows, columns) if 0 < rows * columns <= tokens else None


def sound_side(seconds: float, frames: int, size: int, title: str) -> Side:
    """Every `size` frames as one, named by where it begins."""
    each = seconds / frames * size
    digits = 2 if each < 0.1 else 1
    labels = [f"{n * each:.{digits}f} s" for n in range(math.ceil(frames / size))]
    return Side.of_labels(labels, title=title)


def frame_size(frames: int) -> int:
    """How many frames share a row."""
    return math.ceil(frames / MOST_FRAMES)


def vision_config(model: Any) -> Any:
    """Of what reads pictures in a model that reads texts too."""
    config = model.config
    for name in ("vision_config", "encoder"):
        inner = getattr(config, name, None)
        if inner is not None and hasattr(inner, "patch_size"):
            return inner
    return config


def of_labels(labels: Mapping[int, str], count: int) -> list[str]:
    """What the answers of a classifier are called."""
    return [str(labels.get(n, n)) for n in range(count)]
