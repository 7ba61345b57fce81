"""The embedded stories of bAbI, from the files of its first task:

    python -m regard.data.corpora.build_babi en-10k/qa1_single-supporting-fact_{train,test}.txt

One story in ten of the training file, told by its place, is for dev. Nothing else is changed.
"""

from __future__ import annotations

import lzma
import sys
from collections.abc import Iterator
from pathlib import Path

ONE_IN = 10
HERE = Path(__file__).parent / "babi"


def stories(path: str) -> Iterator[str]:
    """The lines of each story: a line with the number 1 begins one."""
    lines: list[str] = []
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        if line.startswith("1 ") and lines:
            yield "".join(lines)
            lines = []
        lines.append(line + "\n")
    yield "".join(lines)


def main(train: str, test: str) -> None:
    every = list(stories(train))
    parts = {
        "train": [story for place, story in enumerate(every) if place % ONE_IN],
        "dev": every[::ONE_IN],
        "test": list(stories(test)),
    }
    for part, found in parts.items():
        target = HERE / f"babi.{part}.babi.xz"
        text = "".join(found)
        target.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
        print(f"{target.name}: {len(found):,} stories, {text.count(chr(9)) // 2:,} questions")


if __name__ == "__main__":
    main(*sys.argv[1:])
