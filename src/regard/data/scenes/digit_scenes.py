"""Scenes of digits, drawn by keys: the same settings, the same scenes, on every machine.

Scene i of a seed has numbers of its own (see `layers.pictures.draws`), whatever is read before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from regard.layers.pictures.draws import mixed, uniform
from regard.words import t

Pixels = NDArray[np.uint8]  # (H, W)
Corner = tuple[int, int, int, int]  # top and left on the canvas, row and column
AT_ONCE = 1024  # scenes whose numbers are drawn together
TRIES = 20  # places that are tried for a digit that lies free, before it is left out
_COUNT, _PLACES, _DIGITS, _DOWN, _RIGHT, _STYLE = range(6)  # each draw has numbers of its own


@dataclass(frozen=True)
class PlacedDigit:
    """A digit, and its square on the canvas, in pixels."""

    label: int
    top: int
    left: int
    row: int = 0  # of the grid that it stands in, or of thirds of the canvas
    column: int = 0


@dataclass(frozen=True)
class DigitScene:
    picture: Pixels
    digits: tuple[PlacedDigit, ...]  # row by row
    draw: float  # 0 to 1: for what else is left to chance


@dataclass(frozen=True)
class SceneSettings:
    """canvas: height and width. digit: its side, to which it is averaged down. grid: rows and columns of
    places, each of which holds one digit at most, somewhere in it; None: digits lie free, and do not overlap.
    """

    count: int
    seed: int = 1
    canvas: tuple[int, int] = (64, 64)
    digit: int = 28
    grid: tuple[int, int] | None = (2, 2)
    least: int = 2
    most: int = 4

    def __post_init__(self) -> None:
        height, width = self.canvas
        rows, columns = self.grid or (1, 1)
        room = min(height // rows, width // columns)
        if self.digit > room:
            raise ValueError(
                t(
                    "digits of {digit} pixels do not fit into places of {room}",
                    digit=self.digit,
                    room=room,
                )
            )
        if not 1 <= self.least <= self.most or (self.grid and self.most > rows * columns):
            raise ValueError(
                t(
                    "{least} to {most} digits do not fit a grid of {rows} x {columns}",
                    least=self.least,
                    most=self.most,
                    rows=rows,
                    columns=columns,
                )
            )
        if self.grid and max(self.grid) > 3:
            raise ValueError(
                t(
                    "a grid of {rows} x {columns}: there are names for 3 x 3 at most",
                    rows=rows,
                    columns=columns,
                )
            )


def digit_scenes(
    settings: SceneSettings, pictures: Sequence[Pixels], labels: Sequence[int]
) -> Iterator[DigitScene]:
    """pictures: digits of one size, bright on black, a multiple of `settings.digit` high and wide."""
    digits, side = _smaller(np.stack(pictures), settings.digit), settings.digit
    for first in range(0, settings.count, AT_ONCE):
        numbers = _numbers(settings, range(first, min(first + AT_ONCE, settings.count)))
        spread = settings.most - settings.least + 1
        counts = (settings.least + (numbers[_COUNT][:, 0] * spread).astype(np.int64)).tolist()
        which = (numbers[_DIGITS] * len(digits)).astype(np.int64).tolist()
        every = _in_grid(settings, numbers) if settings.grid else _free(settings, numbers, counts)
        for count, chosen, corners, style in zip(
            counts, which, every, numbers[_STYLE][:, 0].tolist(), strict=True
        ):
            canvas = np.zeros(settings.canvas, np.uint8)
            placed = []
            for n, (top, left, row, column) in zip(chosen, corners[:count], strict=False):
                part = canvas[top : top + side, left : left + side]
                np.maximum(part, digits[n], out=part)
                placed.append(PlacedDigit(int(labels[n]), top, left, row, column))
            placed.sort(key=lambda one: (one.row, one.column, one.top, one.left))
            yield DigitScene(canvas, tuple(placed), style)


def _numbers(settings: SceneSettings, which: range) -> dict[int, NDArray[np.float64]]:
    """(scenes, most) from 0 to 1, for each draw, of some of the scenes."""
    rows, columns = settings.grid or (TRIES, settings.most)
    scenes = mixed(torch.arange(which.start, which.stop) + (settings.seed << 32))
    return {
        name: uniform(mixed(scenes + name), rows * columns).double().numpy() for name in range(6)
    }


def _in_grid(
    settings: SceneSettings, numbers: dict[int, NDArray[np.float64]]
) -> list[list[Corner]]:
    """Of each scene (top, left, row, column) of every place, in the order in which they are taken."""
    assert settings.grid is not None
    rows, columns = settings.grid
    high, wide = settings.canvas[0] // rows, settings.canvas[1] // columns
    places = np.argsort(numbers[_PLACES], axis=1, kind="stable")
    row, column = np.divmod(places, columns)
    down, right = (
        (np.take_along_axis(numbers[name], places, 1) * (room - settings.digit + 1)).astype(
            np.int64
        )
        for name, room in ((_DOWN, high), (_RIGHT, wide))
    )
    corners = np.stack((row * high + down, column * wide + right, row, column), -1)
    found: list[list[Corner]] = corners.tolist()
    return found


def _free(
    settings: SceneSettings, numbers: dict[int, NDArray[np.float64]], counts: Sequence[int]
) -> list[list[Corner]]:
    """Of each scene the first places of those drawn that keep clear of each other."""
    (height, width), side = settings.canvas, settings.digit
    tops = (numbers[_DOWN] * (height - side + 1)).astype(np.int64).tolist()
    lefts = (numbers[_RIGHT] * (width - side + 1)).astype(np.int64).tolist()
    every = []
    for count, down, right in zip(counts, tops, lefts, strict=True):
        found: list[Corner] = []
        for top, left in zip(down, right, strict=True):
            if all(max(abs(top - y), abs(left - x)) >= side for y, x, _, _ in found):
                row = (2 * top + side) * 3 // (2 * height)
                found.append((top, left, row, (2 * left + side) * 3 // (2 * width)))
            if len(found) == count:
                break
        every.append(found)
    return every


def _smaller(pictures: Pixels, side: int) -> Pixels:
    """The mean of squares of pixels, of pictures (N, H, W)."""
    step = pictures.shape[1] // side
    if pictures.shape[1:] != (side * step, side * step) or not step:
        raise ValueError(
            t(
                "digits of {pictures_shape} cannot be averaged down to {side} x {side}",
                pictures_shape=pictures.shape[1:],
                side=side,
            )
        )
    if step == 1:
        return pictures.astype(np.uint8)
    squares = pictures.reshape(-1, side, step, side, step).astype(np.float64).mean((2, 4))
    return np.rint(squares).astype(np.uint8)
