"""Quality against cost, and the front: variants that no other beats in both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from regard.clock import clock
from regard.compare.cost_order import cheaper_in
from regard.compare.findings import Findings
from regard.compare.judged_run import Cost
from regard.compare.score_table import megabytes
from regard.report.score_words import display_name
from regard.view.charts.line_chart import APART, BOTTOM, HEIGHT, RIGHT, WIDTH, Axis, left_margin
from regard.view.markup import Markup, element, join
from regard.view.terminal_cells import shorten, width
from regard.words import t

TOP = 36
CELL, LONGEST = 6.0, 26  # about how wide a character of a name is; characters
Place = tuple[float, float]  # cost, quality
Less = Callable[[str, str], bool]  # whether the first of two names surely costs less


def cost_section(found: Findings) -> Markup:
    """A chart for each cost that tells some of the variants apart."""
    measure, costs = found.measure, found.costs
    means = {
        name: (100 if measure.share else 1) * value
        for name, value in found.comparison.means.items()
    }
    labels = {
        "parameters": (t("parameters"), 1.0),
        "seconds": (t("training time, s"), 1.0),
        "memory": (t("peak memory of training, MB"), 1 / 2**20),
        "speed": (t("items answered in a second"), 1.0),
    }
    drawn, alike = [], []
    quality = Axis.of(display_name(measure), list(means.values()))
    for kind, (label, factor) in labels.items():
        known = {
            name: factor * value
            for name in means
            if name in costs and (value := getattr(costs[name], kind)) is not None
        }

        def less(one: str, other: str, kind: str = kind) -> bool:
            return cheaper_in(kind, costs[one], costs[other])

        if not any(less(one, other) for one in known for other in known):  # nothing to choose by
            alike += [label] if known else []
            continue
        places = {name: (value, means[name]) for name, value in known.items()}
        said = {name: f"{name}: {_of(costs[name])}" for name in known}
        axes = Axis.of(label, list(known.values())), quality
        title = f"{display_name(measure)}{', %' if measure.share else ''}"
        chart = cost_chart(title, places, axes, said, less, error=measure.error)
        drawn.append(element("figure", chart))
    if not drawn and not alike:
        return Markup()
    notes = [
        t(
            "Each at the same budget{budget}. The line is the front: variants that no other beats in quality "
            "and cost at once; where quality differs by less than could be shown, the cheaper is the choice.",
            budget=f" ({found.budget})" if found.budget else "",
        ),
        t(
            "Costs count as the same where they are less than 5 % apart, and times and speeds where they are "
            "less than 20 % apart, or less than twice as far as they vary from seed to seed or from time to "
            "time."
        ),
        *([t("The same for all: {costs}.", costs=", ".join(alike))] if alike else []),
    ]
    paragraph = element("p", " ".join(notes if drawn else notes[1:]), class_="note")
    return join([paragraph, element("div", *drawn, class_="charts") if drawn else ""])


def _of(cost: Cost) -> str:
    parts = [t("{count} parameters", count=f"{cost.parameters:,}")]
    parts += [clock(cost.seconds)] if cost.seconds is not None else []
    parts += [megabytes(cost.memory)] if cost.memory is not None else []
    parts += [t("{speed} items/s", speed=f"{cost.speed:.3g}")] if cost.speed is not None else []
    return ", ".join(parts)


def front(places: Mapping[str, Place], less: Less, *, error: bool = False) -> list[str]:
    """Those that no other is as good as in both and better in one, by cost.

    less: whether the first of two names surely costs less; error: a smaller quality is better.
    """
    worth = {name: -quality if error else quality for name, (_, quality) in places.items()}

    def beats(one: str, other: str) -> bool:
        if less(one, other):
            return worth[one] >= worth[other]
        return worth[one] > worth[other] and not less(other, one)

    kept = [name for name in places if not any(beats(other, name) for other in places)]
    return sorted(kept, key=lambda name: places[name])


def cost_chart(
    title: str,
    places: Mapping[str, Place],
    axes: tuple[Axis, Axis],
    said: Mapping[str, str],
    less: Less,
    *,
    error: bool = False,
) -> Markup:
    """An <svg> for a page that includes chart.css. said: shown where the pointer rests."""
    x, y = axes
    left = left_margin(y)
    best = front(places, less, error=error)
    spots = {name: (_across(x, c, left), _down(y, q)) for name, (c, q) in places.items()}
    path = "M" + " L".join(f"{a:g} {b:g}" for a, b in (spots[name] for name in best))
    marks = [element("text", title, x=0, y=15, class_="chart-title"), *_grid(x, y, left)]
    if len(best) > 1:
        marks.append(element("g", element("path", d=path, class_="line"), class_="series s0"))
    labels = _labels(spots)
    for name, (across, down) in spots.items():
        on_front, (x_at, y_at, anchor) = name in best, labels[name]
        marks.append(
            element(
                "g",
                element("title", said[name]),
                element("circle", cx=across, cy=down, r=9, class_="reach"),
                element("circle", cx=across, cy=down, r=5 if on_front else 4, class_="dot"),
                element(
                    "text",
                    shorten(name, LONGEST),
                    x=x_at,
                    y=y_at,
                    class_="point-name",
                    text_anchor=anchor,
                ),
                class_=f"series {'s0' if on_front else 's5 beaten'}",
            )
        )
    told = f"{title}. {t('On the front: {names}', names=', '.join(best))}"
    return element(
        "svg", *marks, class_="chart", role="img", aria_label=told, viewBox=f"0 0 {WIDTH} {HEIGHT}"
    )


def _labels(spots: Mapping[str, Place]) -> dict[str, tuple[float, float, str]]:
    """Where the name of each spot stands, and which end of it: beside it, where no other name is yet."""
    found: dict[str, tuple[float, float, str]] = {}
    taken: list[tuple[float, float, float]] = []  # from, to, and down
    for name, (across, down) in sorted(spots.items(), key=lambda each: each[1]):
        wide = CELL * width(shorten(name, LONGEST))
        places = [
            (across + side * 9, down + shift, "start" if side > 0 else "end")
            for shift in (-7, 15, 4, -19, 27, -31, 39)
            for side in (1, -1)
        ]
        for x, y, anchor in places:
            left = x if anchor == "start" else x - wide
            inside = left >= 0 and left + wide <= WIDTH
            free = all(left > b or left + wide < a or abs(y - c) > 11 for a, b, c in taken)
            if inside and free:
                break
        found[name] = x, y, anchor
        taken.append((left, left + wide, y))
    return found


def _across(axis: Axis, value: float, left: float) -> float:
    share = (value - axis.low) / ((axis.high - axis.low) or 1)
    return round(left + share * (WIDTH - left - RIGHT), 1)


def _down(axis: Axis, value: float) -> float:
    share = (value - axis.low) / ((axis.high - axis.low) or 1)
    return round(HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP), 1)


def _grid(x: Axis, y: Axis, left: float) -> list[Markup]:
    floor = HEIGHT - BOTTOM
    marks: list[Markup] = []
    for value, words in y.ticks:
        at = _down(y, value)
        marks.append(element("line", x1=left, x2=WIDTH - RIGHT, y1=at, y2=at, class_="grid"))
        marks += _written(words, left - APART, at + 4, "end")
    for value, words in x.ticks:
        marks += _written(words, _across(x, value, left), floor + 16, "middle")
    label = element(
        "text", x.label, x=WIDTH - RIGHT, y=floor + 32, class_="axis", text_anchor="end"
    )
    return [*marks, label]


def _written(words: Sequence[str], x: float, y: float, anchor: str) -> list[Markup]:
    return [element("text", words[0], x=x, y=y, class_="tick", text_anchor=anchor)]
