"""What is wrong with a corpus, counted, with the first line numbers of each kind."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import starmap

from regard.words import say_kept, t
from regard.words.one_value import of_line, of_value

SHOWN = 5  # line numbers kept of each kind
NO_TEXT = "lines without a text '{}'"  # of a value that is none


class CorpusError(ValueError):
    """What was given as a corpus cannot be read as one; `status`: it was asked wrongly."""

    status = 2
    hint = (
        "regard data check FILES says what is in a corpus of pairs (a.zh,a.en or pairs.tsv), with --task "
        "NAME of any other"
    )

    def __init__(self, message: str, hint: str = hint) -> None:
        super().__init__(message)
        self.hint = hint


def before_noun(name: str) -> str:
    """A field's name as it stands before "lines": a plural is quoted, since `words lines` is no English.

    >>> before_noun("source"), before_noun("words")
    ('source', "'words'")
    """
    return repr(name) if name.endswith("s") else name


def said_of_value(said: object, name: str) -> str:
    """What is said of lines, by an `Unusable`, of one value of a field; it may quote the value.

    >>> said_of_value("{}lines that are not numbers", "number")
    'number: not numbers'
    >>> said_of_value("{}lines with an animated picture", "image")
    'image: an animated picture'
    """
    if said_of_it := getattr(said, "of_value", ""):
        return t("{name}: {said}", name=name, said=said_of_it)
    kind = str(said)
    of_it = of_value(kind)
    return say_kept(of_it.replace("{}", name, 1)) if of_it != kind else kind


class Unusable(ValueError):
    """A row or a cell that cannot be used. `{}` in the words is its field's name, where there are several.

    of_value: what is said instead of the one value that was asked about.
    """

    def __init__(self, kind: str, of_value: str = "") -> None:
        super().__init__(kind)
        self.of_value = of_value


@dataclass
class Found:
    """One kind of problem: how many lines, and the numbers of the first."""

    count: int = 0
    first: list[int] = field(default_factory=list)


class Problems:
    """Counts by corpus and kind. A kind is its own words: "empty source lines".

    >>> problems = Problems()
    >>> for line in (7, 19, 200):
    ...     problems.add("a.zh,a.en", "empty source lines", line)
    >>> print(problems.report())
    a.zh,a.en: 3 empty source lines (7, 19, 200)
    """

    def __init__(self) -> None:
        self.found: dict[str, dict[str, Found]] = {}

    def add(self, corpus: str, kind: str, line: int) -> None:
        found = self.found.setdefault(corpus, {}).setdefault(kind, Found())
        found.count += 1
        if len(found.first) < SHOWN:
            found.first.append(line)

    def add_all(self, other: Problems) -> None:
        for corpus, kinds in other.found.items():
            for kind, theirs in kinds.items():
                found = self.found.setdefault(corpus, {}).setdefault(kind, Found())
                found.count += theirs.count
                found.first = [*found.first, *theirs.first][:SHOWN]

    def count(self, kind: str | None = None) -> int:
        """How many lines have this problem, or any."""
        return sum(
            found.count
            for kinds in self.found.values()
            for name, found in kinds.items()
            if kind in (None, name)
        )

    def lines(self, kind: str) -> list[int]:
        """The first line numbers of this kind, in all corpora."""
        return [n for kinds in self.found.values() for n in kinds.get(kind, Found()).first]

    def __bool__(self) -> bool:
        return bool(self.found)

    def report(self) -> str:
        """One line for each corpus that has problems; empty when all is well."""
        return "\n".join(
            t("{name}: {said}", name=corpus, said=t(", ").join(starmap(_words, kinds.items())))
            for corpus, kinds in self.found.items()
        )

    def to_json(self) -> dict[str, dict[str, list[int]]]:
        return {
            corpus: {kind: [found.count, *found.first] for kind, found in kinds.items()}
            for corpus, kinds in self.found.items()
        }

    @classmethod
    def from_json(cls, data: dict[str, dict[str, list[int]]]) -> Problems:
        problems = cls()
        problems.found = {
            corpus: {kind: Found(count, first) for kind, (count, *first) in kinds.items()}
            for corpus, kinds in data.items()
        }
        return problems


def _words(kind: str, found: Found) -> str:
    name = say_kept(kind)
    if found.count == 1 and name == kind:
        name = of_line(kind)
    more = ", …" if found.count > len(found.first) else ""
    lines = ", ".join(map(str, found.first)) + more
    return t("{count} {kind} ({lines})", count=f"{found.count:,}", kind=name, lines=lines)
