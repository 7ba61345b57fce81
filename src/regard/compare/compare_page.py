"""compare.html: one file, no script, nothing fetched, light and dark."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib import resources
from itertools import combinations

from regard.compare.closer_look import closer_section
from regard.compare.comparison import Comparison
from regard.compare.cost_chart import cost_section
from regard.compare.findings import Findings
from regard.compare.score_table import ScoreTable, by_holm, judged_by
from regard.compare.verdicts import resolution, sentences
from regard.report.report_page import stylesheet as report_stylesheet
from regard.report.score_words import amount, display_name, interval, score, signed, unit
from regard.view.charts.interval_chart import IntervalRow, interval_chart
from regard.view.markup import Markup, element, join
from regard.view.samples import scrolled
from regard.view.static_page import masthead, static_page
from regard.view.terminal_cells import shorten
from regard.words import t

SHORT = 24  # characters of a name in the title of a chart
KEYS = 6  # of a recipe in a sentence


def page(found: Findings) -> str:
    """The whole page."""
    parts = [
        (t("Scores"), _scores(found)),
        (t("Every two of them"), _pairs(found)),
        (t("Quality and cost"), cost_section(found)),
        (t("Where they differ"), closer_section(found)),
        (t("How it was done"), _method(found)),
        (t("To paste"), _tables(found)),
    ]
    return static_page(f"{found.title} · regard compare", stylesheet(), _header(found), parts)


def stylesheet() -> str:
    own = resources.files("regard.compare").joinpath("compare.css").read_text("utf-8")
    return f"{report_stylesheet()}{own}"


def _header(found: Findings) -> Markup:
    said = [element("li", *_unbroken(sentence)) for sentence in sentences(found)]
    return element(
        "header",
        masthead(t("comparison")),
        element("h1", found.title),
        element("p", judged_by(found), class_="judged-by"),
        element("ul", *said, class_="verdicts"),
    )


def _unbroken(sentence: str) -> list[str]:
    """The sentence, with each interval on one line."""
    parts = re.split(r"(\[[^\[\]]*\])", sentence)
    return [
        element("span", part, class_="whole") if place % 2 else part
        for place, part in enumerate(parts)
    ]


def _scores(found: Findings) -> Markup:
    table, comparison = ScoreTable.of(found), found.comparison
    rows = []
    for number, (name, cells) in enumerate(zip(comparison.order, table.rows, strict=True)):
        role = found.roles.get(name)
        classes = ("place", "score", "numbers-of-seeds", *[None] * len(cells))
        written = [
            element("td", cell, class_=kind) for cell, kind in zip(cells[1:], classes, strict=False)
        ]
        along = element("span", t("baseline"), class_="role") if role else ""
        rows.append(
            element(
                "tr",
                element("th", name, along, scope="row"),
                *written,
                class_="first" if number in table.best else None,
            )
        )
    note = t(
        "Place: from the best to the worst that is not excluded; where places overlap no order is shown. "
        "Differences are means over seeds, with intervals of 95 % for other seeds and other items."
    )
    notes = [note, *([f"{by_holm(comparison)}."] if len(comparison.pairs) > 1 else [])]
    if len(table.best) > 1:
        notes.append(t("In colour: not told apart from the best."))
    drawn = element(
        "table",
        element("caption", t("Scores")),
        element("thead", element("tr", *(element("th", h, scope="col") for h in table.heads))),
        element("tbody", *rows),
        class_="numbers ranking",
    )
    return join(
        [
            element("p", " ".join(notes), class_="note"),
            scrolled(drawn, t("Scores")),
            *_baselines(found),
            element("figure", _against_best(comparison), class_="intervals"),
        ]
    )


def _baselines(found: Findings) -> list[Markup]:
    """What the variants are that ran along: the keys in which they differ from the recipe."""
    said = []
    for name in filter(found.roles.__contains__, found.comparison.order):
        changes = [f"{key}={value}" for key, value in found.changes.get(name, {}).items()]
        if changes:
            listed = ", ".join(changes[:KEYS]) + (" …" if len(changes) > KEYS else "")
            told = t("{name}, a baseline, is the recipe with {changes}", name=name, changes=listed)
            said.append(element("p", f"{told}.", class_="note"))
    return said


def _against_best(found: Comparison) -> Markup:
    measure, best = found.measure, found.best
    factor = 100 if measure.share else 1
    spans = []
    for name in found.order[1:]:
        pair = found.pair(name, best)
        low, high = pair.difference.interval
        each = [found.values[name][seed] - found.values[best][seed] for seed in pair.seeds]
        spans.append(
            IntervalRow(
                name,
                factor * pair.difference.difference,
                factor * low,
                factor * high,
                f"{name}: {signed(pair.difference.difference, measure)} "
                f"{interval(pair.difference, measure)}, {_shown(pair.shown)}",
                pair.shown,
                [factor * one for one in each],
            )
        )
    title = t("Difference from {best}, the best on average", best=shorten(best, SHORT))
    return interval_chart(title, unit(measure), spans)


def _shown(shown: bool) -> str:
    return t("shown") if shown else t("no difference shown")


def _pairs(found: Findings) -> Markup:
    comparison, measure = found.comparison, found.measure
    names = comparison.order
    heads = [element("th", name, scope="col") for name in names]
    rows = []
    for name in names:
        cells = []
        for other in names:
            if other == name:
                cells.append(element("td", class_="self"))
                continue
            pair = comparison.pair(name, other)
            kind = "open" if pair.winner is None else "won" if pair.winner == name else "lost"
            title = "\n".join(
                [
                    f"{name} − {other}: {_shown(pair.shown)}",
                    f"P({name} {t('better')}) = {pair.difference.better:.3f}, "
                    f"p = {pair.difference.p:.3g}, Holm {pair.p_holm:.3g}",
                    resolution(pair, measure, trained=found.trained),
                ]
            )
            cells.append(
                element(
                    "td",
                    signed(pair.difference.difference, measure),
                    element("span", interval(pair.difference, measure), class_="interval"),
                    class_=kind,
                    title=title,
                )
            )
        rows.append(element("tr", element("th", name, scope="row"), *cells))
    table = element(
        "table",
        element("caption", t("Differences between variants")),
        element("thead", element("tr", element("td"), *heads)),
        element("tbody", *rows),
        class_="numbers pairs",
    )
    note = t(
        "Row minus column, in {unit}. Coloured where a difference is shown, after Holm's correction for "
        "{count} pairs; grey: no difference shown, which is a result too.",
        unit=unit(measure),
        count=len(comparison.pairs),
    )
    return join(
        [
            element("p", note, class_="note"),
            scrolled(table, t("Differences between variants")),
            _every_pair(found),
        ]
    )


def _every_pair(found: Findings) -> Markup:
    """What a cell says where the pointer rests, in a table that can be read without one."""
    comparison, measure = found.comparison, found.measure
    heads = [
        t("variant"),
        t("against"),
        t("difference"),
        t("interval"),
        t("P(better)"),
        "p",
        t("p by Holm"),
        t("shown"),
        t("seeds"),
        t("items that differ"),
        t("resolves"),
    ]
    rows = []
    for first, second in combinations(comparison.order, 2):
        pair = comparison.pair(first, second)
        one, resolves = pair.difference, pair.difference.resolves
        cells = [
            second,
            signed(one.difference, measure),
            interval(one, measure),
            f"{one.better:.3f}",
            f"{one.p:.3g}",
            f"{pair.p_holm:.3g}",
            t("yes") if pair.shown else t("no"),
            str(one.seeds),
            "–" if one.differing is None else f"{one.differing:,}",
            "–" if resolves is None else amount(resolves, measure),
        ]
        head = element("th", first, scope="row")
        rows.append(element("tr", head, *(element("td", cell) for cell in cells)))
    title = t("Every pair in numbers")
    table = element(
        "table",
        element("caption", title),
        element("thead", element("tr", *(element("th", head, scope="col") for head in heads))),
        element("tbody", *rows),
        class_="numbers",
    )
    return element("details", element("summary", title), scrolled(table, title))


def _method(found: Findings) -> Markup:
    comparison = found.comparison
    seeds = {name: list(runs) for name, runs in found.judged.items()}
    facts = {
        t("measure"): display_name(found.measure),
        t("judged on"): f"{found.data}: {found.counted_items}",
        t("seeds"): _seeds(seeds),
        t("budget"): found.budget or "–",
        t("pairs"): f"{len(comparison.pairs):,}",
        t("looks"): ", ".join(map(str, comparison.looks.seeds)) if comparison.looks else "",
    }
    listed = [
        element("div", element("dt", name), element("dd", value))
        for name, value in facts.items()
        if value
    ]
    planned = t(
        "Seeds were added at planned looks, which share one error: a pair counts as shown by these, and the "
        "interval that holds at all of them together, in {file}, is wider than the one here.",
        file=f"{found.stem}.json",
    )
    notes = [
        *found.notes,
        *([planned] if comparison.looks else []),
        t(
            "Variants are paired by seed, with the same batches and the same first weights where shapes "
            "agree, and by item. The interval is for both other seeds and other items, and is wider where "
            "seeds are few."
        ),
        t(
            "{file} holds what was counted of every item: the statistics can be done again.",
            file=f"{found.stem}.json",
        ),
    ]
    return join(
        [
            element("pre", element("code", found.command), class_="command", tabindex="0")
            if found.command
            else "",
            element("dl", *listed, class_="facts"),
            element("ul", *(element("li", note) for note in notes), class_="notes"),
            _each_score(found),
        ]
    )


def _seeds(seeds: Mapping[str, Sequence[int]]) -> str:
    every = {tuple(sorted(each)) for each in seeds.values()}
    if len(every) == 1:
        return ", ".join(map(str, *every))
    return "; ".join(f"{name}: {len(each)}" for name, each in seeds.items())


def _each_score(found: Findings) -> Markup:
    """All measures of all runs."""
    scores = {measure: found.scores(measure) for measure in found.measures}
    heads = [t("variant"), t("seed"), *(display_name(m) for m in scores), t("run")]
    rows = [
        element(
            "tr",
            element("th", name, scope="row"),
            element("td", str(seed)),
            *(element("td", score(scores[m][name][seed], m)) for m in scores),
            element("td", str(run.path)),
        )
        for name in found.comparison.order
        for seed, run in found.judged[name].items()
    ]
    table = element(
        "table",
        element("caption", t("All measures")),
        element("thead", element("tr", *(element("th", head, scope="col") for head in heads))),
        element("tbody", *rows),
        class_="numbers",
    )
    return element(
        "details",
        element("summary", t("All measures of all runs")),
        scrolled(table, t("All measures")),
    )


def _tables(found: Findings) -> Markup:
    table = ScoreTable.of(found)
    return join(
        element(
            "details",
            element("summary", name),
            element("pre", element("code", text), tabindex="0"),
        )
        for name, text in (("Markdown", table.markdown), ("LaTeX", table.latex))
    )
