"""The part of the page that looks at two variants closely: kinds of items, and single ones."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from regard.compare.case_maps import attention_drawing, shown_maps
from regard.compare.cases import Case
from regard.compare.findings import Closer, Findings
from regard.compare.slices import Slice, slice_title
from regard.measures.measure import Measure
from regard.report.score_words import interval, score, signed, unit
from regard.view.charts.interval_chart import IntervalRow, interval_chart
from regard.view.markup import Markup, element, join
from regard.view.samples import shortened_text
from regard.words import t


def closer_section(found: Findings) -> Markup:
    """The best beside each other; the first is open."""
    if not found.closer:
        return Markup()
    note = t(
        "The best beside each of the others. The interval of each part is for that part alone, so that "
        "about one in twenty misses 0 by chance."
    )
    told = set[str]()  # why nothing is drawn: once for each variant, not for each item
    blocks = [_block(found, one, told, first=not number) for number, one in enumerate(found.closer)]
    return join([element("p", note, class_="note"), *blocks])


def _block(found: Findings, one: Closer, told: set[str], *, first: bool) -> Markup:
    title = t("{a} against {b}", a=one.a, b=one.b)
    charts = [
        element("figure", _chart(list(parts), by, found.measure), class_="intervals")
        for by, parts in groupby(one.slices, key=lambda part: part.by)
    ]
    drawn = [_case(found, one, case, told) for case in one.cases]
    lead = element("h3", t("The items that make the difference")) if drawn else ""
    return element(
        "details",
        element("summary", title),
        element("div", *charts, class_="slices") if charts else "",
        lead,
        *drawn,
        class_="closer",
        **({"open": ""} if first else {}),
    )


def _chart(parts: Sequence[Slice], by: str, measure: Measure) -> Markup:
    factor = 100 if measure.share else 1
    spans = []
    for part in parts:
        low, high = part.difference.interval
        values = " − ".join(score(value, measure) for value in part.values)
        said = f"{signed(part.difference.difference, measure)} {interval(part.difference, measure)}"
        items = t.plural(len(part.items), "one item", "{n} items")
        spans.append(
            IntervalRow(
                f"{part.name} ({len(part.items):,})",
                factor * part.difference.difference,
                factor * low,
                factor * high,
                f"{part.name}: {values} = {said}, {items}",
                low > 0 or high < 0,
            )
        )
    return interval_chart(slice_title(by, measure), unit(measure), spans)


def _case(found: Findings, one: Closer, case: Case, told: set[str]) -> Markup:
    item = found.items[case.row]
    better = one.a if case.weight > 0 else one.b
    shown = shown_maps(case.records)
    sides = [
        element(
            "div",
            element("h5", t("{name}, seed {seed}", name=name, seed=run.seed)),
            _answer(answer),
            attention_drawing(record, name, shown),
        )
        for name, run, answer, record in zip(
            (one.a, one.b), case.runs, case.answers, case.records, strict=True
        )
    ]
    untold = [why for why in case.why_not if why not in told]
    told.update(untold)
    wanted = t("wanted: {text}", text=shortened_text(item.wanted))
    return element(
        "article",
        element("h4", t("line {line}: {name} is better", line=item.line, name=better)),
        element("p", shortened_text(item.text), class_="text", dir="auto"),
        element("p", wanted, class_="wanted", dir="auto") if item.wanted else "",
        element("div", *sides, class_="sides"),
        *(element("p", why, class_="note") for why in untold),
        class_="case",
    )


def _answer(answer: str) -> Markup | str:
    return element("p", shortened_text(answer), class_="answer", dir="auto") if answer else ""
