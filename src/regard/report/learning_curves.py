"""Learning curves from the rows of a run's metrics.

A row is a mapping with `step` and values named by split and measure: train_loss, dev_loss, dev_bleu.
There is a chart for each measure, with a line for each split; other columns are left alone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from regard.measures.measure import named_as_share
from regard.tasks.evaluation import measure_name
from regard.view.charts import Axis, Chart, Line, Point
from regard.view.markup import Markup, element
from regard.words import t

Metrics = Sequence[Mapping[str, float | None]]
Values = list[tuple[float, float]]  # (step, value)

COLUMN = re.compile(r"(train|dev|test)_(.+)")
RISING = ("bleu", "chrf", "accuracy", "macro_f1")  # better when higher
FALLING = ("loss", "perplexity", "aligned_perplexity", "aer", "bits_per_character", "bits_per_byte")
UPKEEP = ("learning_rate", "gradient_norm", "speed")  # columns that measure no answers
MOST = 200  # points of a training line, and rows of the table; more are averaged, or left out


@dataclass(frozen=True)
class Curves:
    """The rows of a run, and what its measures are called where that is not how they are always called.

    name: of the run, where others are drawn beside it.
    """

    metrics: Metrics
    names: Mapping[str, str] = field(default_factory=dict)  # {"bleu": "BLEU, beam 1"}
    name: str = ""
    beside: Sequence[Curves] = ()

    @property
    def all(self) -> list[Curves]:
        return [self, *self.beside]


def learning_charts(metrics: Metrics | Curves) -> list[Chart]:
    """One chart a measure; perplexity is left to the table where there is a loss, which is its log."""
    curves = _curves(metrics)
    measures: dict[str, dict[tuple[str, str], Values]] = {}
    for run in curves.all:
        for column, values in _columns(run.metrics).items():
            split, measure = _parts(column)
            measures.setdefault(measure, {})[run.name, split] = values
    if "loss" in measures:
        measures.pop("perplexity", None)
    return [_chart(curves, measure, lines) for measure, lines in measures.items()]


def upkeep_charts(metrics: Metrics | Curves) -> list[Chart]:
    """How the training went: the learning rate, the norm of the gradient and the speed, step by step."""
    curves = _curves(metrics)
    charts = []
    for column in UPKEEP:
        lines = {
            (run.name, "train"): [
                (_step(row), row[column] or 0.0)
                for row in run.metrics
                if math.isfinite(row.get(column) or math.nan)
            ]
            for run in curves.all
        }
        there = {name: values for name, values in lines.items() if values}
        if there:
            charts.append(_chart(curves, column, there))
    return charts


def _curves(given: Metrics | Curves) -> Curves:
    return given if isinstance(given, Curves) else Curves(given)


def learning_table(given: Metrics | Curves) -> Markup:
    """The numbers of every evaluation, or of some steps where nothing was evaluated; of one run."""
    curves = _curves(given)
    metrics = curves.metrics
    columns = list(_columns(metrics))
    merged: dict[float, dict[str, float]] = {}
    for row in metrics:
        values = {name: value for name in columns if (value := _value(row, name)) is not None}
        if values:
            merged.setdefault(_step(row), {}).update(values)
    evaluated = [s for s, row in merged.items() if any(_parts(c)[0] != "train" for c in row)]
    steps = sorted(evaluated or merged)
    heads = [
        t("step"),
        *(" ".join([_parts(c)[0], _name(_parts(c)[1], curves.names)]) for c in columns),
    ]
    rows = [
        element(
            "tr",
            element("th", f"{step:,.0f}", scope="row"),
            *(element("td", _number(merged[step].get(column))) for column in columns),
        )
        for step in steps[:: math.ceil(len(steps) / MOST) or 1]
    ]
    return element(
        "table",
        element("caption", t("Measures by step")),
        element("thead", element("tr", *(element("th", head, scope="col") for head in heads))),
        element("tbody", *rows),
        class_="numbers",
    )


def _columns(metrics: Metrics) -> dict[str, Values]:
    """The finite values of each column that names a split and a measure, the loss first."""
    names = dict.fromkeys(name for row in metrics for name in row if COLUMN.fullmatch(name))
    ordered = sorted(names, key=lambda name: _parts(name)[1] != "loss")
    found = {
        name: [(_step(row), v) for row in metrics if (v := _value(row, name)) is not None]
        for name in ordered
    }
    return {name: values for name, values in found.items() if values}


def _chart(curves: Curves, measure: str, given: Mapping[tuple[str, str], Values]) -> Chart:
    """given: by the run and the split."""
    lines, splits = [], {split for _, split in given}
    for (run, split), values in given.items():
        thin = _averaged(values) if split == "train" else values
        points = [Point(s, v, _at(s, v)) for s, v in thin]
        called = run if run and len(splits) == 1 else " ".join(filter(None, (run, split)))
        lines.append(Line(called, points, None if split == "train" else _best(measure, points)))
    name = _name(measure, curves.names)
    title = name
    if len(splits) == 1 and measure not in UPKEEP:
        title = t("{measure} on {split}", measure=name, split=next(iter(splits)))
    shown = [point for line in lines for point in line.points]
    steps = Axis.of(t("step"), [point.x for point in shown], zero=True)
    x = Axis(t("step"), steps.low, max(point.x for point in shown) or 1, _inside(steps, shown))
    y = Axis.of(name, [point.y for point in shown], zero=measure in (*RISING, *UPKEEP))
    return Chart(title, lines, x, y)


def _inside(axis: Axis, points: Sequence[Point]) -> list[tuple[float, Sequence[str]]]:
    """The ticks up to the last step: a run ends where it ended, not at a round number."""
    last = max(point.x for point in points)
    return [(at, text) for at, text in axis.ticks if at <= last]


def _best(measure: str, points: Sequence[Point]) -> Point | None:
    if measure in RISING:
        return max(points, key=lambda point: point.y)
    return min(points, key=lambda point: point.y) if measure in FALLING else None


def _averaged(values: Values) -> Values:
    """At most MOST points, each the mean of some neighbours."""
    size = math.ceil(len(values) / MOST)
    groups = [values[at : at + size] for at in range(0, len(values), size)]
    return [(group[-1][0], fmean(value for _, value in group)) for group in groups]


def _step(row: Mapping[str, float | None]) -> float:
    step = row.get("step")
    if step is None:
        raise ValueError(t("a row of metrics has no step: {dict}", dict=dict(row)))
    return step


def _value(row: Mapping[str, float | None], name: str) -> float | None:
    value = row.get(name)
    if value is None or not math.isfinite(value):
        return None
    return 100 * value if named_as_share(_parts(name)[1]) else value


def _parts(column: str) -> tuple[str, str]:
    found = COLUMN.fullmatch(column)
    assert found
    return found[1], found[2]


def _at(step: float, value: float) -> str:
    return t("{value} at step {step}", value=f"{value:.4g}", step=f"{step:,.0f}")


def _name(measure: str, given: Mapping[str, str]) -> str:
    names = {
        "bleu": "BLEU",
        "chrf": "chrF",
        "aer": "AER",
        "accuracy": t("Accuracy, %"),
        "macro_f1": t("Macro-F1, %"),
        "loss": t("Loss"),
        "perplexity": t("Perplexity"),
        "aligned_perplexity": t("Perplexity, told which word is translated"),
        "bits_per_character": t("Bits per character"),
        "bits_per_byte": t("Bits per byte"),
        "learning_rate": t("Learning rate"),
        "gradient_norm": t("Norm of the gradient"),
        "speed": t("Tokens per second"),
        **given,
    }
    said = measure_name(measure)
    plain = said[:1].upper() + said[1:]
    return names.get(measure, f"{plain}, %" if named_as_share(measure) else plain)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"
