"""Several heads in one picture: a stripe of each in every cell, lines of each, and which colour is which."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regard.records.attention_map import Array
from regard.view.colours import RGB
from regard.view.markup import Markup, join
from regard.view.picked_matrix import Matrix
from regard.view.stills.paper import Scale, hexadecimal, length, rectangle, write
from regard.words import t

NARROWEST = 2.0  # of a stripe
SMALL = 11.0


@dataclass(frozen=True)
class DrawnHead:
    name: str  # "1.2": layer and head
    colour: RGB
    weights: Array


def coloured(heads: Mapping[str, Matrix], scale: Scale) -> list[DrawnHead]:
    named = zip(heads.items(), scale.theme.heads, strict=False)
    return [DrawnHead(name, colour, matrix.weights) for (name, matrix), colour in named]


def stripes(
    heads: Sequence[DrawnHead], place: tuple[int, int], wide: float, scale: Scale
) -> list[tuple[float, float, RGB]]:
    """Where each begins, how wide it is, its colour; without room for all, the strongest has it all."""
    shares = [_share(float(each.weights[place]), scale) for each in heads]
    colours = [_mixed(each.colour, share, scale) for each, share in zip(heads, shares, strict=True)]
    each = wide / len(heads)
    if each >= NARROWEST:
        return [(n * each, each, colour) for n, colour in enumerate(colours)]
    return [(0.0, wide, colours[shares.index(max(shares))])]


def strongest_colours(heads: Sequence[DrawnHead], scale: Scale) -> NDArray[np.uint8]:
    """Of every cell the colour of the head that is strongest there: (Q, K, 3)"""
    shares = np.abs(np.nan_to_num(np.stack([each.weights for each in heads]))) / scale.full
    strongest = shares.argmax(0)
    share = np.take_along_axis(shares, strongest[None], 0)[0].clip(0, 1)[..., None]
    over = np.array([each.colour for each in heads])[strongest]
    under = np.array(_ground(scale))
    return np.rint(under + share * (over - under)).astype(np.uint8)


def draw_heads(heads: Sequence[DrawnHead], scale: Scale) -> tuple[Markup, float, float]:
    """Which colour is which head, in the order of the stripes."""
    drawn, x = [], 0.0
    for each in heads:
        drawn.append(rectangle(x, 0, 22, 10, fill=hexadecimal(each.colour), rx=3))
        drawn.append(write(each.name, x + 30, 9, size=SMALL, fill=scale.theme.ink))
        x += 30 + length(each.name, SMALL) + 14
    most = t("full colour: {most}", most=f"{scale.full:.3g}")
    drawn.append(write(most, x, 9, size=SMALL, fill=scale.theme.muted))
    return join(drawn), x + length(most, SMALL), 14.0


def _share(weight: float, scale: Scale) -> float:
    return 0.0 if math.isnan(weight) else min(abs(weight) / scale.full, 1.0)


def _mixed(colour: RGB, share: float, scale: Scale) -> RGB:
    """So much of a colour on the ground of the weights."""
    red, green, blue = (
        round(under + share * (over - under))
        for over, under in zip(colour, _ground(scale), strict=True)
    )
    return red, green, blue


def _ground(scale: Scale) -> RGB:
    return scale._replace(signed=False).colour(0.0)
