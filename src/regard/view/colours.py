"""Colours for weights: how many the terminal has, and what each weight is painted with.

Weights from 0 to 1 run through viridis (van der Walt and Smith 2015), which is even to the eye and
safe for the colour-blind. Signed ones run from purple (positive) to orange (negative).
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from functools import cache
from typing import Literal, NamedTuple, TextIO

RGB = tuple[int, int, int]
Bits = Literal[0, 8, 24]  # no colour, 256 colours, all of them

RESET, BOLD, FAINT, REVERSE = "\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[7m"
CODE = "\x1b[36m"  # cyan of the user's palette


class Ramp(NamedTuple):
    """Colours of even steps; and the same from the 256, chosen by hand so that each step shows."""

    full: str
    of_256: str


VIRIDIS = Ramp(
    "440154 472d7b 3b528b 2c728e 21918c 28ae80 5ec962 addc30 fde725",
    "5f005f 5f0087 005f87 008787 00af87 5faf5f 5fd75f afd700 ffd700",
)
PURPLES = Ramp("f2f0f7 cbc9e2 9e9ac8 756bb1 54278f", "d7d7ff afafd7 8787af 875faf 5f0087")
ORANGES = Ramp("feedde fdbe85 fd8d3c e6550d a63603", "ffd7af ffaf5f ff8700 d75f00 af5f00")


def colour_bits(stream: TextIO) -> Bits:
    """What to write to this stream, by NO_COLOR, FORCE_COLOR, TERM and COLORTERM."""
    forced = os.environ.get("FORCE_COLOR", "")
    term = os.environ.get("TERM", "")
    if os.environ.get("NO_COLOR") or forced == "0":
        return 0
    if not forced and (not stream.isatty() or term == "dumb"):
        return 0
    if os.environ.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return 24
    # sixteen colours are the user's own palette: no ramp can be made of them
    return 8 if forced or "256" in term or term.endswith(("kitty", "direct")) else 0


def shade(ramp: Ramp, share: float, bits: Bits) -> RGB:
    """The colour at `share` (0 to 1) of the way through the ramp; NaN is drawn as 0."""
    anchors = _colours(ramp.of_256 if bits == 8 else ramp.full)
    place = 0.0 if math.isnan(share) else min(max(share, 0.0), 1.0) * (len(anchors) - 1)
    if bits == 8:
        return anchors[round(place)]
    at = min(int(place), len(anchors) - 2)
    red, green, blue = (
        round(a + (place - at) * (b - a)) for a, b in zip(*anchors[at : at + 2], strict=True)
    )
    return red, green, blue


def oklch_anchors(stops: Sequence[Sequence[float]], count: int = 256) -> str:
    """Colours of even steps through stops of lightness, chroma and hue, mixed in OKLab (Ottosson 2020).

    They are the 256 colours of the page's table, so that both look the same.
    """
    points = [
        (light, chroma * math.cos(math.radians(hue)), chroma * math.sin(math.radians(hue)))
        for light, chroma, hue in stops
    ]
    anchors = []
    for step in range(count):
        place = int(255 * step / (count - 1) + 0.5) / 255 * (len(points) - 1)
        at = min(int(place), len(points) - 2)
        mixed = [a + (place - at) * (b - a) for a, b in zip(*points[at : at + 2], strict=True)]
        anchors.append("".join(f"{part:02x}" for part in _from_oklab(*mixed)))
    return " ".join(anchors)


def oklch_colour(stop: Sequence[float]) -> RGB:
    """One colour by its lightness, chroma and hue."""
    light, chroma, hue = stop
    angle = math.radians(hue)
    return _from_oklab(light, chroma * math.cos(angle), chroma * math.sin(angle))


def _from_oklab(light: float, a: float, b: float) -> RGB:
    long = (light + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (light - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (light - 0.0894841775 * a - 1.291485548 * b) ** 3
    linear = (
        4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * middle + 1.707614701 * short,
    )
    curved = (12.92 * x if x <= 0.0031308 else 1.055 * x ** (1 / 2.4) - 0.055 for x in linear)
    red, green, blue = (min(max(round(255 * x), 0), 255) for x in curved)
    return red, green, blue


def paint(text: str, ground: RGB, bits: Bits) -> str:
    """Text on a ground, in black or white, whichever is easier to read."""
    if bits == 0:
        return text
    code = f"5;{_number(ground)}" if bits == 8 else ";".join(map(str, (2, *ground)))
    # 16 and 231 are black and white whatever the palette
    ink = 16 if contrast((0, 0, 0), ground) >= contrast((255, 255, 255), ground) else 231
    return f"\x1b[48;{code};38;5;{ink}m{text}{RESET}"


def contrast(one: RGB, other: RGB) -> float:
    """(L₁ + 0.05) / (L₂ + 0.05), from 1 to 21; text wants 4.5 — WCAG 2"""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: RGB) -> float:
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in (part / 255 for part in colour)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@cache
def _colours(listed: str) -> list[RGB]:
    return [_rgb(colour) for colour in listed.split()]


def _rgb(colour: str) -> RGB:
    return int(colour[:2], 16), int(colour[2:4], 16), int(colour[4:], 16)


def _number(colour: RGB) -> int:
    """The number among the 256 of a colour of their 6 × 6 × 6 cube."""
    red, green, blue = ((0, 95, 135, 175, 215, 255).index(part) for part in colour)
    return 16 + 36 * red + 6 * green + blue
