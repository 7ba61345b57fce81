"""The embedded icons and emoji, from sheets or arrays of pictures and their names:

    python -m regard.data.corpora.build_icons icons FOLDER    # {train,dev,test}.{png,txt}: 48 x 48, 64 a row
    python -m regard.data.corpora.build_icons emoji FOLDER    # twemoji-32x32-rgb.npy.xz, captions.tsv.xz

Parts are told by a hash of the family of a name: names that differ by a frame, an outline or, of people, by
who it is, are one family, and stay together.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).parent
PARTS = ("train", "dev", "test")
ACROSS = 64  # tiles in a row of a sheet
FRAMES = {"outline", "variant", "box", "circle", "square", "rounded", "thin"}
PEOPLE = re.compile(r"\b(man|woman|person|men|women|people|boy|girl|child|mr?s|mx|mother|father)\b")
ONE_IN = {"icons": 20, "emoji": 10}  # families are for dev, and one for test


class SheetPicture(NamedTuple):
    pixels: NDArray[np.uint8]  # (H, W) or (H, W, 3)
    names: dict[str, str]  # by column
    family: str


def icons(folder: Path) -> Iterable[SheetPicture]:
    from PIL import Image

    for part in PARTS:
        sheet = np.asarray(Image.open(folder / f"{part}.png").convert("L"))
        for number, name in enumerate((folder / f"{part}.txt").read_text("utf-8").splitlines()):
            row, column = divmod(number, ACROSS)
            pixels = sheet[48 * row : 48 * row + 48, 48 * column : 48 * column + 48]
            words = [word for word in name.split() if word not in FRAMES]
            yield SheetPicture(pixels, {"caption": name}, " ".join(words) or name)


def emoji(folder: Path) -> Iterable[SheetPicture]:
    """Without flags, of which nobody can tell a name that was not learnt, and without skin tones."""
    with lzma.open(folder / "twemoji-32x32-rgb.npy.xz") as file:
        pictures = np.load(file)
    with lzma.open(folder / "captions.tsv.xz", "rt", encoding="utf-8") as file:
        head, *rows = (line.rstrip("\n").split("\t") for line in file)
    for pixels, row in zip(pictures, rows, strict=True):
        said: dict[str, Any] = dict(zip(head, row, strict=True))
        if said["skin_variant"] == "0" and said["category"] not in ("Flags", "Component"):
            names = {"caption": said["name_en"], "caption_zh": said["name_zh"]}
            family = " ".join(PEOPLE.sub("", said["name_en"].lower()).split())
            yield SheetPicture(pixels, names, family or said["name_en"])


def part_of(family: str, one_in: int) -> str:
    digest = hashlib.blake2b(family.encode(), digest_size=8).digest()
    return {0: "dev", 1: "test"}.get(int.from_bytes(digest, "big") % one_in, "train")


def write(corpus: str, part: str, found: Sequence[SheetPicture]) -> None:
    from PIL import Image

    high, wide, *colours = found[0].pixels.shape
    rows = -(-len(found) // ACROSS)
    sheet = np.zeros((rows * high, ACROSS * wide, *colours), np.uint8)
    for number, one in enumerate(found):
        row, column = divmod(number, ACROSS)
        sheet[row * high : row * high + high, column * wide : column * wide + wide] = one.pixels
    stem = HERE / corpus / f"{corpus}.{part}"
    Image.fromarray(sheet).save(f"{stem}.image.png", optimize=True)
    said = {"tile": [wide, high], "count": len(found)}
    Path(f"{stem}.image.json").write_text(json.dumps(said) + "\n")
    for name in found[0].names:
        text = "".join(f"{one.names[name]}\n" for one in found)
        packed = lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME)
        Path(f"{stem}.{name}.txt.xz").write_bytes(packed)
    print(f"{stem.name}: {len(found):,} pictures")


def main(corpus: str, folder: Path) -> None:
    (HERE / corpus).mkdir(exist_ok=True)
    every = sorted({"icons": icons, "emoji": emoji}[corpus](folder), key=lambda one: one.family)
    for part in PARTS:
        write(corpus, part, [one for one in every if part_of(one.family, ONE_IN[corpus]) == part])


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
