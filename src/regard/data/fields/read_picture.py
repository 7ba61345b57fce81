"""Pixels with what is known of where they are from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

SEEN_COLOUR = 24  # of 255, between the channels of a pixel: less is hardly seen


class ReadPicture(np.ndarray[Any, np.dtype[np.uint8]]):
    """(H, W, C). file: its name, if it was read from one. lost_colours: it is grey, and was not.

    stretched_from: (H, W) that it had; None: it is as it was.
    """

    file: str
    lost_colours: bool
    stretched_from: tuple[int, int] | None

    @classmethod
    def of(
        cls,
        pixels: NDArray[np.uint8],
        *,
        file: str = "",
        lost_colours: bool = False,
        stretched_from: tuple[int, int] | None = None,
    ) -> ReadPicture:
        found = pixels.view(cls)
        found.file, found.lost_colours = file, lost_colours
        found.stretched_from = stretched_from
        return found

    def __array_finalize__(self, origin: Any) -> None:
        self.file = getattr(origin, "file", "")
        self.lost_colours = getattr(origin, "lost_colours", False)
        self.stretched_from = getattr(origin, "stretched_from", None)


def like(pixels: NDArray[np.uint8], origin: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Pixels that were made of others, with what is known of those."""
    if not isinstance(origin, ReadPicture):
        return pixels
    return ReadPicture.of(
        pixels,
        file=origin.file,
        lost_colours=origin.lost_colours,
        stretched_from=origin.stretched_from,
    )


def picture_words(pixels: NDArray[np.uint8]) -> str:
    """A picture in words, for a person: its file, if it has one, its size and its kind."""
    height, width, channels = pixels.shape
    words = f"{width}x{height} {'grey' if channels == 1 else 'coloured'} picture"
    file = getattr(pixels, "file", "")
    return f"{file} ({words})" if file else words


def has_colours(pixels: NDArray[np.uint8]) -> bool:
    """Whether an array (H, W, 3) is more than grey."""
    apart = pixels.max(-1) - pixels.min(-1)
    return bool((apart > SEEN_COLOUR).any())


def border_brightness(pixels: NDArray[np.uint8]) -> float:
    """Of the outermost pixels (H, W, C), from 0 to 1: of what lies on a ground, the ground's."""
    height, width = pixels.shape[:2]
    edge = np.ones((height, width), bool)
    edge[1:-1, 1:-1] = False
    return float(np.asarray(pixels)[edge].mean()) / 255
