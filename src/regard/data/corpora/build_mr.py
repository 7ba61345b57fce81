"""Make the embedded movie reviews (MR) from the file of github.com/harvardnlp/sent-conv-torch.

    python -m regard.data.corpora.build_mr rt-polarity.all.xz

A line of that file, in Latin-1, is the label (0 or 1), a space and the sentence. Sentences that are the
same but for case, spaces and punctuation go to the same part, so nothing in dev or test was seen in
training.
"""

from __future__ import annotations

import hashlib
import lzma
import sys
from pathlib import Path

from regard.data.byte_lines import byte_lines
from regard.data.corpora.build_tatoeba import bare

NAME = "mr"
LABELS = {"0": "negative", "1": "positive"}
HELD_OUT = {0: "dev", 1: "test"}  # of ten; the rest is train


def read(path: Path) -> list[tuple[str, str]]:
    """Sentences and labels, each pair once."""
    rows: dict[tuple[str, str], None] = {}
    for line in byte_lines(path):
        assert line is not None
        label, _, text = line.decode("latin-1").partition(" ")
        rows[" ".join(text.split()), LABELS[label]] = None
    return list(rows)


def part(text: str) -> str:
    """By a hash of the sentence: stable whatever the order."""
    digest = hashlib.md5(bare(text).encode(), usedforsecurity=False).hexdigest()
    return HELD_OUT.get(int(digest, 16) % 10, "train")


def write(rows: list[tuple[str, str]], folder: Path) -> None:
    for name in ("train", *HELD_OUT.values()):
        mine = [row for row in rows if part(row[0]) == name]
        data = "".join("\t".join(row) + "\n" for row in mine).encode("utf-8")
        path = folder / f"{NAME}.{name}.tsv.xz"
        path.write_bytes(lzma.compress(data, preset=9 | lzma.PRESET_EXTREME))
        positive = sum(label == "positive" for _, label in mine)
        print(f"{path.name}: {len(mine):,} sentences, {positive:,} positive, {len(data):,} bytes")


if __name__ == "__main__":
    write(read(Path(sys.argv[1])), Path(__file__).parent)
