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

Pixels = NDArray[np.uint8]  # (H, W)
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
            raise ValueError(f"digits of {self.digit} pixels do not fit into places of {room}")
        if not 1 <= self.least <= self.most or (self.grid and self.most > rows * columns):
            raise ValueError(
                f"{self.least} to {self.most} digits do not fit a grid of {rows} x {columns}"
            )
        if self.grid and max(self.grid) > 3:
            raise ValueError(f"a grid of {rows} x {columns}: there are names for 3 x 3 at most")


def digit_scenes(
    settings: SceneSettings, pictures: Sequence[Pixels], labels: Sequence[int]
) -> Iterator[DigitScene]:
    """pictures: digits of one size, bright on black, a multiple of `settings.digit` high and wide."""
    digits = np.stack([_smaller(np.asarray(one), settings.digit) for one in pictures])
    rows, columns = settings.grid or (3, 3)
    numbers = _numbers(settings, rows * columns if settings.grid else TRIES * settings.most)
    for scene in range(settings.count):
        draw = {name: row[scene] for name, row in numbers.items()}
        count = settings.least + int(draw[_COUNT][0] * (settings.most - settings.least + 1))
        corners = (_in_grid if settings.grid else _free)(settings, draw, count)
        which = (draw[_DIGITS] * len(digits)).astype(np.int64)
        placed = [
            PlacedDigit(int(labels[n]), top, left, row, column)
            for n, (top, left, row, column) in zip(which, corners, strict=False)
        ]
        canvas = np.zeros(settings.canvas, np.uint8)
        for n, one in zip(which, placed, strict=False):
            part = canvas[one.top : one.top + settings.digit, one.left : one.left + settings.digit]
            np.maximum(part, digits[n], out=part)
        ordered = tuple(sorted(placed, key=lambda one: (one.row, one.column, one.top, one.left)))
        yield DigitScene(canvas, ordered, float(draw[_STYLE][0]))


def _numbers(settings: SceneSettings, most: int) -> dict[int, NDArray[np.float64]]:
    """(scenes, most) from 0 to 1, for each draw."""
    scenes = torch.arange(settings.count) + (settings.seed << 32)
    return {name: uniform(mixed(mixed(scenes) + name), most).double().numpy() for name in range(6)}


def _in_grid(
    settings: SceneSettings, draw: dict[int, NDArray[np.float64]], count: int
) -> list[tuple[int, int, int, int]]:
    """(top, left, row, column) of each digit."""
    assert settings.grid is not None
    rows, columns = settings.grid
    high, wide = settings.canvas[0] // rows, settings.canvas[1] // columns
    found = []
    for place in np.argsort(draw[_PLACES], kind="stable")[:count]:
        row, column = divmod(int(place), columns)
        top = row * high + int(draw[_DOWN][place] * (high - settings.digit + 1))
        left = column * wide + int(draw[_RIGHT][place] * (wide - settings.digit + 1))
        found.append((top, left, row, column))
    return found


def _free(
    settings: SceneSettings, draw: dict[int, NDArray[np.float64]], count: int
) -> list[tuple[int, int, int, int]]:
    """The first places of those drawn that keep clear of each other."""
    (height, width), side = settings.canvas, settings.digit
    found: list[tuple[int, int, int, int]] = []
    for down, right in zip(draw[_DOWN], draw[_RIGHT], strict=True):
        top, left = int(down * (height - side + 1)), int(right * (width - side + 1))
        if all(max(abs(top - t), abs(left - w)) >= side for t, w, _, _ in found):
            row, column = (2 * top + side) * 3 // (2 * height), (2 * left + side) * 3 // (2 * width)
            found.append((top, left, row, column))
        if len(found) == count:
            break
    return found


def _smaller(picture: Pixels, side: int) -> Pixels:
    """The mean of squares of pixels."""
    step = len(picture) // side
    if picture.shape != (side * step, side * step) or not step:
        raise ValueError(f"digits of {picture.shape} cannot be averaged down to {side} x {side}")
    squares = picture.reshape(side, step, side, step).astype(np.float64).mean((1, 3))
    return np.rint(squares).astype(np.uint8)
