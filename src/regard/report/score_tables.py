"""All scores of a run on its sets, each with its interval; what BLEU is made of; what a baseline scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from regard.measures.measure import Measure
from regard.measures.translation_measures import CorpusBleu
from regard.report.report_tables import number_table
from regard.report.score_words import display_name, ends, score
from regard.tasks.evaluation import Measured, with_beam
from regard.view.markup import Markup, element, join
from regard.view.samples import scrolled
from regard.words import t


def scores_section(found: Mapping[str, Measured]) -> Markup:
    """found: by the name of the set."""
    rows = dict(_rows(found))
    if not rows:
        return Markup()
    note = t(
        "In brackets, where 95 of 100 scores lie when as many examples are drawn anew from the same set "
        "(bootstrap). It does not tell what other seeds would do."
    )
    heads = [t("measure"), *found]
    table = number_table(t("Scores"), heads, [[name, *cells] for name, cells in rows.items()])
    beside = [
        element("p", t("{set}: {baseline}", set=name, baseline=one.beside), class_="note")
        for name, one in found.items()
        if one.beside
    ]
    bracketed = any(one.intervals for one in found.values())
    return join(
        [
            element("p", note, class_="note") if bracketed else "",
            scrolled(table, t("Scores")),
            *beside,
            _bleu_parts(found),
        ]
    )


def _rows(found: Mapping[str, Measured]) -> Iterator[tuple[str, list[Markup]]]:
    """The name of each measure, and a cell for every set."""
    measures = {m.name: m for one in found.values() for m, _ in one.items.counts}
    told = [name for one in found.values() for name in (*one.measures, "loss")]
    for name in dict.fromkeys([*(n for n in told if n != "loss"), "loss"]):
        said = {with_beam(*_named(one, name, measures)) for one in found.values()}
        cells = [_cell(one, name, measures.get(name)) for one in found.values()]
        if any(cells):
            yield " / ".join(sorted(said)), cells


def _named(one: Measured, name: str, measures: Mapping[str, Measure]) -> tuple[str, int | None]:
    measure = measures.get(name) or _Plain(name, name in one.task.shares)
    per_cent = ", %" if measure.share else ""
    return f"{display_name(measure)}{per_cent}", one.beam if one.searched(name) else None


def _cell(one: Measured, name: str, measure: Measure | None) -> Markup:
    value = one.loss if name == "loss" else one.measures.get(name)
    if value is None:
        return Markup()
    shown = measure or _Plain(name, name in one.task.shares)
    bounds = element("span", ends(one.intervals.get(name), shown), class_="interval")
    return join([score(value, shown), " ", bounds])


class _Plain(Measure):
    """A measure of which nothing is known but its name."""

    def __init__(self, name: str, share: bool) -> None:
        self.name, self.share, self.error = name, share, name == "loss"  # type: ignore[misc]

    def count(self, wanted: object, answer: object) -> Sequence[float]:
        raise NotImplementedError

    def value(self, sums: object) -> object:  # type: ignore[override]
        raise NotImplementedError


def _bleu_parts(found: Mapping[str, Measured]) -> Markup:
    """BLEU = brevity penalty · (p₁ p₂ p₃ p₄)^¼, of every set."""
    rows = []
    for name, one in found.items():
        for measure, counts in one.items.counts:
            if isinstance(measure, CorpusBleu) and len(counts):
                parts = measure.parts(counts.sum(0))
                rows.append(
                    [
                        with_beam(name, one.beam),
                        f"{float(measure.value(counts.sum(0))):.2f}",
                        f"{parts.brevity:.3f}",
                        f"{parts.length_ratio:.3f}",
                        *(f"{each:.1f}" for each in parts.precisions),
                    ]
                )
    if not rows:
        return Markup()
    title = t("What BLEU is made of")
    orders = [t("{n}-grams, %", n=n) for n in range(1, 5)]
    heads = [t("set"), "BLEU", t("brevity penalty"), t("hyp/ref"), *orders]
    note = t(
        "BLEU is the geometric mean of the precisions of n-grams, times the brevity penalty, which is below "
        "1 where translations are shorter than references."
    )
    return join(
        [
            element("h3", title),
            element("p", note, class_="note"),
            scrolled(number_table(title, heads, rows), title),
        ]
    )
