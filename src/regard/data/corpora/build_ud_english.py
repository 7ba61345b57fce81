"""The embedded sample of the English Web Treebank, from its files:

    python -m regard.data.corpora.build_ud_english en_ewt-ud-{train,dev,test}.conllu.xz

Whole documents, told by a hash of their names: one in four of each part. Of the ten columns the word, its
universal and its own part of speech are kept; comments but sent_id, ranges and empty nodes are left out.
"""

from __future__ import annotations

import hashlib
import lzma
import sys
from collections.abc import Iterator
from pathlib import Path

ONE_IN = 4
HERE = Path(__file__).parent / "ud-english"


def sentences(path: str) -> Iterator[list[str]]:
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for block in file.read().split("\n\n"):
            if block.strip():
                yield block.strip().split("\n")


def chosen(name: str) -> bool:
    """By the document of a sentence: `weblog-a.com_b-0001` is of `weblog-a.com_b`."""
    document = name.rpartition("-")[0]
    digest = hashlib.blake2b(document.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % ONE_IN == 0


def slim(lines: list[str]) -> tuple[str, list[str]]:
    """The name of a sentence, and its lines."""
    name = next(line.partition("= ")[2] for line in lines if line.startswith("# sent_id"))
    kept = [f"# sent_id = {name}"]
    for line in lines:
        number, form, _, upos, xpos, *_ = (*line.split("\t"), *[""] * 5)
        if number.isdecimal():
            kept.append("\t".join([number, form, "_", upos, xpos, *["_"] * 5]))
    return name, kept


def main(paths: list[str]) -> None:
    for path, part in zip(paths, ("train", "dev", "test"), strict=True):
        found = [lines for name, lines in map(slim, sentences(path)) if chosen(name)]
        text = "".join("\n".join(lines) + "\n\n" for lines in found)
        target = HERE / f"ud-english.{part}.conllu.xz"
        target.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
        words = sum(len(lines) - 1 for lines in found)
        print(f"{target.name}: {len(found):,} sentences, {words:,} words")


if __name__ == "__main__":
    main(sys.argv[1:])
