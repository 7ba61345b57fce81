"""Films of a digit that moves, drawn by a seed, always alike, as the features of their frames.

A digit goes in one of four directions, and may turn once. A frame is known by FEATURES numbers, as a network
that tracks things would give them: where there is light (the canvas, averaged into 12 × 12 squares), and what
the light is (the square around it, averaged into 7 × 7). In some frames the light is out, and there is
nothing but noise. So which digit it is can be told from any lit frame, and how it moves from several in
their order alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regard.data.scenes.scene_captions import CHINESE, ENGLISH
from regard.words import t

Pixels = NDArray[np.uint8]  # (H, W)
CANVAS, SIDE = 48, 14  # pixels of the canvas and of a digit, in each direction
WHERE, WHAT = 12, 7  # squares of the features, in each direction
FEATURES = WHERE**2 + WHAT**2
NOISE = 0.02
STEPS = {"right": (0, 1), "left": (0, -1), "down": (1, 0), "up": (-1, 0)}  # down and to the right
STEPS_ZH = {"right": "右", "left": "左", "down": "下", "up": "上"}


@dataclass(frozen=True)
class FilmSettings:
    """count films of `least` to `most` frames; turns: the share of those that turn; dark: of frames without
    light, of which a film has neither the first nor the last.
    """

    count: int
    seed: int = 1
    least: int = 8
    most: int = 12
    turns: float = 0.5
    dark: float = 0.25

    def __post_init__(self) -> None:
        if not 4 <= self.least <= self.most <= 24:
            raise ValueError(
                t(
                    "films have 4 to 24 frames, not {least} to {most}",
                    least=self.least,
                    most=self.most,
                )
            )
        if not (0 <= self.turns <= 1 and 0 <= self.dark < 1):
            raise ValueError(t("turns and dark are shares, from 0 to 1"))


@dataclass(frozen=True)
class Film:
    frames: NDArray[np.float32]  # (T, FEATURES)
    digit: int
    ways: tuple[str, ...]  # one, or two where it turns
    lit: tuple[bool, ...]  # of each frame

    @property
    def label(self) -> str:
        return " then ".join(self.ways)

    @property
    def caption(self) -> str:
        name = ENGLISH[self.digit]
        article = "an" if name == "eight" else "a"
        return f"{article} {name} goes {', then '.join(self.ways)}"

    @property
    def caption_zh(self) -> str:
        return f"{CHINESE[self.digit]}向{'，再向'.join(STEPS_ZH[way] for way in self.ways)}"


def moving_digits(
    settings: FilmSettings, pictures: Sequence[Pixels], labels: Sequence[int]
) -> Iterator[Film]:
    """pictures: digits of 28 × 28 pixels, bright on black. Film i of a seed has a generator of its own."""
    for number in range(settings.count):
        draw = np.random.default_rng((settings.seed, number))
        which = int(draw.integers(len(pictures)))
        length = int(draw.integers(settings.least, settings.most + 1))
        ways = _ways(draw, settings.turns)
        turn = (
            int(draw.integers(length // 3, length - length // 3 + 1)) if len(ways) > 1 else length
        )
        lit = draw.random(length) >= settings.dark
        lit[[0, -1]] = True
        places = _places(draw, ways, turn, length)
        digit = _averaged(pictures[which] / 255, SIDE)
        noise = NOISE * draw.random((length, FEATURES))
        frames = [
            _features(digit, *place) if light else np.zeros(FEATURES)
            for place, light in zip(places, lit, strict=True)
        ]
        yield Film(
            (np.stack(frames) + noise).astype(np.float32),
            int(labels[which]),
            ways,
            tuple(map(bool, lit)),
        )


def _ways(draw: np.random.Generator, turns: float) -> tuple[str, ...]:
    names = list(STEPS)
    first = names[int(draw.integers(4))]
    if draw.random() >= turns:
        return (first,)
    across = names[2:] if first in names[:2] else names[:2]
    return first, across[int(draw.integers(2))]


def _places(
    draw: np.random.Generator, ways: Sequence[str], turn: int, length: int
) -> list[tuple[int, int]]:
    """Top and left of the digit in every frame; it starts where all of its way is on the canvas."""
    speed, room = draw.uniform(2.0, 3.0), CANVAS - SIDE
    legs = [STEPS[ways[0] if frame < turn else ways[-1]] for frame in range(1, length)]
    moved = np.cumsum([(0, 0), *legs], axis=0) * min(speed, room / length)
    low, high = moved.min(0), moved.max(0)
    start = -low + draw.random(2) * (room - (high - low))
    return [(int(top), int(left)) for top, left in np.rint(start + moved)]


def _features(digit: NDArray[np.float64], top: int, left: int) -> NDArray[np.float64]:
    canvas = np.zeros((CANVAS, CANVAS))
    canvas[top : top + SIDE, left : left + SIDE] = digit
    return np.concatenate([_averaged(canvas, WHERE).ravel(), _averaged(digit, WHAT).ravel()])


def _averaged(picture: NDArray[np.float64], side: int) -> NDArray[np.float64]:
    step = len(picture) // side
    mean: NDArray[np.float64] = picture.reshape(side, step, side, step).mean((1, 3))
    return mean
