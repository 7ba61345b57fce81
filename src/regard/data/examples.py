"""The examples of a corpus, in the fields of a task: read, checked, split.

What cannot be used is counted in `Problems` and left out. spec.py says how a corpus is named, rows.py how
its files are read. Nothing holds more than a row of each file in memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from regard.data.byte_lines import STANDARD_INPUT
from regard.data.fields import Field, Image, Numbers, Text, Unusable
from regard.data.fields.label import LabelSet
from regard.data.formats import Kin
from regard.data.parts import FEW, MANY, home, home_of_line, homes, homes_of_kinds
from regard.data.problems import Problems, before_noun
from regard.data.rows import read_rows
from regard.data.spec import Corpus, Spec, parse, stamp_of
from regard.scripts import stands_close
from regard.words import t

HELD_OUT = 1_000  # examples of @dev and of @test are used, at most
MOST_KEPT = 4  # sets of these
_TOLD = (str, int, float, bool, tuple, dict, type(None))
_KEPT: dict[str, tuple[Sequence[Example], Problems]] = {}


@dataclass(frozen=True, slots=True)
class Example(Mapping[str, Any]):
    """A value for each field, with the number (from 1) of the line they stand on."""

    line: int
    fields: Mapping[str, Any]
    corpus: str = ""  # its name in the spec
    family: str = ""  # which a split keeps together

    def __getitem__(self, name: str) -> Any:
        return self.fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)


class Pair(NamedTuple):
    """A sentence and its translation."""

    line: int
    source: str
    target: str
    corpus: str = ""


def read_pairs(spec: Spec, problems: Problems | None = None, *, join: int = 1) -> Iterator[Pair]:
    """The pairs of a corpus, in order, as a translator is trained on them."""
    sides = (Text("source"), Text("target"))
    for found in read_examples(spec, sides, problems, apart=("target",), join=join):
        yield Pair(found.line, found["source"], found["target"], found.corpus)


def read_examples(
    spec: Spec,
    fields: Sequence[Field],
    problems: Problems | None = None,
    *,
    apart: Sequence[str] = (),
    join: int = 1,
) -> Iterator[Example]:
    """The examples of a corpus, in order.

    A split into @train, @dev and @test is told by the first field, whatever the order of the corpus, or by
    the family of a row, where its format has one.
    apart: further fields whose held-out values are not in @train. join: see `joined`.
    """
    problems = Problems() if problems is None else problems
    for number, corpus in enumerate(parse(spec, [field.name for field in fields])):
        examples = read_corpus(corpus, fields, problems, apart=apart)
        yield from examples if join == 1 else joined(examples, join, fields, seed=number)


def read_in_step(
    spec: Spec, fields: Sequence[Field], problems: Problems
) -> Iterator[Example | None]:
    """As `read_examples`, with None for every row that cannot be used; of a split, it is in no part."""
    for corpus in parse(spec, [field.name for field in fields]):
        if corpus.part is None:
            yield from _rows(corpus, fields, problems)
        else:
            yield from read_corpus(corpus, fields, problems)


def read_values(
    fields: Sequence[Field], cells: Sequence[Any], folder: Path | None = None
) -> dict[str, Any]:
    """The values of an example, by field, which fit together; Unusable says why there are none."""
    values: dict[str, Any] = {}
    for field, cell in zip(fields, cells, strict=True):
        try:
            values[field.name] = field.read(cell, folder)
        except Unusable as trouble:
            raise _said(trouble, field, fields) from None
    for field in fields:
        try:
            values[field.name] = field.check(values)
        except Unusable as trouble:
            raise _said(trouble, field, fields) from None
    return values


def _said(trouble: Unusable, field: Field, fields: Sequence[Field]) -> Unusable:
    """With the name of the field, where there are several."""
    quoted = "'{}'" in str(trouble)
    said = field.name if quoted else "" if len(fields) == 1 else f"{before_noun(field.name)} "
    return Unusable(str(trouble).replace("{}", said))


def read_corpus(
    corpus: Corpus, fields: Sequence[Field], problems: Problems, *, apart: Sequence[str] = ()
) -> Iterator[Example]:
    """What belongs to this part of a corpus, so that nothing in @dev or @test is seen in @train."""
    mine = _own(corpus, fields, problems)
    if corpus.part != "train" or not apart:
        return mine
    others = [field for field in fields if field.name in apart]

    def identities(example: Example) -> set[tuple[str, str]]:
        return {(field.name, field.identity(example[field.name])) for field in others}

    held = {
        one
        for part in ("dev", "test")
        for example in _own(replace(corpus, part=part), fields, Problems())
        for one in identities(example)
    }
    return (example for example in mine if not identities(example) & held)


def joined(
    examples: Iterator[Example], most: int, fields: Sequence[Field], *, seed: int = 0
) -> Iterator[Example]:
    """Longer examples, each of 1 to `most` consecutive ones; every one is used once.

    How many are joined is drawn evenly from a generator of this seed: the same for the same corpus.
    """
    if most < 1:
        raise ValueError(t("join must be 1 or more, given {most}", most=most))
    if not all(isinstance(field, Text) for field in fields):
        raise ValueError(t("only texts can be joined"))
    draw = np.random.default_rng(seed)
    while (longer := next(examples, None)) is not None:
        for _ in range(int(draw.integers(most))):
            if (more := next(examples, None)) is None:
                break
            texts = {name: _glue(value, more[name]) for name, value in longer.items()}
            longer = replace(longer, fields=texts)
        yield longer


def count_rows(corpus: Corpus, fields: Sequence[Field], most: int = FEW) -> int:
    """As many as there are, counted up to `most`; of standard input, which is read once, that many."""
    if str(corpus.files[0]) == STANDARD_INPUT:
        return most
    return sum(1 for _ in islice(read_rows(corpus, [field.name for field in fields]), most))


def _own(corpus: Corpus, fields: Sequence[Field], problems: Problems) -> Iterator[Example]:
    """The examples whose first field or family belongs to this part; of what is held out, not too many."""
    if corpus.part is None:
        return _usable(corpus, fields, problems)
    if corpus.part == "train":
        return _of_part(corpus, fields, problems)
    held, trouble = _held_out(corpus, fields)
    problems.add_all(trouble)
    return iter(held)


def _of_part(corpus: Corpus, fields: Sequence[Field], problems: Problems) -> Iterator[Example]:
    part_of = _parts(corpus, fields)
    every = _usable(corpus, fields, problems)
    return (example for example in every if part_of(example) == corpus.part)


def _held_out(corpus: Corpus, fields: Sequence[Field]) -> tuple[Sequence[Example], Problems]:
    """The examples of @dev or @test, which are few and found by reading the whole corpus, and its problems.

    Those that were read last are kept: a training asks for them again and again.
    """
    stamps = [stamp_of(file) for file in corpus.files]
    key = repr((corpus, stamps, [(type(field), _plain(field)) for field in fields]))
    if key not in _KEPT:
        problems = Problems()
        held = list(islice(_of_part(corpus, fields, problems), HELD_OUT))
        _KEPT[key] = held, problems
        while len(_KEPT) > MOST_KEPT:
            _KEPT.pop(next(iter(_KEPT)), None)
        return held, problems
    return _KEPT[key]


def _plain(field: Field) -> list[tuple[str, Any]]:
    """What a field was told, which decides what it reads."""
    return [(name, x) for name, x in vars(field).items() if type(x) in _TOLD]


def _parts(corpus: Corpus, fields: Sequence[Field]) -> Callable[[Example], str]:
    """Says which part of a corpus an example belongs to. A small one is read for that."""
    first, rows = fields[0], count_rows(corpus, fields)
    if corpus.running and isinstance(first, Text):  # a line goes on from the one before
        return lambda example: home_of_line(example.line, rows)

    def identity(example: Example) -> str:
        return example.family or first.identity(example[first.name])

    if _are_kinds(corpus, fields):
        return _parts_of_kinds(corpus, fields)
    if rows >= FEW:
        return lambda example: home(identity(example))
    known = homes([identity(example) for example in _usable(corpus, fields, Problems())])
    return lambda example: known[identity(example)]


def _are_kinds(corpus: Corpus, fields: Sequence[Field]) -> bool:
    """Whether something is told of a few sources again and again: of labels, or of vectors and pictures
    that come many times among the first rows.
    """
    first = fields[0]
    if len(fields) < 2 or not isinstance(fields[-1], Text):
        return False
    if isinstance(first, Numbers | Image):
        seen = islice(_usable(corpus, fields, Problems()), FEW)
        found = Counter(first.identity(example[first.name]) for example in seen)
        return found.total() >= MANY * max(len(found), 1)
    return isinstance(first, LabelSet)


def _parts_of_kinds(corpus: Corpus, fields: Sequence[Field]) -> Callable[[Example], str]:
    """Rows are held out, equal ones together, but where a kind has no others."""
    first = fields[0]

    def kind(example: Example) -> str:
        return first.identity(example[first.name])

    def whole(example: Example) -> str:
        return "\t".join(field.identity(example[field.name]) for field in fields)

    rows = [(kind(one), whole(one), one.line) for one in _usable(corpus, fields, Problems())]
    different = Counter(name for name, _ in {row[:2] for row in rows})

    def own(name: str, row: str, line: int) -> str:
        return row if different[name] > 1 else f"{row}\t{line}"

    known = homes_of_kinds([(name, own(name, row, line)) for name, row, line in rows])
    return lambda example: known[own(kind(example), whole(example), example.line)]


def _usable(corpus: Corpus, fields: Sequence[Field], problems: Problems) -> Iterator[Example]:
    return (example for example in _rows(corpus, fields, problems) if example is not None)


def _rows(corpus: Corpus, fields: Sequence[Field], problems: Problems) -> Iterator[Example | None]:
    """Every row; None: it cannot be used, and is counted."""
    folder = corpus.files[0].parent
    for number, cells in read_rows(corpus, [field.name for field in fields]):
        try:
            if isinstance(cells, Unusable):
                raise cells
            family = cells.family if isinstance(cells, Kin) else ""
            yield Example(number, read_values(fields, cells, folder), corpus.name, family)
        except Unusable as trouble:
            problems.add(corpus.name, str(trouble), number)
            yield None


def _glue(left: str, right: str) -> str:
    left, right = left.rstrip(), right.lstrip()
    return left + ("" if stands_close(left[-1]) else " ") + right
