"""Make the embedded Tatoeba zh-en corpus from the file of manythings.org/anki.

    python -m regard.data.corpora.build_tatoeba cmn-simplified.txt.xz

The file has English, Chinese and attribution in three columns, the Chinese already in simplified
characters. It is split by group: sentences that share a source or a target, but for case, spaces
and punctuation, go to the same part, so nothing in dev or test was seen in training.
"""

from __future__ import annotations

import hashlib
import lzma
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from regard.data.byte_lines import byte_lines

NAME = "tatoeba-zh-en"
PER_CENT = {"dev": 3, "test": 3}  # of the groups; the rest is train


class Row(NamedTuple):
    chinese: str
    english: str
    attribution: str


def bare(text: str) -> str:
    """Lower case, letters and digits only."""
    return "".join(c for c in text.lower() if c.isalnum())


def read(path: Path) -> list[Row]:
    """The rows, each pair once."""
    rows: dict[tuple[str, str], Row] = {}
    for line in byte_lines(path):
        assert line is not None
        english, chinese, attribution = line.decode("utf-8").split("\t")
        rows.setdefault((chinese, english), Row(chinese, english, attribution))
    return list(rows.values())


def groups(rows: list[Row]) -> Iterator[str]:
    """For each row the name of its group: the least of the bare sentences in it (union-find)."""
    parent: dict[str, str] = {}

    def root(node: str) -> str:
        parent.setdefault(node, node)
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for row in rows:
        low, high = sorted((root(f"zh {bare(row.chinese)}"), root(f"en {bare(row.english)}")))
        parent[high] = low
    return (root(f"zh {bare(row.chinese)}") for row in rows)


def part(group: str) -> str:
    """By a hash of the group's name: stable when the corpus grows."""
    place = int(hashlib.md5(group.encode(), usedforsecurity=False).hexdigest(), 16) % 100
    for name, per_cent in PER_CENT.items():
        if place < per_cent:
            return name
        place -= per_cent
    return "train"


def split(rows: list[Row]) -> dict[str, list[Row]]:
    """Train, dev and test, in the order of the file; no source twice in dev or in test."""
    parts: dict[str, list[Row]] = {"train": [], **{name: [] for name in PER_CENT}}
    seen: set[str] = set()
    for row, group in zip(rows, groups(rows), strict=True):
        name = part(group)
        if name == "train" or bare(row.chinese) not in seen:
            parts[name].append(row)
        seen.add(bare(row.chinese))
    return parts


def write(parts: dict[str, list[Row]], folder: Path) -> None:
    for name, rows in parts.items():
        text = "".join("\t".join(row) + "\n" for row in rows)
        path = folder / f"{NAME}.{name}.tsv.xz"
        path.write_bytes(lzma.compress(text.encode("utf-8"), preset=9 | lzma.PRESET_EXTREME))
        print(f"{path.name}: {len(rows):,} pairs, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    write(split(read(Path(sys.argv[1]))), Path(__file__).parent)
