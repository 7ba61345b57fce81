"""BLEU by source length, of one system or of several side by side: as text, and as a chart.

curves = {"fixed vector": by_length(...), "attention": by_length(...)}
print(length_table(curves))
Path("bleu-by-length.svg").write_text(length_chart(curves).standalone())
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from regard.measures.by_length import Bucket, LengthCurve, LengthRow, Unit
from regard.view.cells import pad, width
from regard.view.charts import Axis, Chart, Line, Point

COLUMNS = ("BLEU", "chrF", "hyp/ref")
Curves = Mapping[str, LengthCurve]


def length_rows(curves: Curves) -> list[tuple[Bucket, list[LengthRow | None]]]:
    """Each bucket with its row in every curve, None where a curve has no such sentences."""
    rows = [{row.bucket: row for row in curve.rows} for curve in curves.values()]
    buckets = sorted(set().union(*rows), key=lambda bucket: (bucket.low, bucket.label))
    return [(bucket, [found.get(bucket) for found in rows]) for bucket in buckets]


def unit_of(curves: Curves) -> Unit:
    """What all the curves are measured in."""
    if not curves:
        raise ValueError("no curve to draw")
    unit, *others = dict.fromkeys(curve.unit for curve in curves.values())
    if others:
        raise ValueError(
            f"curves over {unit} and {others[0]} cannot share an axis: measure all in one unit"
        )
    return unit


def length_table(curves: Curves) -> str:
    """Lines of text, all columns aligned; BLEU, chrF and length ratio of each system."""
    lines = [[unit_of(curves), "sentences", "mean", *COLUMNS * len(curves)]]
    for bucket, rows in length_rows(curves):
        lines.append([bucket.label, *numbers(rows)])
    widths = [max(map(width, column)) + 2 for column in zip(*lines, strict=True)]
    groups = _widen(widths, list(curves)) if len(curves) > 1 else []
    table = [
        "".join(pad(text, cells, ">") for text, cells in zip(line, widths, strict=True))
        for line in lines
    ]
    return "\n".join([*groups, *table])


def numbers(rows: Sequence[LengthRow | None]) -> list[str]:
    """Sentences and mean length, then BLEU, chrF and ratio of each system; a dash for no sentence."""
    some = next(row for row in rows if row)
    cells = [f"{some.sentences:,}", f"{some.mean_length:.1f}"]
    for row in rows:
        cells += (
            [f"{row.bleu:.1f}", f"{row.chrf:.1f}", f"{row.length_ratio:.2f}"] if row else ["–"] * 3
        )
    return cells


def length_chart(curves: Curves, title: str = "BLEU by source length") -> Chart:
    """BLEU over the buckets, one line a system; under each bucket how many sentences it has."""
    table = length_rows(curves)
    ticks = [
        (float(at), [bucket.label, f"n {next(r for r in rows if r).sentences:,}"])
        for at, (bucket, rows) in enumerate(table)
    ]
    lines = []
    for system, name in enumerate(curves):
        found = [(at, bucket, rows[system]) for at, (bucket, rows) in enumerate(table)]
        lines.append(Line(name, [_point(at, bucket, row) for at, bucket, row in found if row]))
    scores = [point.y for line in lines for point in line.points]
    x = Axis(f"{unit_of(curves)} in the source", -0.4, len(table) - 0.6, ticks)
    return Chart(title, lines, x, Axis.of("BLEU", scores, zero=True))


def _point(at: int, bucket: Bucket, row: LengthRow) -> Point:
    return Point(
        at, row.bleu, f"{bucket.label}: BLEU {row.bleu:.1f} of {row.sentences:,} sentences"
    )


def _widen(widths: list[int], names: list[str]) -> list[str]:
    """The line of system names over their columns, which grow where a name is wider."""
    line = " " * sum(widths[:3])
    for number, name in enumerate(names):
        first = 3 + len(COLUMNS) * number
        room = sum(widths[first : first + len(COLUMNS)])
        extra = max(width(name) + 2 - room, 0)
        widths[first] += extra
        line += pad(name, room + extra, ">")
    return [line]
