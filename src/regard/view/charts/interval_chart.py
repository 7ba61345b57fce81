"""Differences with their intervals, one below the other, around a line at nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from regard.view.charts.line_chart import Axis
from regard.view.markup import Markup, element
from regard.view.terminal_cells import shorten, width

WIDE, ROW, TOP, BELOW = 460, 26, 30, 40
CELL = 7.0  # about how wide a character is
MOST_NAME = 24  # characters


@dataclass(frozen=True)
class IntervalRow:
    name: str
    middle: float
    low: float
    high: float
    title: str  # shown where the pointer rests
    shown: bool = False  # whether it is a result: drawn strongly
    dots: Sequence[float] = ()  # of each seed


def interval_chart(title: str, label: str, spans: Sequence[IntervalRow]) -> Markup:
    """An <svg> for a page that includes chart.css."""
    names = [shorten(span.name, MOST_NAME) for span in spans]
    left = 16 + CELL * max((width(name) for name in names), default=0)
    finite = [
        value
        for span in spans
        for value in (span.middle, span.low, span.high, *span.dots, 0.0)
        if math.isfinite(value)
    ]
    axis = Axis.of(label, finite)

    def across(value: float) -> float:
        share = (value - axis.low) / ((axis.high - axis.low) or 1)
        return round(left + min(max(share, 0.0), 1.0) * (WIDE - left - 24), 1)

    high = TOP + ROW * len(spans) + BELOW
    floor = TOP + ROW * len(spans) + 4
    marks = [element("text", title, x=0, y=15, class_="chart-title")]
    for value, (word, *_) in axis.ticks:
        at = across(value)
        kind = "grid zero" if abs(value) < 1e-12 else "grid"
        marks.append(element("line", x1=at, x2=at, y1=TOP - 4, y2=floor, class_=kind))
        marks.append(element("text", word, x=at, y=floor + 15, class_="tick", text_anchor="middle"))
    marks.append(
        element("text", label, x=WIDE - 24, y=floor + 31, class_="axis", text_anchor="end")
    )
    for row, (span, name) in enumerate(zip(spans, names, strict=True)):
        down = TOP + ROW * row + ROW / 2
        low, far = across(max(span.low, axis.low)), across(min(span.high, axis.high))
        dots = [element("circle", cx=across(dot), cy=down, r=2, class_="seed") for dot in span.dots]
        marks.append(
            element(
                "g",
                element("title", span.title),
                element("text", name, x=left - 10, y=down + 4, text_anchor="end"),
                element(
                    "rect",
                    x=left,
                    y=down - ROW / 2,
                    width=WIDE - left - 24,
                    height=ROW,
                    class_="reach",
                ),
                element("path", d=f"M{low} {down} H{far}", class_="whisker"),
                *dots,
                element("circle", cx=across(span.middle), cy=down, r=4.5, class_="dot"),
                class_=f"series {'s0 shown' if span.shown else 's5'}",
            )
        )
    said = f"{title}. " + "; ".join(span.title for span in spans)
    return element(
        "svg", *marks, class_="chart", role="img", aria_label=said, viewBox=f"0 0 {WIDE} {high}"
    )
