"""Labels that are written in several ways, and read as one."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from contextlib import suppress

from regard.data.byte_lines import STANDARD_INPUT
from regard.data.fields import Field
from regard.data.fields.label import Label
from regard.data.problems import Unusable
from regard.data.rows import read_rows
from regard.data.spec import Corpus
from regard.words import t

SHOWN = 3  # ways to write a label that are named, and labels


def label_doubts(corpora: Iterable[Corpus], fields: Mapping[str, Field]) -> list[str]:
    """Of each label field, the labels that differ by blanks or by how a character is composed alone."""
    places = [place for place, field in enumerate(fields.values()) if isinstance(field, Label)]
    if not places:
        return []
    names = list(fields)
    written: dict[tuple[str, str], dict[str, None]] = {}
    for corpus in corpora:
        if any(file.name == STANDARD_INPUT for file in corpus.files):
            continue  # which is read once
        for _, cells in read_rows(corpus, names):
            if isinstance(cells, Unusable):
                continue
            for place in places:
                with suppress(Unusable, IndexError):
                    label = fields[names[place]].read(cells[place])
                    written.setdefault((names[place], label), {})[str(cells[place])] = None
    several = [(*key, list(ways)) for key, ways in written.items() if len(ways) > 1]
    return [
        t(
            "{field}: {ways} are read as one label, {label}",
            field=field,
            ways=_named(ways),
            label=repr(label),
        )
        for field, label, ways in several[:SHOWN]
    ]


def _named(ways: list[str]) -> str:
    composed = all(unicodedata.is_normalized("NFC", way) for way in ways)
    *first, last = [(repr if composed else ascii)(way) for way in ways[:SHOWN]]
    return t("{first} and {second}", first=", ".join(first), second=last)
