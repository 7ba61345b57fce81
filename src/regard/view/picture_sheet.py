"""Many small pictures as one."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

GAP = 2  # pixels between them
GROUND = 128  # middle grey


def picture_sheet(pictures: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """(count, H, W, C) in rows that are about as long as there are rows."""
    count, high, wide, channels = pictures.shape
    across = math.ceil(math.sqrt(count))
    down = math.ceil(count / across)
    size = down * (high + GAP) + GAP, across * (wide + GAP) + GAP, channels
    sheet = np.full(size, GROUND, np.uint8)
    for number, picture in enumerate(pictures):
        row, column = divmod(number, across)
        top, left = GAP + row * (high + GAP), GAP + column * (wide + GAP)
        sheet[top : top + high, left : left + wide] = picture
    return sheet
