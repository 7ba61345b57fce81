"""The embedded digits, from the four files of MNIST:

    python -m regard.data.corpora.build_digits FOLDER

One digit in ten of each file, told by its place, so that a part is like the whole; one in sixty between those
for training is for dev. Test is from MNIST's own test part, whose writers are others. Beside the labels stand
their names, in English and in Chinese.
"""

from __future__ import annotations

import lzma
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from regard.data.formats.idx import Idx

HERE = Path(__file__).parent / "digits"
FILES = {"train": "train", "dev": "train", "test": "t10k"}
PLACES = {"train": slice(0, None, 10), "dev": slice(5, None, 60), "test": slice(0, None, 10)}
NAMES = {
    "name": ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"],
    "name_zh": list("零一二三四五六七八九"),
}


def read(path: Path) -> NDArray[np.uint8]:
    """All rows of a file."""
    return np.array([cells[0] for _, cells in Idx().rows(path, [])], np.uint8)  # type: ignore[index]


def written(rows: NDArray[np.uint8]) -> bytes:
    """As idx has them: two zeros, 8 for bytes, the axes, their sizes, the numbers."""
    return bytes((0, 0, 8, rows.ndim)) + np.array(rows.shape, ">u4").tobytes() + rows.tobytes()


def write(target: Path, data: bytes) -> None:
    packed = lzma.compress(data, preset=9 | lzma.PRESET_EXTREME)
    target.write_bytes(packed)
    print(f"{target.name}: {len(packed):,} bytes")


def main(folder: Path) -> None:
    HERE.mkdir(exist_ok=True)
    for part, file in FILES.items():
        for column, name in (("image", "images-idx3"), ("label", "labels-idx1")):
            rows = read(folder / f"{file}-{name}-ubyte.gz")[PLACES[part]]
            write(HERE / f"digits.{part}.{column}.idx.xz", written(rows))
        for column, names in NAMES.items():
            lines = "".join(f"{names[label]}\n" for label in rows)
            write(HERE / f"digits.{part}.{column}.txt.xz", lines.encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
