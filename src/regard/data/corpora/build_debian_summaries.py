"""Make pairs of a long description and a synopsis of Debian's packages, split by families of packages.

    python -m regard.data.corpora.build_debian_summaries bookworm.jsonl.xz TO

The file has a line {"package": …, "synopsis": …, "description": …} for each package, as they stand in
i18n/Translation-en of Debian main; TO gets train.tsv, dev.tsv and test.tsv: description, synopsis.

Packages are often told of in nearly the same words: libfoo1, libfoo-dev and foo-doc, or a compiler for each
machine. Those that share the beginning of their name, of their description or of their synopsis, directly or
over others, are one family, and a family is in one part; of a family, dev and test have one package.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from regard.data.byte_lines import byte_lines
from regard.data.corpora.build_tatoeba import bare, part

LEAST = 20  # words of a description: below, there is little to leave out
BEGINNING = 8  # words of a description that packages of one family share
# names that begin so have only their language in common
LANGUAGES = re.compile(
    r"(?:lib)?(?:python3?|golang|r-cran|r-bioc|r-other|ruby|node|lua|elpa|php|haskell|ghc|ocaml|rust|js|texlive"
    r"|fonts|task|education|gir1\.2|librust|libghc|libjs|cl|erlang|octave|puppet-module|hunspell|aspell|myspell"
    r"|language|libreoffice|gnome|kde|xfce4|linux|gcc|g\+\+|cpp|gdb|binutils|postgresql|apache2|vim|emacs)-"
)


class Package(NamedTuple):
    name: str
    description: str
    synopsis: str


def read(path: Path) -> Iterator[Package]:
    """Those whose description is long enough, each pair once, in one line."""
    seen: set[tuple[str, str]] = set()
    for line in byte_lines(path):
        assert line is not None
        given = json.loads(line)
        description, synopsis = (" ".join(given[k].split()) for k in ("description", "synopsis"))
        if len(description.split()) >= LEAST and synopsis and (description, synopsis) not in seen:
            seen.add((description, synopsis))
            yield Package(given["package"], description, synopsis)


def ties(package: Package) -> list[str]:
    """What the members of a family share."""
    name = package.name
    if (language := LANGUAGES.match(name)) is None:
        stem = re.split(r"[-\d.+]", name.removeprefix("lib"))[0] or name
    else:
        stem = language.group() + name[language.end() :].split("-")[0]
    beginning = " ".join(package.description.lower().split()[:BEGINNING])
    plain = re.sub(r"\(.*?\)| - .*|: .*", "", package.synopsis)
    return [f"name {stem}", f"text {beginning}", f"line {bare(plain) or package.synopsis}"]


def families(packages: Sequence[Package]) -> list[str]:
    """For each package the name of its family: the least that ties it (union-find)."""
    parent: dict[str, str] = {}

    def root(node: str) -> str:
        parent.setdefault(node, node)
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for package in packages:
        first, *others = map(root, ties(package))
        for other in others:
            low, high = sorted((root(first), root(other)))
            parent[high] = low
    return [root(ties(package)[0]) for package in packages]


def split(packages: Sequence[Package]) -> dict[str, list[Package]]:
    """Train, dev and test, in the order of the file."""
    parts: dict[str, list[Package]] = {"train": [], "dev": [], "test": []}
    seen: set[str] = set()
    for package, family in zip(packages, families(packages), strict=True):
        name = part(family)
        if name == "train" or family not in seen:
            parts[name].append(package)
        seen.add(family)
    return parts


def write(parts: dict[str, list[Package]], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, packages in parts.items():
        lines = (f"{each.description}\t{each.synopsis}\n" for each in packages)
        (folder / f"{name}.tsv").write_text("".join(lines), encoding="utf-8")
        print(f"{name}.tsv: {len(packages):,} pairs")


if __name__ == "__main__":
    write(split(list(read(Path(sys.argv[1])))), Path(sys.argv[2]))
