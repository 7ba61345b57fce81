"""How values are spread: bars over intervals of them, those of several sets beside each other."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from regard.view.charts.line_chart import (
    COLOURS,
    HEIGHT,
    WIDTH,
    Axis,
    Frame,
    Line,
    legend,
    round_numbers,
)
from regard.view.markup import Markup, element
from regard.words import t

ABOUT = 12  # intervals
REST = 99.5  # the percentile behind which values share one interval
GAP = 0.14  # of an interval, between it and the next


def histogram_chart(title: str, label: str, values: Mapping[str, np.ndarray]) -> Markup:
    """An <svg> for a page that includes chart.css; the share of each set in an interval, in per cent.

    values: whole numbers from 0 on, by the name of the set.
    """
    there = {name: np.asarray(each) for name, each in values.items() if len(each)}
    edges = _edges(there)
    shares = {name: _shares(each, edges) for name, each in there.items()}
    # the last one has no end; it is drawn as wide as the others
    x = Axis(label, edges[0], edges[-1], [(at, [f"{at:,.0f}"]) for at in _ticks(edges)])
    y = Axis.of("%", [share for each in shares.values() for share in each], zero=True)
    names, top = (Markup(), 36.0)
    if len(there) > 1:
        names, top = legend([Line(name, ()) for name in there])
    frame = Frame(x, y, top)
    floor, step = frame.down(0.0), edges[1] - edges[0]
    drawn = []
    for number, (name, each) in enumerate(shares.items()):
        bars = []
        for place, share in enumerate(each):
            wide = step * (1 - GAP) / len(shares)
            left = edges[place] + step * GAP / 2 + number * wide
            across, high = frame.across(left), frame.down(share)
            said = _said(name, edges, place, share)
            bar = element(
                "rect",
                x=across,
                y=high,
                width=round(max(frame.across(left + wide) - across, 0.5), 1),
                height=round(floor - high, 1),
                class_="bar",
            )
            bars.append(element("g", element("title", said), bar))
        drawn.append(element("g", *bars, class_=f"series s{number % COLOURS}"))
    told = "; ".join(
        t(
            "{set}: median {median}, longest {longest}",
            set=name,
            median=_median(e),
            longest=_most(e),
        )
        for name, e in there.items()
    )
    head = element("text", title, x=0, y=15, class_="chart-title")
    return element(
        "svg",
        head,
        names,
        frame.axes(),
        *drawn,
        class_="chart",
        role="img",
        aria_label=f"{title}. {told}",
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
    )


def _edges(values: Mapping[str, np.ndarray]) -> list[float]:
    """Of even intervals of whole numbers, to about the longest that are not rare."""
    most = max((float(np.percentile(each, REST)) for each in values.values()), default=1.0)
    step = max(1, math.ceil((most + 1) / ABOUT))
    nice = next(n for n in (1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 10**3, 10**9) if n >= step)
    step = nice if nice < 10**9 else step
    return [float(n) for n in range(0, step * (math.ceil((most + 1) / step) + 1), step)]


def _shares(values: np.ndarray, edges: list[float]) -> list[float]:
    inside = np.minimum(values, edges[-1] - 1)  # longer ones are in the last
    counts, _ = np.histogram(inside, bins=edges)
    return (100.0 * counts / len(values)).tolist()


def _ticks(edges: list[float]) -> list[float]:
    every = round_numbers(edges[0], edges[-1])
    return [at for at in every if at <= edges[-1]]


def _said(name: str, edges: list[float], place: int, share: float) -> str:
    low, high = int(edges[place]), int(edges[place + 1]) - 1
    where = f"{low}+" if place == len(edges) - 2 else f"{low}–{high}" if high > low else f"{low}"
    return f"{name}, {where}: {share:.1f} %"


def _median(values: np.ndarray) -> str:
    return f"{float(np.median(values)):,.0f}"


def _most(values: np.ndarray) -> str:
    return f"{int(values.max()):,}"
