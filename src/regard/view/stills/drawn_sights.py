"""A picture and how it was looked at, drawn: all steps at once for a page, or one of them for a film."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from regard.records.png_image import PngImage
from regard.records.sights import Canvases, CanvasStep, FilterWindow, Glimpses, Sight, Warps
from regard.view.markup import Markup, element, join
from regard.view.stills.drawn_marks import (
    READ,
    WRITE,
    PictureFrame,
    draw_pictured,
    glimpse_marks,
    warp_marks,
    window_marks,
)
from regard.view.stills.paper import Theme, label, length, number, write
from regard.view.stills.warped_pixels import pixels_of, resampled
from regard.words import t

LARGE, PANE, SMALL, CELL = 420.0, 320.0, 96.0, 72.0  # sides of pictures
GAP, NEAR, TEXT = 22.0, 8.0, 12.0
MOST_CELLS = 16  # steps that are drawn at once; of more, as many at even distances
ACROSS = 8
LINE, BAR = 20.0, 130.0  # of the bars of what is believed
FEW_LABELS, MOST_LABELS = 12, 8  # all are shown, or the likeliest
MOST_ANEW = 256  # pixels of a side that are read anew


class Part(NamedTuple):
    """A drawing whose upper left corner is 0, 0."""

    markup: Markup
    wide: float
    high: float


def draw_sight(sight: Sight, theme: Theme) -> Part:
    """All of it at once."""
    if isinstance(sight, Glimpses):
        frame = PictureFrame.with_squares(sight, LARGE, sight.widths[:1])
        whole = _pictured(sight.image, frame, glimpse_marks(sight, frame, None), theme)
        return _below([whole, _seen_steps(sight, theme)])
    if isinstance(sight, Canvases):
        return _canvas_sheet(sight, theme)
    return _below([draw_warp(sight, n, 1.0, theme) for n in range(len(sight.warps))])


def draw_step(sight: Glimpses | Canvases, step: int, theme: Theme) -> Part:
    """One step: the picture, what was seen, what was believed."""
    now = sight.steps[step]
    count = t("{n} of {count}", n=step + 1, count=len(sight.steps))
    if isinstance(sight, Glimpses):
        frame = PictureFrame.with_squares(sight, LARGE)
        parts = [_pictured(sight.image, frame, glimpse_marks(sight, frame, step), theme, count)]
        seen = [
            _pictured(image, PictureFrame.around(image, SMALL), [], theme, _pixels(wide))
            for image, wide in zip(sight.steps[step].seen, sight.widths, strict=False)
        ]
        parts += [_below(seen, NEAR)] if seen else []
    else:
        parts = _panes(sight, step, PANE, theme, named=True)
        parts[-1] = _below([parts[-1], _line(count, parts[-1].wide, theme)], 2)
        if isinstance(now, CanvasStep) and (now.read or now.write):
            parts = [_below([_beside(parts), _line(_window_key(), PANE, theme)], 4)]
    if now.beliefs:
        parts.append(_beliefs(sight.labels, now.beliefs, theme))
    return _beside(parts)


def draw_warp(sight: Warps, which: int, share: float, theme: Theme) -> Part:
    """The picture with the grid, and what is seen, so far on the way to the warp."""
    warp = sight.warps[which]
    frame = PictureFrame.around(sight.image, PANE)
    seen = warp.image
    if share < 1:
        less = min(1.0, MOST_ANEW / max(seen.width, seen.height))
        size = max(round(seen.height * less), 1), max(round(seen.width * less), 1)
        seen = PngImage.of(resampled(pixels_of(sight.image), warp.grid, share, size))
    after = t("what is seen") if len(sight.warps) == 1 else warp.name or f"{which + 1}"
    return _beside(
        [
            _pictured(
                sight.image,
                frame,
                warp_marks(warp, frame, share),
                theme,
                t("the picture, and where it is read"),
            ),
            _pictured(seen, PictureFrame.around(seen, PANE), [], theme, after),
        ]
    )


def _seen_steps(sight: Glimpses, theme: Theme) -> Part:
    """A column for each step: its number, what each scale saw, what was believed most."""
    columns = []
    for place in _chosen(len(sight.steps)):
        step = sight.steps[place]
        parts = [_line(f"{place + 1}", CELL, theme, middle=True)]
        parts += [
            _pictured(image, PictureFrame.around(image, CELL), [], theme) for image in step.seen
        ]
        if step.beliefs:
            parts.append(_line(_best(sight.labels, step.beliefs), CELL, theme, middle=True))
        columns.append(_below(parts, 4))
    return _wrapped(columns)


def _canvas_sheet(sight: Canvases, theme: Theme) -> Part:
    """Steps side by side, each with what was read over what was drawn."""
    columns = []
    for place in _chosen(len(sight.steps)):
        parts = _panes(sight, place, SMALL, theme, named=False)
        said = [f"{place + 1}"]
        if sight.steps[place].beliefs:
            said.append(_best(sight.labels, sight.steps[place].beliefs))
        columns.append(_below([*parts, _line(" · ".join(said), SMALL, theme, middle=True)], 4))
    names = []
    if any(step.read for step in sight.steps) and sight.image is not None:
        names.append((READ, t("the picture, and what is read of it")))
    if any(step.canvas for step in sight.steps):
        names.append((WRITE, t("the canvas, and where it is written")))
    keys = [_key(ink, name, theme) for ink, name in names]
    if names:
        keys.append(_line(_window_key(), SMALL, theme))
    return _below([_wrapped(columns), *keys], NEAR)


def _window_key() -> str:
    """What a frame says by its look."""
    return t(
        "a frame runs through the outermost filters: the blurrier, the wider and paler; dashed: it goes on "
        "outside"
    )


def _panes(sight: Canvases, step: int, size: float, theme: Theme, *, named: bool) -> list[Part]:
    now = sight.steps[step]
    reads, writes = [each.read for each in sight.steps], [each.write for each in sight.steps]
    every: list[tuple[PngImage | None, Sequence[FilterWindow | None], str, str]] = [
        (sight.image, reads, READ, t("the picture, and what is read of it")),
        (now.canvas, writes, WRITE, t("the canvas, and where it is written")),
    ]
    parts = []
    for image, windows, ink, name in every:
        if image is not None:
            window = windows[step]
            frame = PictureFrame.with_windows(image, [*reads, *writes], size)
            marks = window_marks(window, frame, ink) if window is not None else []
            parts.append(_pictured(image, frame, marks, theme, name if named else ""))
    return parts


def _pictured(
    image: PngImage, frame: PictureFrame, marks: Sequence[Markup], theme: Theme, name: str = ""
) -> Part:
    drawn = Part(draw_pictured(image, frame, *marks, ground=theme.rule), frame.wide, frame.high)
    return _below([drawn, _line(name, frame.wide, theme)], 4) if name else drawn


def _beliefs(labels: Sequence[str], beliefs: Sequence[float], theme: Theme) -> Part:
    best = max(range(len(beliefs)), key=lambda n: beliefs[n])
    shown = list(range(len(beliefs)))
    if len(shown) > FEW_LABELS:
        shown = sorted(shown, key=lambda n: -beliefs[n])[:MOST_LABELS]
    names = [label(labels[n]) for n in shown]
    left = max(length(name, 13) for name in names) + 10
    marks = []
    for line, (place, name) in enumerate(zip(shown, names, strict=True)):
        y, share = line * LINE, min(max(beliefs[place], 0), 1)
        bold = 650 if place == best else None
        bar = {"x": round(left, 2), "y": y + 3, "height": 12, "rx": 3}
        marks += [
            write(name, left - 8, y + 13, size=13, fill=theme.ink, anchor="end", weight=bold),
            element("rect", **bar, width=BAR, fill=theme.rule),
            element(
                "rect",
                **bar,
                width=round(BAR * share, 2),
                fill=READ,
                fill_opacity=1 if bold else 0.6,
            ),
            write(number(beliefs[place]), left + BAR + 8, y + 13, size=TEXT, fill=theme.muted),
        ]
    return Part(join(marks), left + BAR + 46, len(shown) * LINE)


def _best(labels: Sequence[str], beliefs: Sequence[float]) -> str:
    best = max(range(len(beliefs)), key=lambda n: beliefs[n])
    return f"{label(labels[best])} {number(beliefs[best])}"


def _pixels(wide: float) -> str:
    return t("{n} × {n} pixels", n=f"{wide:g}")


def _chosen(count: int) -> list[int]:
    """All steps, or as many at even distances, the first and the last among them."""
    if count <= MOST_CELLS:
        return list(range(count))
    return [round(n * (count - 1) / (MOST_CELLS - 1)) for n in range(MOST_CELLS)]


def _line(text: str, wide: float, theme: Theme, *, middle: bool = False) -> Part:
    anchor, x = ("middle", wide / 2) if middle else ("start", 0.0)
    drawn = write(text, x, TEXT, size=TEXT, fill=theme.muted, anchor=anchor)
    return Part(drawn, wide if middle else max(length(text, TEXT), wide), TEXT + 4)


def _key(ink: str, text: str, theme: Theme) -> Part:
    box = element("rect", width=11, height=11, y=2, rx=2, fill=ink)
    drawn = write(text, 18, TEXT, size=TEXT, fill=theme.muted)
    return Part(join([box, drawn]), 18 + length(text, TEXT), TEXT + 4)


def _beside(parts: Sequence[Part], gap: float = GAP) -> Part:
    placed, x = [], 0.0
    for part in parts:
        placed.append(element("g", part.markup, transform=f"translate({x:.1f} 0)"))
        x += part.wide + gap
    return Part(join(placed), x - gap, max(part.high for part in parts))


def _below(parts: Sequence[Part], gap: float = GAP) -> Part:
    placed, y = [], 0.0
    for part in parts:
        placed.append(element("g", part.markup, transform=f"translate(0 {y:.1f})"))
        y += part.high + gap
    return Part(join(placed), max(part.wide for part in parts), y - gap)


def _wrapped(columns: Sequence[Part]) -> Part:
    rows = [columns[n : n + ACROSS] for n in range(0, len(columns), ACROSS)]
    return _below([_beside(row, NEAR) for row in rows], GAP)
