"""Make long captions of scenes of digits, and short ones: generated, from a seed.

    python -m regard.data.corpora.build_scene_captions

A scene has two to five digits, each of a size, a colour, a place and a painter; no two are equally large. The
long caption tells of all of them, in any order. The short one tells of the largest alone, who painted it, and
how many others there are: what to say must be found, and the painter is a name that is seldom seen twice.
"""

from __future__ import annotations

import lzma
import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

NAME = "scene-captions"
PARTS = {"train": 6_000, "dev": 500, "test": 500}
SIZES = ("tiny", "small", "large", "huge", "gigantic")
COLOURS = ("red", "green", "blue", "yellow", "purple", "orange", "black", "white")
DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
PLACES = (
    "at the top",
    "at the bottom",
    "on the left",
    "on the right",
    "in the middle",
    "in the upper left corner",
    "in the lower right corner",
)
OTHERS = {1: "another one", 2: "two others", 3: "three others", 4: "four others"}
FORMS = (
    "{place} there is a {size} {colour} {digit}, painted by {painter}.",
    "{painter} has painted a {size} {colour} {digit} {place}.",
    "a {size} {digit} in {colour} by {painter} stands {place}.",
    "the {colour} {digit} {place} is {size}, and its painter is {painter}.",
)
ONSETS = ("b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "ch", "st")
VOWELS = ("a", "e", "i", "o", "u", "ai")


class Digit(NamedTuple):
    size: str
    colour: str
    digit: str
    place: str
    painter: str


def scene(draw: random.Random) -> list[Digit]:
    count = draw.randint(2, 5)
    sizes, places = draw.sample(SIZES, count), draw.sample(PLACES, count)
    return [
        Digit(size, draw.choice(COLOURS), draw.choice(DIGITS), place, _name(draw))
        for size, place in zip(sizes, places, strict=True)
    ]


def long_caption(digits: list[Digit], draw: random.Random) -> str:
    sentences = (draw.choice(FORMS).format(**digit._asdict()) for digit in digits)
    return " ".join(sentence[0].upper() + sentence[1:] for sentence in sentences)


def short_caption(digits: list[Digit]) -> str:
    most = max(digits, key=lambda digit: SIZES.index(digit.size))
    article = "An" if most.colour[0] in VOWELS else "A"
    return f"{article} {most.colour} {most.digit} by {most.painter} and {OTHERS[len(digits) - 1]}"


def captions(seed: str) -> Iterator[tuple[str, str]]:
    """Long and short, without end."""
    draw = random.Random(seed)
    while True:
        digits = scene(draw)
        yield long_caption(digits, draw), short_caption(digits)


def _name(draw: random.Random) -> str:
    syllables = (draw.choice(ONSETS) + draw.choice(VOWELS) for _ in range(3))
    return "".join(syllables).capitalize()


def write(folder: Path) -> None:
    for part, count in PARTS.items():
        pairs = zip(captions(part), range(count), strict=False)
        text = "".join("\t".join(pair) + "\n" for pair, _ in pairs)
        path = folder / f"{NAME}.{part}.tsv.xz"
        path.write_bytes(lzma.compress(text.encode("utf-8"), preset=9 | lzma.PRESET_EXTREME))
        print(f"{path.name}: {count:,} pairs, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    write(Path(__file__).parent / NAME)
