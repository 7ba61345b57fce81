"""A film of how a picture was looked at: GIF or APNG, drawn step by step as the still pictures are."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from PIL import Image

from regard.records.record import AttentionRecord
from regard.records.side import NotARecord
from regard.records.sights import Warps
from regard.view.markup import Markup, element
from regard.view.picked_matrix import Pick, over_cells, picked
from regard.view.stills.drawn_picture import draw_word
from regard.view.stills.drawn_sights import Part, draw_step, draw_warp
from regard.view.stills.paper import theme_named
from regard.view.stills.png import fitting, rasterise, svg_size
from regard.view.stills.still_picture import shows_sight, still_of
from regard.words import t

GLIMPSE, WORD, LAST = 900, 900, 1800  # milliseconds
CANVAS, QUICKEST, WHOLE = 220, 60, 9000  # of a step; the least; of all steps together
TURNS, TURN, REST = 12, 80, 1200  # of a warp: its pictures on the way, and how long each is seen
MOST_FRAMES = 72  # of more steps, as many evenly apart: one takes a moment to draw
ZOOM = 1.5
AT_ONCE = 8  # pictures that are drawn together


class FilmFrame(NamedTuple):
    part: Part
    milliseconds: int


def film(
    record: AttentionRecord,
    pick: Pick,
    kind: Literal["gif", "apng"],
    *,
    theme: str = "light",
    zoom: float = ZOOM,
) -> bytes:
    """The bytes of a file that plays for ever: glimpse by glimpse, canvas by canvas, word by word."""
    frames = list(_frames(record, pick, theme))
    wide, high = (max(side) for side in zip(*(f.part[1:] for f in frames), strict=True))
    drawn = [still_of(record, pick, Part(f.part.markup, wide, high), theme) for f in frames]
    first, *others = _pictures(drawn, zoom)
    written = io.BytesIO()
    times = [frame.milliseconds for frame in frames]
    if kind == "gif":  # its 256 colours as they are, not scattered, which would be noise
        first, *others = (each.quantize(dither=Image.Dither.NONE) for each in (first, *others))
    form = {"gif": "GIF", "apng": "PNG"}[kind]
    first.save(written, form, save_all=True, append_images=others, duration=times, loop=0)
    return written.getvalue()


def _pictures(drawn: Sequence[str], zoom: float) -> Iterator[Image.Image]:
    """Drawings of one size in pixels: some at a time, since fonts are looked for each time."""
    wide, high = map(int, svg_size(drawn[0]))
    zoom *= fitting(wide * zoom, high * zoom, AT_ONCE)  # all of one size, the last few too
    for first in range(0, len(drawn), AT_ONCE):
        some = drawn[first : first + AT_ONCE]
        placed = [
            element("g", Markup(svg), transform=f"translate(0 {n * high})")
            for n, svg in enumerate(some)
        ]
        size = {"width": wide, "height": high * len(some)}
        column = element("svg", *placed, xmlns="http://www.w3.org/2000/svg", **size)
        with Image.open(io.BytesIO(rasterise(column, zoom=zoom))) as opened:
            whole = opened.convert("RGB")
        tall = whole.height / len(some)
        for n in range(len(some)):
            yield whole.crop((0, round(n * tall), whole.width, round(n * tall) + int(tall)))


def _frames(record: AttentionRecord, pick: Pick, theme: str) -> Iterator[FilmFrame]:
    paper = theme_named(theme)
    if not shows_sight(record, pick):
        yield from _words(record, pick, theme)
        return
    sight = record.sight
    assert sight is not None
    if isinstance(sight, Warps):
        for which in range(len(sight.warps)):
            for turn in range(TURNS + 1):
                rests = turn in (0, TURNS)
                yield FilmFrame(
                    draw_warp(sight, which, turn / TURNS, paper), REST if rests else TURN
                )
        return
    count = len(sight.steps)
    usual = GLIMPSE if sight.kind == "glimpses" else CANVAS
    steps = shown_steps(count)
    pause = max(min(usual, WHOLE // len(steps)), QUICKEST)
    for step in steps:
        yield FilmFrame(draw_step(sight, step, paper), LAST if step == count - 1 else pause)


def shown_steps(count: int) -> list[int]:
    """The steps that a film has: all, or so many of them, the first and the last among them."""
    if count <= MOST_FRAMES:
        return list(range(count))
    warnings.warn(
        t(
            "the film shows {shown} of the {count} steps, evenly apart; --html, or .json, has all of them",
            shown=MOST_FRAMES,
            count=f"{count:,}",
        ),
        stacklevel=2,
    )
    return [round(n * (count - 1) / (MOST_FRAMES - 1)) for n in range(MOST_FRAMES)]


def _words(record: AttentionRecord, pick: Pick, theme: str) -> Iterator[FilmFrame]:
    matrix = over_cells(picked(record, pick))
    if matrix.columns.picture is None:
        raise NotARecord(
            t(
                "a film needs something that moves: glimpses, canvases, a warp or words over a picture; "
                "save this as .svg or .png"
            )
        )
    count = len(matrix.queries)
    for word in shown_steps(count):
        part = Part(*draw_word(matrix, word, matrix.columns.picture, theme_named(theme)))
        yield FilmFrame(part, LAST if word == count - 1 else WORD)
