"""A digit that is drawn here, and how it was looked at: glimpses, canvases and warps that were made up."""

from __future__ import annotations

import numpy as np

from regard.records.png_image import PngImage
from regard.records.sights import (
    Canvases,
    CanvasStep,
    FilterWindow,
    Glimpses,
    GlimpseStep,
    WarpedImage,
    Warps,
)

DIGITS = tuple("0123456789")


def pixels(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, shape).astype(np.uint8)


def seven(size: int = 60) -> np.ndarray:
    """A 7 in the lower right, bright on dark: (size, size) from 0 to 1."""
    rows, columns = np.mgrid[0:size, 0:size] / size
    bar = (np.abs(rows - 0.42) < 0.035) & (columns > 0.45) & (columns < 0.82)
    stem = (np.abs(columns - (0.8 - 0.62 * (rows - 0.42))) < 0.045) & (rows > 0.4) & (rows < 0.88)
    return (bar | stem).astype(np.float64)


def glimpses(steps: int = 4) -> Glimpses:
    whole = seven()
    places = [(-0.6, -0.5), (0.05, -0.1), (0.35, 0.1), (0.3, 0.5), (0.5, -0.2), (0.2, 0.7)]
    made = []
    for n in range(steps):
        x, y = places[n % len(places)]
        beliefs = np.full(10, 1.0)
        beliefs[7] += 3.0 * n**1.6
        beliefs[1] += 1.2 * n
        seen = tuple(PngImage.of(_square(whole, x, y, 12 * f)[::f, ::f]) for f in (1, 2, 4))
        made.append(GlimpseStep(x, y, seen, tuple((beliefs / beliefs.sum()).tolist())))
    return Glimpses(PngImage.of(whole), (12, 24, 48), tuple(made), DIGITS)


def canvases(steps: int = 8) -> Canvases:
    whole = seven(28)
    made = []
    for n in range(steps):
        share = (n + 1) / steps
        read = FilterWindow(14.5 + 4 * np.cos(n), 14.5 + 4 * np.sin(n), 9 * (1 - share) + 1, 1.0, 2)
        write = FilterWindow(12 + 8 * share, 11 + 12 * share, 5 * (1 - 0.7 * share), 1.5 - share, 5)
        canvas = whole * (np.mgrid[0:28, 0:28][0] / 28 < share) + 0.35 * (1 - share)
        made.append(CanvasStep(PngImage.of(canvas), read, write, PngImage.of(pixels(2, 2, seed=n))))
    return Canvases(PngImage.of(whole), tuple(made))


def warps() -> Warps:
    """A turn and a zoom into the digit, of 40 × 40 pixels."""
    whole = seven()
    rows, columns = ((2 * np.mgrid[0:40, 0:40] + 1) / 40 - 1).astype(np.float32)
    cos, sin = 0.55 * np.cos(0.35), 0.55 * np.sin(0.35)
    grid = np.stack([cos * columns - sin * rows + 0.25, sin * columns + cos * rows + 0.3], -1)
    at = np.clip(np.rint(((grid + 1) * 60 - 1) / 2), 0, 59).astype(int)
    after = PngImage.of(whole[at[..., 1], at[..., 0]])
    return Warps(PngImage.of(whole), (WarpedImage(after, grid.astype(np.float32), "affine"),))


def _square(whole: np.ndarray, x: float, y: float, width: int) -> np.ndarray:
    wide = np.pad(whole, width)
    left = round((x + 1) * whole.shape[1] / 2 - width / 2) + width
    top = round((y + 1) * whole.shape[0] / 2 - width / 2) + width
    return wide[top : top + width, left : left + width]
