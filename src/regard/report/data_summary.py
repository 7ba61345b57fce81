"""What a run was trained and judged on: how much, how long, how much of it unknown, how much of it twice."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from regard.data.check.column_check import input_hashes
from regard.data.fields import Field, Label, Text
from regard.data.spec import Spec
from regard.data.store import Store
from regard.data.tokenizer import UNK
from regard.report.report_tables import number_table
from regard.runs.loaded_run import LoadedRun
from regard.tasks.task import Task
from regard.view.charts.histogram_chart import histogram_chart
from regard.view.markup import Markup, element, join
from regard.view.samples import scrolled
from regard.words import t

LONGEST_READING = 20.0  # seconds that the training set is read for what is in others too
MOST = 2_000_000  # examples of it


class Overlap(NamedTuple):
    """Examples whose inputs are in the training set too."""

    twice: int
    examples: int
    whole: bool = True  # whether all of the training set was looked through


@dataclass(frozen=True)
class CorpusFacts:
    """Of one set; a field that has no length, or nothing unknown to be, is not there."""

    examples: int
    lengths: Mapping[str, np.ndarray] = field(default_factory=dict)  # in tokens, by field
    unknown: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # so many of so many
    overlap: Overlap | None = None


def data_facts(run: LoadedRun, found: Mapping[str, Any]) -> dict[str, CorpusFacts]:
    """Of the training set, as far as it is still there, and of those that were judged."""
    task, facts = run.task, dict[str, CorpusFacts]()
    store = _store(run)
    if store is not None:
        facts["train"] = _stored(task, store)
    trained = _trained_inputs(task, task.recipe.data.train) if found else None
    for name, one in found.items():
        spec = getattr(task.recipe.data, name, None)
        overlap = _overlap(task, spec, one, trained) if trained is not None else None
        facts[name] = _judged(task, one.examples, overlap)
    return facts


def data_section(facts: Mapping[str, CorpusFacts], noun: str) -> Markup:
    """The table of the sets, and a histogram of lengths for each field that has some."""
    if not facts:
        return Markup()
    fields = list(dict.fromkeys(name for one in facts.values() for name in one.lengths))
    guessed = list(dict.fromkeys(name for one in facts.values() for name in one.unknown))
    twice = any(one.overlap is not None for one in facts.values())
    heads = [t("set"), noun]
    for name in fields:
        heads.append(t("{field} tokens", field=name))
    heads += [t("unknown {field}, %", field=name) for name in guessed]
    heads += [t("inputs in train too")] if twice else []
    rows = []
    for name, one in facts.items():
        row = [name, f"{one.examples:,}"]
        for each in fields:
            row.append(_length_cell(one.lengths.get(each)))
        row += [_share(one.unknown.get(each)) for each in guessed]
        row += [_overlap_words(one.overlap)] if twice else []
        rows.append(row)
    title = t("Sizes, lengths and what is unknown")
    charts = [
        element(
            "figure",
            histogram_chart(
                t("Length of the {field}", field=name),
                t("tokens"),
                {each: one.lengths[name] for each, one in facts.items() if name in one.lengths},
            ),
        )
        for name in fields
    ]
    return join(
        [
            scrolled(number_table(title, heads, rows), title),
            *(element("p", note, class_="note") for note in _notes(facts)),
            element("div", *charts, class_="charts") if charts else "",
        ]
    )


def _notes(facts: Mapping[str, CorpusFacts]) -> Iterator[str]:
    for name, one in facts.items():
        found = one.overlap
        if found is not None and found.twice:
            yield t(
                "{count} of {examples} inputs of {set} are in the training set too: its scores are partly "
                "of what was seen in training.",
                count=f"{found.twice:,}",
                examples=f"{found.examples:,}",
                set=name,
            )
    if any(one.overlap is not None and not one.overlap.whole for one in facts.values()):
        yield t("Only the beginning of the training set was looked through for that.")


def _length_cell(lengths: np.ndarray | None) -> str:
    """How many tokens there are, and in how long texts."""
    if lengths is None or not len(lengths):
        return "–"
    spread = t(
        "median {median}, up to {longest}",
        median=f"{float(np.median(lengths)):,.0f}",
        longest=f"{int(lengths.max()):,}",
    )
    return join([f"{int(lengths.sum()):,} ", element("span", spread, class_="interval")])


def _share(found: tuple[int, int] | None) -> str:
    return "–" if found is None or not found[1] else f"{100 * found[0] / found[1]:.2f}"


def _overlap_words(found: Overlap | None) -> str:
    if found is None:
        return "–"
    return f"{found.twice:,} ({100 * found.twice / max(found.examples, 1):.1f} %)"


# the training set


def _store(run: LoadedRun) -> Store | None:
    """The numbers that were learnt from, if they are still there."""
    try:
        return Store.open(run.folder.store) if run.folder.store.is_dir() else None
    except ValueError:
        return None


def _stored(task: Task, store: Store) -> CorpusFacts:
    lengths, unknown = {}, {}
    for name, each in task.fields.items():
        try:
            counts = store.counts(name)
        except LookupError:  # of a task that stores other columns
            continue
        if (found := _lengths(each, counts)) is not None:
            lengths[name] = found
        if isinstance(each, Text):
            unknown[name] = store.occurrences(name, UNK)
    return CorpusFacts(len(store), lengths, unknown)


def _trained_inputs(task: Task, spec: Spec) -> tuple[np.ndarray, bool] | None:
    """A number for the inputs of each training example, and whether that is of all; None: it is gone."""
    limit = _Limited(LONGEST_READING)
    try:
        return input_hashes(limit.of(task.read(spec)), task.fields, task.inputs), limit.whole
    except (OSError, ValueError, LookupError, TypeError):
        return None


class _Limited:
    def __init__(self, seconds: float) -> None:
        self.end, self.whole = time.monotonic() + seconds, True

    def of(self, examples: Iterable[Any]) -> Iterator[Any]:
        for count, example in enumerate(examples):
            if count >= MOST or time.monotonic() > self.end:
                self.whole = False
                return
            yield example


# those that were judged


def _judged(task: Task, examples: Sequence[Any], overlap: Overlap | None) -> CorpusFacts:
    if not all(isinstance(example, Mapping) for example in examples):  # blocks of a text
        ids = [np.asarray(example.ids) for example in examples if hasattr(example, "ids")]
        name = next(iter(task.fields))
        lengths = {name: np.array([len(each) for each in ids], np.int64)} if ids else {}
        unknown = {name: _unknown(ids)} if ids else {}
        return CorpusFacts(len(examples), lengths, unknown, overlap)
    lengths, unknown = {}, {}
    for name, each in task.fields.items():
        if isinstance(each, Label) or not all(name in example for example in examples):
            continue  # a label has no length, and one that was judged may be none that was learnt
        parts = each.encode(examples)
        counts = {
            part: np.array([len(one[place]) for one in parts], np.int64)
            for place, part in enumerate(each.parts)
        }
        if (found := _lengths(each, counts)) is not None:
            lengths[name] = found
        if isinstance(each, Text):
            tokens = [np.asarray(one[0]) for one in parts]
            unknown[name] = _unknown(tokens)
    return CorpusFacts(len(examples), lengths, unknown, overlap)


def _unknown(tokens: Sequence[np.ndarray]) -> tuple[int, int]:
    return sum(int((ids == UNK).sum()) for ids in tokens), sum(map(len, tokens))


def _lengths(each: Field, counts: Mapping[str, np.ndarray]) -> np.ndarray | None:
    """In tokens, without the end of a text."""
    found = each.length(counts)
    if found is None or not len(found):
        return None
    return found - int(isinstance(each, Text) and each.eos)


def _overlap(
    task: Task, spec: Spec | None, one: Any, trained: tuple[np.ndarray, bool]
) -> Overlap | None:
    known, whole = trained
    judged: Spec = spec if spec is not None and str(spec) == one.corpus else one.corpus
    try:
        asked = input_hashes(task.read(judged), task.fields, task.inputs)
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return Overlap(int(np.isin(asked, known).sum()), len(asked), whole)
