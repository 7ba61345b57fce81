"""What is drawn over a picture that was looked at: squares and a path, windows, a bent grid.

The same as the page's drawing/sight_marks.js. One unit is a pixel of the drawing, `zoom` of them are one of
the picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from regard.records.png_image import PngImage
from regard.records.sights import FilterWindow, Glimpses, WarpedImage
from regard.view.markup import Markup, element, join
from regard.view.stills.paper import LATIN
from regard.view.stills.warped_pixels import Numbers, source_places

NOW, PAST, READ, WRITE = "#ffd84d", "#ffffff", "#4da3ff", "#ff8a3d"
GRID, EDGE, HALO, INK = "#ffd84d", "#ff8a3d", "#000000", "#111111"
EDGE_INK = "#7d8590"  # of the hairline around a picture: a white one is seen on a white sheet
OUTSIDE = 0.3  # of the picture's size may be seen around it
SHEET = 200.0  # wide: smaller drawings have no room for the dots of filters
FEW = 160  # pixels of a side: fewer are drawn as squares
FAR = 4000.0  # where lines end that lead out of the drawing
EDGE_GAP = 1.2  # from the edge to a dashed line along it
TRAIL = 40  # places of a path: more hide the picture


class PictureFrame(NamedTuple):
    """What part of a picture is drawn, in its pixels; it may be more than all of it."""

    left: float
    top: float
    width: float
    height: float
    zoom: float

    @classmethod
    def around(cls, image: PngImage, longer: float) -> PictureFrame:
        """longer: the longer side of the drawing."""
        zoom = longer / max(image.width, image.height)
        return cls(0, 0, image.width, image.height, zoom)

    @classmethod
    def with_squares(
        cls, sight: Glimpses, longer: float, widths: Sequence[float] | None = None
    ) -> PictureFrame:
        """With the squares that go beyond the picture, up to a bound; of all widths, if none are given."""
        half = max(widths or sight.widths) / 2
        wide, high = sight.image.width, sight.image.height
        beyond = [
            (abs(place) * size / 2 + half - size / 2) / size
            for step in sight.steps
            for place, size in ((step.x, wide), (step.y, high))
        ]
        share = min(max(0.0, *beyond), OUTSIDE)
        across, down = wide * (1 + 2 * share), high * (1 + 2 * share)
        return cls(-share * wide, -share * high, across, down, longer / max(across, down))

    @classmethod
    def with_windows(
        cls, image: PngImage, windows: Sequence[FilterWindow | None], longer: float
    ) -> PictureFrame:
        """With the windows that go beyond the picture, up to a bound; the same at every step."""
        size = image.width, image.height
        beyond = [
            (abs(place - 0.5 - side / 2) + (window_side(window) + window.blur - side) / 2) / side
            for window in windows
            if window is not None
            for place, side in ((window.x, size[0]), (window.y, size[1]))
        ]
        share = min(max([0.0, *beyond]), OUTSIDE)
        across, down = size[0] * (1 + 2 * share), size[1] * (1 + 2 * share)
        zoom = longer / max(across, down)
        return cls(-share * size[0], -share * size[1], across, down, zoom)

    @property
    def wide(self) -> float:
        return self.width * self.zoom

    @property
    def high(self) -> float:
        return self.height * self.zoom


def draw_pictured(image: PngImage, frame: PictureFrame, *marks: Markup, ground: str) -> Markup:
    """A picture with marks over it; ground: the colour of what is outside of the picture."""
    place = {
        "x": round(-frame.left * frame.zoom, 2),
        "y": round(-frame.top * frame.zoom, 2),
        "width": round(image.width * frame.zoom, 2),
        "height": round(image.height * frame.zoom, 2),
    }
    few = max(image.width, image.height) <= FEW
    style = "image-rendering:pixelated" if few else None
    wide, high = round(frame.wide, 2), round(frame.high, 2)
    return element(
        "svg",
        element("rect", width=wide, height=high, fill=ground),
        element("rect", **place, fill="#000000"),
        element("image", **place, href=image.source, preserveAspectRatio="none", style=style),
        element("rect", **place, fill="none", stroke=EDGE_INK, stroke_opacity=0.35),
        *marks,
        width=wide,
        height=high,
        viewBox=f"0 0 {wide:g} {high:g}",
        overflow="hidden",
    )


def glimpse_marks(sight: Glimpses, frame: PictureFrame, now: int | None) -> list[Markup]:
    """The path up to a step, what comes later faint, and the squares of the step; None: the whole path, with
    the sharpest square of each step. Of a path longer than `TRAIL`, a step shows its end.
    """
    places = [
        (
            ((step.x + 1) * sight.image.width / 2 - frame.left) * frame.zoom,
            ((step.y + 1) * sight.image.height / 2 - frame.top) * frame.zoom,
        )
        for step in sight.steps
    ]
    last = len(places) - 1 if now is None else now
    first, end = 0, len(places)
    if now is not None and len(places) > TRAIL:
        first, end = max(now + 1 - TRAIL, 0), now + 1
    marks = []
    for number, ((x1, y1), (x2, y2)) in enumerate(pairwise(places[first:end]), first + 1):
        later = number > last
        line = {"x1": round(x1, 2), "y1": round(y1, 2), "x2": round(x2, 2), "y2": round(y2, 2)}
        dashes = "5 5" if later else None
        for ink, wide, opacity in ((HALO, 4.5, 0.35), (PAST, 2, 0.9)):
            opacity = round(opacity * (0.25 if later else 1), 3)
            marks.append(
                element(
                    "line",
                    **line,
                    stroke=ink,
                    stroke_width=wide,
                    stroke_opacity=opacity,
                    stroke_dasharray=dashes,
                )
            )
    if now is None:
        for x, y in places:
            marks += _square(x, y, sight.widths[0] * frame.zoom, NOW, 1.6, 0.9)
    else:
        for scale, wide in enumerate(sight.widths):
            sharp = scale == 0
            marks += _square(
                *places[now], wide * frame.zoom, NOW, 3 if sharp else 1.8, 1 if sharp else 0.85
            )
    for number, (x, y) in enumerate(places[first:end], first):
        if number != now:
            marks.append(_dot(x, y, number + 1, PAST, 0.35 if number > last else 0.95))
    if now is not None:
        marks.append(_dot(*places[now], now + 1, NOW, 1))
    return marks


def window_marks(window: FilterWindow, frame: PictureFrame, ink: str) -> list[Markup]:
    """A square through the outermost filters, as thick as they are blurred, and a dot for each.

    A side of it that lies outside of what is drawn is dashed along the edge.
    """
    x = (window.x - 0.5 - frame.left) * frame.zoom
    y = (window.y - 0.5 - frame.top) * frame.zoom
    spacing, blur, count = window.spacing * frame.zoom, window.blur * frame.zoom, window.count
    side = window_side(window) * frame.zoom
    thick = min(max(blur, 1.6), 0.06 * max(frame.wide, frame.high))
    marks = _square(x, y, side, ink, thick, 0.55 if thick > 5 else 0.95)
    marks += _dashed(x, y, side, frame, ink)
    if count > 12 or side < 8 * count or frame.wide < SHEET:
        return marks
    steps = [(n - (count - 1) / 2) * spacing for n in range(count)]
    return marks + [
        element(
            "circle",
            cx=round(x + dx, 2),
            cy=round(y + dy, 2),
            r=2.2,
            fill=ink,
            stroke=HALO,
            stroke_width=0.7,
            stroke_opacity=0.6,
        )
        for dy in steps
        for dx in steps
    ]


def window_side(window: FilterWindow) -> float:
    """How wide a window is, in pixels."""
    return (window.count - 1) * window.spacing if window.count > 1 else 2 * window.blur


def _dashed(x: float, y: float, side: float, frame: PictureFrame, ink: str) -> list[Markup]:
    """Of a square around (x, y), each side that cannot be seen, at the edge that it lies behind."""
    half, near = side / 2, EDGE_GAP
    wide, high = frame.wide, frame.high
    left, right = (min(max(x + way * half, near), wide - near) for way in (-1, 1))
    upper, lower = (min(max(y + way * half, near), high - near) for way in (-1, 1))
    lines = []
    if x - half < 0:
        lines.append((near, upper, near, lower))
    if x + half > wide:
        lines.append((wide - near, upper, wide - near, lower))
    if y - half < 0:
        lines.append((left, near, right, near))
    if y + half > high:
        lines.append((left, high - near, right, high - near))
    return [
        element(
            "line",
            **{
                name: round(value, 2)
                for name, value in zip(("x1", "y1", "x2", "y2"), line, strict=True)
            },
            stroke=ink,
            stroke_width=1.6,
            stroke_dasharray="5 4",
        )
        for line in lines
    ]


def warp_marks(
    warp: WarpedImage, frame: PictureFrame, share: float, lines: int = 9, points: int = 25
) -> list[Markup]:
    """The grid of the result as it lies in the picture; its upper edge has a colour of its own."""
    along, even = np.linspace(-1, 1, points), np.linspace(-1, 1, lines)
    ways = [(along, np.full(points, v)) for v in even] + [(np.full(points, u), along) for u in even]
    marks = []
    for number, (u, v) in enumerate(ways):
        places = source_places(warp.grid, u, v, share)
        edge = number % lines in (0, lines - 1)
        path = _path(places, frame)
        upper = number == 0
        for ink, wide, opacity in (
            (HALO, 4.4 if edge else 2.6, 0.3),
            (EDGE if upper else GRID, 3.6 if upper else 2.2 if edge else 1, 1 if edge else 0.75),
        ):
            marks.append(
                element(
                    "path",
                    d=path,
                    fill="none",
                    stroke=ink,
                    stroke_width=wide,
                    stroke_opacity=opacity,
                )
            )
    return marks


def _path(places: Numbers, frame: PictureFrame) -> str:
    x = ((places[:, 0] + 1) * frame.width / 2 - frame.left) * frame.zoom
    y = ((places[:, 1] + 1) * frame.height / 2 - frame.top) * frame.zoom
    pairs = np.clip(np.stack([x, y], -1), -FAR, FAR)
    return "M" + "L".join(f"{a:.2f} {b:.2f}" for a, b in pairs)


def _square(x: float, y: float, side: float, ink: str, wide: float, opacity: float) -> list[Markup]:
    box = {
        "x": round(x - side / 2, 2),
        "y": round(y - side / 2, 2),
        "width": round(side, 2),
        "height": round(side, 2),
    }
    wider = round(wide + 2.4, 2)
    return [
        element("rect", **box, fill="none", stroke=HALO, stroke_width=wider, stroke_opacity=0.45),
        element(
            "rect",
            **box,
            fill="none",
            stroke=ink,
            stroke_width=round(wide, 2),
            stroke_opacity=opacity,
        ),
    ]


def _dot(x: float, y: float, number: int, fill: str, opacity: float) -> Markup:
    circle = element(
        "circle", cx=round(x, 2), cy=round(y, 2), r=10, fill=fill, stroke=INK, stroke_width=1.2
    )
    text = element(
        "text",
        str(number),
        x=round(x, 2),
        y=round(y + 4.2, 2),
        text_anchor="middle",
        font_size=12 if number < 100 else 10,
        font_weight=650,
        font_family=LATIN,
        fill=INK,
    )
    return join([element("g", circle, text, opacity=opacity)])
