"""Texts without a translation, line by line: for language models.

What cannot be used is counted in `Problems` and left out. Held out (`@dev`, `@test`) are, of the
column of a table, single lines, told by their text as with pairs; of a plain text, where a line goes
on from the one before, stretches of lines: of fifty stretches one is for @dev and one for @test.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from regard.data.lines import byte_lines
from regard.data.problems import Problems
from regard.data.spec import Corpus, Spec, parse_texts
from regard.data.text import HELD_OUT, LONGEST, ONE_IN, UnusableError, cells, decoded, home

STRETCH = 10  # lines
PLACES = {ONE_IN // 2 - 1: "dev", ONE_IN - 1: "test"}  # of the stretches that are held out


class Text(NamedTuple):
    """One text, with the number (from 1) of the line it stands on."""

    line: int
    text: str
    corpus: str = ""  # its name in the spec


def read_texts(
    spec: Spec, problems: Problems | None = None, *, blank: bool = False
) -> Iterator[Text]:
    """The texts of a corpus, in order. blank: empty lines are texts too, as in running text."""
    problems = Problems() if problems is None else problems
    for corpus in parse_texts(spec):
        yield from read_corpus(corpus, problems, blank=blank)


def read_corpus(corpus: Corpus, problems: Problems, *, blank: bool = False) -> Iterator[Text]:
    mine = (t for t in _usable(corpus, problems, blank) if corpus.part in (None, _home(corpus, t)))
    return islice(mine, HELD_OUT) if corpus.part in ("dev", "test") else mine


def _home(corpus: Corpus, text: Text) -> str:
    if corpus.columns:
        return home(text.text)
    return PLACES.get((text.line - 1) // STRETCH % ONE_IN, "train")


def _usable(corpus: Corpus, problems: Problems, blank: bool) -> Iterator[Text]:
    for number, raw in enumerate(byte_lines(corpus.files[0], longest=LONGEST), start=1):
        try:
            line = decoded(raw, "")
            text = cells(corpus, line)[0] if corpus.columns else line
            if not text.strip() and not blank:
                raise UnusableError("empty lines")
        except UnusableError as trouble:
            problems.add(corpus.name, str(trouble), number)
        else:
            yield Text(number, text, corpus.name)
