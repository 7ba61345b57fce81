"""Another run, or several, beside the one that a report is of: their scores, recipes and answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from regard.measures.measure import Measure
from regard.recipe.mistakes import RecipeError
from regard.report.report_tables import number_table
from regard.report.sample_looks import SampleLooks
from regard.report.score_words import display_name, ends, interval, score, signed
from regard.runs.loaded_run import LoadedRun
from regard.runs.run_folder import flat
from regard.statistics import Difference, compare_scores
from regard.tasks.asked_line import asked_line, text_of
from regard.tasks.evaluation import Measured, last, with_beam
from regard.tasks.judged_items import item_scores
from regard.view.markup import Markup, element, join
from regard.view.samples import Sample, SampleNames, sample_list, scrolled
from regard.words import t

SHOWN = 8  # examples: half of them where one is better, half where the other is
APART = ("name", "description")  # keys of a recipe that make no other model
MOST_KEYS = 40


@dataclass(frozen=True)
class ScoredRun:
    """A run, what it is called here, and what was found on each set of the first run."""

    name: str
    run: LoadedRun
    found: Mapping[str, Measured]
    facts: Mapping[str, str]

    @property
    def last(self) -> Measured | None:
        one: Measured | None = last(self.found)
        return one


def check_alike(runs: Sequence[LoadedRun]) -> None:
    """RecipeError if they do different things."""
    first, *others = runs
    for other in others:
        kinds = [run.recipe.task.kind for run in (first, other)]
        if kinds[0] != kinds[1]:
            raise RecipeError(
                t(
                    "{path} has task.kind={kinds} and {folder_path} {value}: they cannot be scored "
                    "by the same examples",
                    path=first.folder.path,
                    kinds=kinds[0],
                    folder_path=other.folder.path,
                    value=kinds[1],
                ),
                t("name runs of one task"),
            )


def run_names(runs: Sequence[LoadedRun]) -> list[str]:
    """The folder of each, or its whole path where two folders are called the same."""
    short = [run.folder.path.resolve().name for run in runs]
    paths = [str(run.folder.path) for run in runs]
    return short if len({*short}) == len(runs) else paths


def beside_section(first: ScoredRun, others: Sequence[ScoredRun], looks: SampleLooks) -> Markup:
    """Scores and differences, what differs in the recipes, facts, and the answers that differ most."""
    parts: list[Markup | str] = []
    for other in others:
        parts += [
            element("h3", t("{a} and {b}", a=first.name, b=other.name)),
            _scores(first, other),
        ]
    parts += [_recipes([first, *others]), _facts([first, *others])]
    for other in others:
        parts.append(_answers(first, other, looks))
    return join(parts)


def _scores(first: ScoredRun, other: ScoredRun) -> Markup:
    one, two = first.last, other.last
    if one is None or two is None:
        return Markup()
    same = _same_items(one, two)
    rows, classes = [], []
    for measure in _measures(one, two):
        values = [_value(each, measure) for each in (one, two)]
        difference = _difference(measure, one, two) if same else None
        said = "–"
        kind: str | None = None
        if difference is not None:
            said = f"{signed(difference.difference, measure)} {interval(difference, measure)}"
            low, high = difference.interval
            if low > 0 or high < 0:
                kind = "won" if (low > 0) != measure.error else "lost"
        beam = {each.beam for each in (one, two) if each.searched(measure.name)}
        name = f"{display_name(measure)}{', %' if measure.share else ''}"
        beams = with_beam(name, beam.pop()) if len(beam) == 1 else name
        rows.append([beams, *values, said])
        classes.append(kind)
    title = t("Scores of {a} and {b}", a=first.name, b=other.name)
    heads = [t("measure"), first.name, other.name, t("{b} − {a}", a=first.name, b=other.name)]
    note = t(
        "On {corpus}, example by example. Coloured where the interval of 95 % for other examples leaves 0 "
        "out: blue where {b} is better, brown where it is worse. One training each says nothing of other "
        "seeds: regard compare does.",
        corpus=one.corpus,
        b=other.name,
    )
    return join(
        [
            element("p", note, class_="note"),
            scrolled(number_table(title, heads, rows, last=classes), title),
        ]
    )


def _measures(one: Measured, two: Measured) -> list[Measure]:
    """Those that are counted item by item in both."""
    there = {measure.name for measure, _ in two.items.counts}
    return [measure for measure, _ in one.items.counts if measure.name in there]


def _value(one: Measured, measure: Measure) -> Markup:
    counts = _counts(one)[measure.name]
    found = score(float(measure.value(counts.sum(0))), measure)
    bounds = element("span", ends(one.intervals.get(measure.name), measure), class_="interval")
    return join([found, " ", bounds])


def _difference(measure: Measure, one: Measured, two: Measured) -> Difference | None:
    """Of the second to the first; None where they cannot be compared, as with other labels."""
    mine, theirs = _counts(one)[measure.name], _counts(two)[measure.name]
    if mine.shape != theirs.shape or not len(mine):
        return None
    try:
        return compare_scores(
            theirs[None], mine[None], measure.value, error=measure.error, widest=measure.widest
        )
    except ValueError:  # a score that is no number
        return None


def _counts(one: Measured) -> dict[str, np.ndarray]:
    return {measure.name: counts for measure, counts in one.items.counts}


def _same_items(one: Measured, two: Measured) -> bool:
    texts = [[text_of(each.task, example) for example in each.examples] for each in (one, two)]
    return texts[0] == texts[1]


def _recipes(runs: Sequence[ScoredRun]) -> Markup:
    """The keys in which the recipes differ."""
    told = [flat(each.run.recipe.model_dump(mode="json")) for each in runs]
    keys = sorted({key for each in told for key in each})
    rows = [
        [key, *(_said(each.get(key)) for each in told)]
        for key in keys
        if key not in APART and len({_said(each.get(key)) for each in told}) > 1
    ]
    title = t("What differs in the recipes")
    if not rows:
        return element("p", t("The recipes are the same."), class_="note")
    heads = [t("key"), *(each.name for each in runs)]
    return join(
        [element("h3", title), scrolled(number_table(title, heads, rows[:MOST_KEYS]), title)]
    )


def _said(value: Any) -> str:
    return "–" if value is None else str(value)


def _facts(runs: Sequence[ScoredRun]) -> Markup:
    names = dict.fromkeys(name for each in runs for name in each.facts)
    rows = [[name, *(each.facts.get(name, "–") for each in runs)] for name in names]
    title = t("What was trained, side by side")
    heads = ["", *(each.name for each in runs)]
    table = number_table(title, heads, rows, kind="numbers texts")
    return join([element("h3", title), scrolled(table, title)])


def _answers(first: ScoredRun, other: ScoredRun, looks: SampleLooks) -> Markup:
    """The examples on which one is much better than the other, with the answers of both."""
    one, two = first.last, other.last
    if one is None or two is None or not one.answers or not two.answers:
        return Markup()
    task, names = one.task, [measure.name for measure in one.task.measured_by()]
    telling = item_scores(one.items, names) or item_scores(two.items, names)
    if telling is None or not _same_items(one, two):
        return Markup()
    mine, theirs = (item_scores(each.items, [telling[0].name], least=1) for each in (one, two))
    if mine is None or theirs is None:
        return Markup()
    measure, scores = mine
    better = (scores - theirs[1]) * (-1 if measure.error else 1)  # how much better the first is
    order = np.argsort(-better, kind="stable").tolist()
    chosen = [row for row in order if better[row] > 0][: SHOWN // 2]
    chosen += [row for row in reversed(order) if better[row] < 0][: SHOWN // 2]
    factor = 100 if measure.share else 1
    samples = []
    for row in chosen:
        example = one.examples[row]
        shown = task.sample_of(example, one.answers[row])
        called = display_name(measure)
        values = {first.name: scores[row], other.name: theirs[1][row]}
        marked = {f"{called}, {name}": factor * float(value) for name, value in values.items()}
        samples.append(
            replace(
                shown,
                others={other.name: task.sample_of(example, two.answers[row]).hypothesis},
                scores=marked,
                link=looks.link(asked_line(task, example), [first.name, other.name]),
            )
        )
    if not samples:
        return Markup()
    usual, data = task.sample_names(), task.recipe.data
    parts = SampleNames("", usual.source, usual.reference, first.name)
    listed = sample_list(samples, parts, (data.source, data.target))
    title = t("Where {a} and {b} differ most", a=first.name, b=other.name)
    return join([element("h3", title), listed])


def with_answers(samples: Sequence[Sample], others: Sequence[ScoredRun]) -> list[Sample]:
    """The samples of a report with what the other runs answer to them."""
    found = []
    for sample in samples:
        said = {other.name: _answer(other.run, sample.asked) for other in others}
        found.append(replace(sample, others={name: text for name, text in said.items() if text}))
    return found


def _answer(run: LoadedRun, asked: str) -> str:
    task = run.task
    if not asked.strip() or not task.measured_by():
        return ""
    try:
        given = task.given([task.of_line(asked)])
        (answer,) = task.respond(run.module, given, batch=1)
    except (ValueError, RuntimeError, TypeError, LookupError, NotImplementedError):
        return ""
    return answer.line
