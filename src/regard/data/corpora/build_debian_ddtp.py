"""Make documents and sentences of Debian's translated descriptions, split by families of packages.

    python -m regard.data.corpora.build_debian_ddtp en-fr.tsv.xz TO

The file has lines of package, English and translation: the paragraphs of a description, in the order of the
file. TO gets two views of the same packages, each as English and translation:

    documents.train.tsv, .dev.tsv, .test.tsv      all paragraphs of a package, in one line
    sentences.train.tsv, .dev.tsv                 their sentences, a line each

Sentences are paired in order where a paragraph has as many on both sides; any other paragraph is one line.
Packages whose names or descriptions begin alike are in one part: see `build_debian_summaries`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from regard.data.byte_lines import byte_lines
from regard.data.corpora.build_debian_summaries import Package, families
from regard.data.corpora.build_tatoeba import part
from regard.data.sentences import sentence_places


class Translated(NamedTuple):
    english: str
    translation: str


class Described(NamedTuple):
    name: str
    paragraphs: list[Translated]

    @property
    def document(self) -> Translated:
        english, translation = zip(*self.paragraphs, strict=True)
        return Translated(" ".join(english), " ".join(translation))


def read(path: Path) -> Iterator[Described]:
    """The packages, each with its paragraphs; of equal descriptions the first package is kept."""
    lines = (line.decode("utf-8").rstrip("\n") for line in byte_lines(path) if line is not None)
    rows = (line.split("\t") for line in lines)
    seen: set[Translated] = set()
    for name, several in groupby(rows, key=lambda row: row[0]):
        pairs = [Translated(*(" ".join(text.split()) for text in row[1:3])) for row in several]
        found = Described(name, [pair for pair in pairs if all(pair)])
        if found.paragraphs and found.document not in seen:
            seen.add(found.document)
            yield found


def sentences(paragraph: Translated) -> Iterator[Translated]:
    """Its sentences in pairs, or all of it where there are more on one side."""
    sides = [[text[start:end] for start, end in sentence_places(text)] for text in paragraph]
    if len(sides[0]) == len(sides[1]):
        yield from map(Translated, *sides)
    else:
        yield paragraph


def split(packages: Sequence[Described]) -> dict[str, list[Described]]:
    """Train, dev and test, in the order of the file; of a family, dev and test have one package."""
    parts: dict[str, list[Described]] = {"train": [], "dev": [], "test": []}
    seen: set[str] = set()
    named = [Package(each.name, each.document.english, each.name) for each in packages]
    for package, family in zip(packages, families(named), strict=True):
        name = part(family)
        if name == "train" or family not in seen:
            parts[name].append(package)
        seen.add(family)
    return parts


def write(parts: dict[str, list[Described]], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, packages in parts.items():
        views = {"documents": [package.document for package in packages]}
        if name != "test":
            views["sentences"] = [
                pair
                for package in packages
                for each in package.paragraphs
                for pair in sentences(each)
            ]
        for view, pairs in views.items():
            lines = "".join(f"{pair.english}\t{pair.translation}\n" for pair in pairs)
            (folder / f"{view}.{name}.tsv").write_text(lines, encoding="utf-8")
            print(f"{view}.{name}.tsv: {len(pairs):,} pairs")


if __name__ == "__main__":
    write(split(list(read(Path(sys.argv[1])))), Path(sys.argv[2]))
