"""BLEU by source length, of one system or of several side by side: as text, and as a chart.

curves = {"fixed vector": by_length(...), "attention": by_length(...)}
print(length_table(curves))
Path("bleu-by-length.svg").write_text(length_chart(curves).standalone())
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from regard.measures.bleu_by_length import Bucket, LengthCurve, LengthRow, Unit
from regard.view.charts.line_chart import Axis, Chart, Line, Point
from regard.view.markup import Markup, element, join
from regard.view.samples import scrolled
from regard.view.terminal_cells import pad, shorten, width
from regard.words import t

SCORES = ("BLEU", "chrF", "hyp/ref")
LABEL = 60  # cells that there are under a chart
Curves = Mapping[str, LengthCurve]


@dataclass(frozen=True)
class LengthTable:
    """Cells of text, a row for each bucket: what is said once, then the columns of each system.

    Sentences and their mean length are said once if the systems were given the same sentences.
    """

    systems: list[str]
    shared: list[str]  # heads of the first columns
    each: list[str]  # heads of the columns of every system
    rows: list[list[str]]

    @classmethod
    def of(cls, curves: Curves) -> LengthTable:
        unit, once = unit_of(curves), same_sentences(curves)
        table = []
        for bucket, rows in length_rows(curves):
            cells = [bucket.label, *(_counts(rows[0]) if once else [])]
            for row in rows:
                cells += [*([] if once else _counts(row)), *_scores(row)]
            table.append(cells)
        counted = [t("sentences"), t("mean")]
        counts, own = (counted, []) if once else ([], counted)
        length = t("characters") if unit == "characters" else t("words")
        return cls(list(curves), [length, *counts], [*own, *SCORES], table)

    @property
    def heads(self) -> list[str]:
        return [*self.shared, *self.each * len(self.systems)]


def length_rows(curves: Curves) -> list[tuple[Bucket, list[LengthRow | None]]]:
    """Each bucket with its row in every curve, None where a curve has no such sentences."""
    rows = [{row.bucket: row for row in curve.rows} for curve in curves.values()]
    buckets = sorted(set().union(*rows), key=lambda bucket: (bucket.low, bucket.label))
    return [(bucket, [found.get(bucket) for found in rows]) for bucket in buckets]


def unit_of(curves: Curves) -> Unit:
    """What all the curves are measured in."""
    if not curves:
        raise ValueError(t("no curve to draw"))
    unit, *others = dict.fromkeys(curve.unit for curve in curves.values())
    if others:
        raise ValueError(
            t(
                "curves over {unit} and {others} cannot share an axis: measure all in one unit",
                unit=unit,
                others=others[0],
            )
        )
    return unit


def same_sentences(curves: Curves) -> bool:
    """Whether every bucket has as many sentences in all curves, and of the same mean length."""
    counts = [
        [(row.bucket, row.sentences, row.mean_length) for row in curve.rows]
        for curve in curves.values()
    ]
    return all(one == counts[0] for one in counts)


def length_table(curves: Curves) -> str:
    """Lines of text, all columns aligned; BLEU, chrF and length ratio of each system."""
    table = LengthTable.of(curves)
    lines = [table.heads, *table.rows]
    widths = [max(map(width, column)) + 2 for column in zip(*lines, strict=True)]
    groups = _widen(widths, table) if len(curves) > 1 else []
    aligned = [
        "".join(pad(text, cells, ">") for text, cells in zip(line, widths, strict=True))
        for line in lines
    ]
    return "\n".join([*groups, *aligned])


def length_chart(curves: Curves, title: str | None = None) -> Chart:
    """BLEU over the buckets, one line a system; under each bucket how many sentences it has."""
    table, once = length_rows(curves), same_sentences(curves)
    ticks = []
    for at, (bucket, rows) in enumerate(table):
        counts = [f"{row.sentences if row else 0:,}" for row in rows]
        ticks.append((float(at), [bucket.label, f"n {counts[0]}" if once else "/".join(counts)]))
    lines = []
    for system, name in enumerate(curves):
        found = [(at, bucket, rows[system]) for at, (bucket, rows) in enumerate(table)]
        lines.append(Line(name, [_point(at, bucket, row) for at, bucket, row in found if row]))
    scores = [point.y for line in lines for point in line.points]
    characters = unit_of(curves) == "characters"
    label = t("characters in the source") if characters else t("words in the source")
    label += "" if once else f"; {t('n of {systems}', systems='/'.join(curves))}"
    x = Axis(shorten(label, LABEL), -0.4, len(table) - 0.6, ticks)
    titled = t("BLEU by source length") if title is None else title
    return Chart(titled, lines, x, Axis.of("BLEU", scores, zero=True))


def _point(at: int, bucket: Bucket, row: LengthRow) -> Point:
    title = t.plural(
        row.sentences,
        "{bucket}: BLEU {bleu} of {n} sentence",
        "{bucket}: BLEU {bleu} of {n} sentences",
        n=f"{row.sentences:,}",
        bucket=bucket.label,
        bleu=f"{row.bleu:.1f}",
    )
    return Point(at, row.bleu, title)


def _counts(row: LengthRow | None) -> list[str]:
    return [f"{row.sentences:,}", f"{row.mean_length:.1f}"] if row else ["–", "–"]


def _scores(row: LengthRow | None) -> list[str]:
    if row is None:
        return ["–"] * len(SCORES)
    return [f"{row.bleu:.1f}", f"{row.chrf:.1f}", f"{row.length_ratio:.2f}"]


def _widen(widths: list[int], table: LengthTable) -> list[str]:
    """The line of system names over their columns, which grow where a name is wider."""
    once, own = len(table.shared), len(table.each)
    line = " " * sum(widths[:once])
    for number, name in enumerate(table.systems):
        first = once + own * number
        room = sum(widths[first : first + own])
        extra = max(width(name) + 2 - room, 0)
        widths[first] += extra
        line += pad(name, room + extra, ">")
    return [line]


def length_section(curves: Curves, name: str = "BLEU") -> Markup:
    """The chart and the table of a report; name: what this BLEU is called."""
    cells = LengthTable.of(curves)
    groups = [element("th", name, scope="colgroup", colspan=len(cells.each)) for name in curves]
    once = element("td", colspan=len(cells.shared))
    names = element("tr", once, *groups) if len(curves) > 1 else ""
    heads = [element("th", head, scope="col") for head in cells.heads]
    rows = [
        element("tr", element("th", label, scope="row"), *(element("td", one) for one in numbers))
        for label, *numbers in cells.rows
    ]
    table = element(
        "table",
        element("caption", t("BLEU, chrF and length ratio by the length of the source")),
        element("thead", names, element("tr", *heads)),
        element("tbody", *rows),
        class_="numbers",
    )
    signatures = sorted({curve.signature for curve in curves.values()})
    return join(
        [
            element(
                "div",
                element("figure", length_chart(curves, name).inline()),
                scrolled(table, t("Scores by source length")),
                class_="beside",
            ),
            *(element("p", f"BLEU: {signature}", class_="signature") for signature in signatures),
        ]
    )
