"""Colours of weights for eyes that lack a kind of cone: their order and their signs can still be seen.

The matrices, on linear light, are of Machado, Oliveira and Fernandes 2009, severity 1:
https://doi.org/10.1109/TVCG.2009.113
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from regard.view.colours import shade
from regard.view.stills.paper import THEMES

EYES = {
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
    "no colours": [[0.2126, 0.7152, 0.0722]] * 3,
}
JUST_SEEN = 0.02  # in OKLab, about what an eye tells apart
STEPS = 11


def linear(rgb: tuple[int, int, int]) -> np.ndarray:
    share = np.array(rgb) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def oklab(light: np.ndarray) -> np.ndarray:
    """Of linear light, as Ottosson 2020 has it."""
    to_cones = np.array(
        [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ]
    )
    to_lab = np.array(
        [
            [0.2104542553, 0.7936177850, -0.0040720468],
            [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660],
        ]
    )
    return to_lab @ np.cbrt(to_cones @ light)


def seen(rgb: tuple[int, int, int], eyes: str) -> np.ndarray:
    return oklab(np.clip(np.array(EYES[eyes]) @ linear(rgb), 0, 1))


def ramp_of(theme: str, name: str, eyes: str) -> list[np.ndarray]:
    ramp = getattr(THEMES[theme], name)
    return [seen(shade(ramp, n / (STEPS - 1), 24), eyes) for n in range(STEPS)]


@pytest.mark.parametrize("eyes", EYES)
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["weights", "below_zero", "above_zero"])
def test_more_weight_is_ever_darker_or_ever_lighter(theme, name, eyes):
    lights = [colour[0] for colour in ramp_of(theme, name, eyes)]
    steps = np.diff(lights) * (-1 if theme == "light" else 1)
    assert (steps > JUST_SEEN).all()


@pytest.mark.parametrize("eyes", [eyes for eyes in EYES if eyes != "no colours"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_signs_can_be_told_apart(theme, eyes):
    """Of weights that are a third of the strongest and more; who sees no colours reads the numbers."""
    below, above = (ramp_of(theme, name, eyes)[4:] for name in ("below_zero", "above_zero"))
    apart = [np.linalg.norm(a - b) for a, b in zip(below, above, strict=True)]
    assert min(apart) > 2 * JUST_SEEN


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_simulation_would_find_red_and_green(theme):
    """What the test above is for: two colours of one lightness that most eyes tell apart, and some do not."""
    red, green = (196, 92, 60), (120, 130, 40)
    usual = np.linalg.norm(oklab(linear(red)) - oklab(linear(green)))
    others = np.linalg.norm(seen(red, "deuteranopia") - seen(green, "deuteranopia"))
    assert usual > 0.1 > 1.5 * others


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_letters_of_pictures_are_read_on_their_ground(theme):
    from regard.view.colours import contrast

    paper = THEMES[theme]
    ground, *inks = (
        tuple(int(colour[n : n + 2], 16) for n in (1, 3, 5))
        for colour in (paper.ground, paper.ink, paper.muted)
    )
    assert all(contrast(ink, ground) >= 4.5 for ink in inks)
    for ramp, n in itertools.product(
        (paper.weights, paper.below_zero, paper.above_zero), range(65)
    ):
        cell = shade(ramp, n / 64, 24)
        assert max(contrast(ink, cell) for ink in ((0, 0, 0), (255, 255, 255))) >= 4.5
