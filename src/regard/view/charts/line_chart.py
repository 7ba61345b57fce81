"""Lines over an axis, as SVG that is right in light and dark pages and needs no script.

Every point says its numbers when the pointer rests on it. The colours come from chart.css: a page
that shows charts includes it once, a chart in a file of its own holds it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from regard.view.markup import Markup, element, join
from regard.view.terminal_cells import shorten, width
from regard.words import t

WIDTH, HEIGHT = 440, 260
LEFT, RIGHT, BOTTOM = 48, 20, 46  # margins for the labels; the left one grows with them
APART = 8  # of a label and the axis
DIGIT = 7.3  # about how wide a character of a label is, rather more
MARGIN = 16  # around a chart in a file of its own
CELL = 6.6  # about how wide a character of the legend is
DOTS = 60  # more points than these are drawn as a line alone
COLOURS = 6  # of chart.css


@dataclass(frozen=True)
class Point:
    x: float
    y: float
    title: str  # shown where the pointer rests


@dataclass(frozen=True)
class Line:
    name: str
    points: Sequence[Point]
    best: Point | None = None  # ringed, with its value written beside it


@dataclass(frozen=True)
class Axis:
    """From low to high; a tick is a place and what is written there, in one line or more."""

    label: str
    low: float
    high: float
    ticks: Sequence[tuple[float, Sequence[str]]]

    @classmethod
    def of(cls, label: str, values: Sequence[float], *, zero: bool = False) -> Axis:
        """An axis over all values, from 0 if `zero`, whose ticks are round numbers."""
        low, high = min(values, default=0.0), max(values, default=1.0)
        low = min(low, 0.0) if zero else low
        ticks = round_numbers(low, high)
        step = ticks[1] - ticks[0]
        digits = max(0, -math.floor(math.log10(step) + 1e-9))
        return cls(label, ticks[0], ticks[-1], [(at, [f"{at:,.{digits}f}"]) for at in ticks])


def round_numbers(low: float, high: float, about: int = 5) -> list[float]:
    """Multiples of 1, 2 or 5 · 10ⁿ, about so many, from below `low` to above `high`."""
    if high <= low:
        low, high = low - (abs(low) or 1) / 2, high + (abs(high) or 1) / 2
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(n * power for n in (1, 2, 5, 10) if n * power >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [n * step for n in range(first, last + 1)]


@dataclass(frozen=True)
class Chart:
    """Lines over two axes; a legend where there are several."""

    title: str
    lines: Sequence[Line]
    x: Axis
    y: Axis

    def inline(self) -> Markup:
        """An <svg> for a page that includes `stylesheet`."""
        return self._svg(self._content(), viewBox=f"0 0 {WIDTH} {HEIGHT}")

    def standalone(self) -> str:
        """A file of its own, with its colours, a ground and a margin."""
        wide, high = WIDTH + 2 * MARGIN, HEIGHT + 2 * MARGIN
        return self._svg(
            element("style", Markup(stylesheet())),
            element("rect", x=-MARGIN, y=-MARGIN, width=wide, height=high, class_="ground"),
            self._content(),
            xmlns="http://www.w3.org/2000/svg",
            viewBox=f"{-MARGIN} {-MARGIN} {wide} {high}",
            width=2 * wide,
            height=2 * high,
        )

    def _svg(self, *content: str, **attributes: str | float) -> Markup:
        ends = "; ".join(
            t(
                "{line}: {first} to {last}",
                line=line.name,
                first=line.points[0].title,
                last=line.points[-1].title,
            )
            for line in self.lines
            if line.points
        )
        label = f"{self.title}. {ends}"
        return element("svg", *content, class_="chart", role="img", aria_label=label, **attributes)

    def _content(self) -> Markup:
        names, top = legend(self.lines) if len(self.lines) > 1 else (Markup(), 36.0)
        frame = Frame(self.x, self.y, top)
        drawn = [frame.line(line, number % COLOURS) for number, line in enumerate(self.lines)]
        title = element("text", self.title, x=0, y=15, class_="chart-title")
        return join([title, names, frame.axes(), *drawn])


def left_margin(y: Axis) -> float:
    """The room for what is written at the ticks of an axis."""
    widest = max((width(word) for _, words in y.ticks for word in words), default=0)
    return max(LEFT, round(APART + DIGIT * widest, 1))


def stylesheet() -> str:
    return resources.files("regard.view.charts").joinpath("chart.css").read_text("utf-8")


@dataclass(frozen=True)
class Frame:
    """Where values lie in the picture."""

    x: Axis
    y: Axis
    top: float

    def across(self, value: float) -> float:
        share = (value - self.x.low) / ((self.x.high - self.x.low) or 1)
        left = left_margin(self.y)
        return round(left + share * (WIDTH - left - RIGHT), 1)

    def down(self, value: float) -> float:
        share = (value - self.y.low) / ((self.y.high - self.y.low) or 1)
        return round(HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - self.top), 1)

    def axes(self) -> Markup:
        floor, left = HEIGHT - BOTTOM, left_margin(self.y)
        marks = []
        for value, words in self.y.ticks:
            at = self.down(value)
            marks.append(element("line", x1=left, x2=WIDTH - RIGHT, y1=at, y2=at, class_="grid"))
            marks += _stack(words, left - APART, at + 4, "end")
        for value, words in self.x.ticks:
            marks += _stack(words, self.across(value), floor + 16, "middle")
        label = floor + 18 + 12 * max((len(words) for _, words in self.x.ticks), default=0)
        marks.append(
            element(
                "text", self.x.label, x=WIDTH - RIGHT, y=label, class_="axis", text_anchor="end"
            )
        )
        return element("g", *marks, aria_hidden="true")

    def line(self, line: Line, colour: int) -> Markup:
        places = [(self.across(p.x), self.down(p.y)) for p in line.points]
        drawn = "M" + " L".join(f"{across:g} {down:g}" for across, down in places)
        few = len(places) <= DOTS
        dots = [
            element(
                "g",
                element("title", f"{line.name}: {point.title}" if line.name else point.title),
                element("circle", cx=across, cy=down, r=7, class_="reach"),
                *([element("circle", cx=across, cy=down, r=2.4, class_="dot")] if few else []),
            )
            for point, (across, down) in zip(line.points, places, strict=True)
        ]
        path = [element("path", d=drawn, class_="line")] if len(places) > 1 else []
        return element("g", *path, *dots, self._best(line.best), class_=f"series s{colour}")

    def _best(self, point: Point | None) -> Markup:
        if point is None:
            return Markup()
        across, down = self.across(point.x), self.down(point.y)
        anchor = "end" if across > WIDTH / 2 else "start"
        above = down - 10 if down - 22 > self.top else down + 20
        return join(
            [
                element("circle", cx=across, cy=down, r=5, class_="ring"),
                element(
                    "text", f"{point.y:.4g}", x=across, y=above, class_="best", text_anchor=anchor
                ),
            ]
        )


def legend(lines: Sequence[Line]) -> tuple[Markup, float]:
    """The names beside a piece of their line, in as many rows as they need; and where it ends."""
    marks, across, down = [], 0.0, 35.0
    for number, line in enumerate(lines):
        name = shorten(line.name, 36)
        wide = 24 + CELL * width(name) + 16
        if across and across + wide > WIDTH:
            across, down = 0.0, down + 17
        sample = element("path", d=f"M{across:g} {down - 4:g} h18", class_="line")
        label = element("text", name, x=across + 24, y=down, class_="legend")
        marks.append(element("g", sample, label, class_=f"series s{number % COLOURS}"))
        across += wide
    return join(marks), down + 18


def _stack(words: Sequence[str], x: float, y: float, anchor: str) -> list[Markup]:
    return [
        element(
            "text",
            word,
            x=x,
            y=y + 12 * row,
            class_="tick" if not row else "tick under",
            text_anchor=anchor,
        )
        for row, word in enumerate(words)
    ]
