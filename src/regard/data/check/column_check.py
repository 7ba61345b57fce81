"""What a corpus is like in the fields of a task: its size, lengths and labels, and what to look at.

A field says what is measured and counted of a value (`Field.lengths`, `Field.counted`); nothing here knows
a field by its class. Some 20 bytes of an example and 8 of each of its columns are kept, not the values.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from dataclasses import field as dataclass_field
from typing import Any

import numpy as np

from regard.data.check.check_lines import (
    Remarkable,
    at_percentiles,
    length_table,
    remarkable,
    repeated,
)
from regard.data.examples import Example
from regard.data.fields import Field
from regard.data.problems import Problems, before_noun
from regard.words import t

LABELS_SHOWN = 12  # the most frequent of a column


@dataclass(frozen=True)
class Spread:
    """How long the values of a column are, in one unit."""

    total: int
    percentiles: tuple[int, ...]  # at PERCENTILES


@dataclass(frozen=True)
class ColumnSummary:
    """What is known of one column."""

    different: int  # values
    lengths: dict[str, Spread]  # by unit: words, characters, tokens
    labels: dict[str, int]  # how often each occurs, the most frequent first

    def said(self, name: str) -> str | None:
        """The column in a line, but for its lengths."""
        if self.labels:
            return t("{field}: {labels}", field=name, labels=_shares(self.labels))
        if self.lengths:
            return None
        many = f"{self.different:,}"
        known = t.plural(self.different, "{n} different value", "{n} different values", n=many)
        return t("{field}: {labels}", field=name, labels=known)


@dataclass(frozen=True)
class ExamplesSummary:
    """What `check_examples` found. `str()` is the report."""

    examples: int
    columns: dict[str, ColumnSummary]
    duplicates: Remarkable  # examples that occurred before
    contradicted: Remarkable | None  # the inputs occurred before with another answer
    problems: Problems = dataclass_field(default_factory=Problems)
    called: str = "examples"  # what so many examples are called
    unknown: str = ""  # what was not learnt, at the first line that has it
    notes: tuple[str, ...] = ()  # what to know before training on it
    trained: Remarkable | None = None  # the inputs are in the training set too

    def __str__(self) -> str:
        lines = [self._usable(), *self.problems.report().splitlines()]
        if self.unknown:
            lines.append(self.unknown)
        if self.examples:
            said = (column.said(name) for name, column in self.columns.items())
            lines += [*self._table(), *filter(None, said)]
            lines.append(t("repeated: {lines}", lines=self.duplicates))
            if self.contradicted is not None:
                lines.append(t("repeated with another answer: {lines}", lines=self.contradicted))
            if self.trained is not None:
                lines.append(t("in the training set too: {lines}", lines=self.trained))
            lines += [t("note: {note}", note=note) for note in self.notes]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"problems": self.problems.to_json()}

    def _usable(self) -> str:
        useless = self.problems.count()
        usable = t(
            "{pairs} that can be used, {lines} that cannot",
            pairs=f"{self.examples:,} {self.called}",
            lines=t.plural(useless, "{n} line", "{n} lines", n=f"{useless:,}"),
        )
        if self.examples or self.problems:
            return usable
        empty = t("the corpus is empty: there is not one line in it")
        return f"{usable}\n{t('hint: {hint}', hint=empty)}"

    def _table(self) -> list[str]:
        units = {
            "words": t("words"),
            "characters": t("characters"),
            "tokens": t("tokens"),
            "sentences": t("sentences"),
        }
        rows = [
            (
                name if unit == name else f"{name}: {units.get(unit, unit)}",
                spread.total,
                spread.percentiles,
            )
            for name, column in self.columns.items()
            for unit, spread in column.lengths.items()
        ]
        return length_table(rows) if rows else []


class _Column:
    """What is kept of one column while its values go by."""

    def __init__(self) -> None:
        self.hashes = array("Q")
        self.lengths: dict[str, array[int]] = {}
        self.labels: Counter[str] = Counter()

    def add(self, field: Field, value: Any) -> None:
        self.hashes.append(_value_hash(field, value))
        for unit, length in field.lengths(value).items():
            self.lengths.setdefault(unit, array("q")).append(length)
        self.labels.update(field.counted(value))

    def summary(self) -> ColumnSummary:
        return ColumnSummary(
            different=len(set(self.hashes)),
            lengths={u: Spread(sum(n), at_percentiles(n)) for u, n in self.lengths.items()},
            labels=dict(sorted(self.labels.items(), key=lambda item: (-item[1], item[0]))),
        )


def check_examples(
    examples: Iterable[Example],
    fields: Mapping[str, Field],
    inputs: Sequence[str],
    trained: Iterable[Example] | None = None,
) -> ExamplesSummary:
    """Read the examples once and say what they are like; what was left out of them, the caller adds.

    trained: the training set, for those whose inputs are in it too.
    """
    lines, columns = array("q"), {name: _Column() for name in fields}
    for example in examples:
        lines.append(example.line)
        for name, column in columns.items():
            column.add(fields[name], example[name])
    numbers = np.asarray(lines)
    whole, asked = (
        _together([columns[name].hashes for name in some], len(lines)) for some in (fields, inputs)
    )
    same, answered = repeated(whole), len(inputs) < len(fields)
    learnt = None if trained is None else input_hashes(trained, fields, inputs)
    return ExamplesSummary(
        examples=len(lines),
        columns={name: column.summary() for name, column in columns.items()},
        duplicates=remarkable(numbers, same),
        contradicted=remarkable(numbers, repeated(asked) & ~same) if answered else None,
        trained=None if learnt is None else remarkable(numbers, np.isin(asked, learnt)),
    )


def only_known(
    examples: Iterable[Example], fields: Sequence[Field], problems: Problems, reasons: list[str]
) -> Iterator[Example]:
    """Those whose values the fields have learnt of; of the others, the first reason is kept."""
    for example in examples:
        try:
            for field in fields:
                field.check_known(example[field.name])
        except ValueError as error:
            problems.add(
                example.corpus, f"{before_noun(field.name)} lines with unknown values", example.line
            )
            if not reasons:
                reasons.append(f"{field.name}: {error}")
        else:
            yield example


def _shares(labels: Mapping[str, int]) -> str:
    """Each with its share, the most frequent first; of many, the rarest too."""
    total = sum(labels.values())
    names = list(labels)
    said = [f"{name} {100 * labels[name] / total:.1f} %" for name in names[:LABELS_SHOWN]]
    if len(names) > LABELS_SHOWN:
        said += ["…", f"{names[-1]} {100 * labels[names[-1]] / total:.1f} %"]
    return t(
        "{labels}: {shares}",
        labels=t.plural(len(names), "{n} label", "{n} labels", n=f"{len(names):,}"),
        shares=", ".join(said),
    )


def input_hashes(
    examples: Iterable[Example], fields: Mapping[str, Field], inputs: Sequence[str]
) -> np.ndarray:
    """A number for what is asked in each example."""
    columns = {name: array("Q") for name in inputs}
    count = 0
    for count, example in enumerate(examples, 1):  # noqa: B007, it is wanted after the last
        for name, column in columns.items():
            column.append(_value_hash(fields[name], example[name]))
    return _together(list(columns.values()), count)


def _value_hash(field: Field, value: Any) -> int:
    """Values of one identity are the same to a split; "!" and "?" have none, but differ."""
    return _hash(field.identity(value) or field.show(value))


def _together(columns: Sequence[array[int]], count: int) -> np.ndarray:
    """One number for the values of an example in these columns."""
    found = np.zeros(count, np.uint64)
    for column in columns:
        found = found * np.uint64(0x9E3779B97F4A7C15) + np.asarray(column, np.uint64)
    return found


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
