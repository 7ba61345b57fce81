"""What a picture is drawn with: its colours by day and by night, its fonts, and how wide text is."""

from __future__ import annotations

import json
import unicodedata
from importlib.resources import files
from typing import Any, NamedTuple

from regard.view.colours import RGB, Ramp, contrast, oklch_anchors, oklch_colour, shade
from regard.view.markup import Markup, element, join
from regard.view.stills.named_boxes import is_box, spelled
from regard.view.terminal import number as weight_text
from regard.view.terminal_cells import END_ISOLATE, broken, fold, shorten, visible, width
from regard.words import t

LATIN = "system-ui, 'Noto Sans', 'Liberation Sans', Arial, 'DejaVu Sans', sans-serif"
RIGHT_TO_LEFT = "system-ui, 'Noto Sans Arabic', 'Noto Sans Hebrew', 'DejaVu Sans', sans-serif"
HAN = "system-ui, 'Noto Sans CJK {0}', 'Noto Sans {0}', {1}, sans-serif"
REGIONS = {
    "zh": HAN.format("SC", "'PingFang SC', 'Microsoft YaHei'"),
    "ja": HAN.format("JP", "'Hiragino Sans', 'Yu Gothic'"),
    "ko": HAN.format("KR", "'Apple SD Gothic Neo', 'Malgun Gothic'"),
}
RTL_ISOLATE = "\u2067"
EM = 0.56  # of the size: about how wide half a Han character is, and a Latin one
LONGEST = 26  # cells of a label; more is cut off with …
BOLD = 1.15  # times as wide
WIDTHS = {  # of letters that are not about as wide as an n, as shares of the size
    0.31: "ijlI.,:;!|' ",
    0.41: 'frt()[]{}/-`"',
    0.56: "cksvxyzJ?",
    0.72: "ABCDEFGHKLNOPQRSTUVXYZ",
    0.93: "mwMW@%",
}
ADVANCES = {letter: share for share, letters in WIDTHS.items() for letter in letters}
COMMON = 0.62


class Theme(NamedTuple):
    """What pictures and page share, from palettes.json, so that a picture looks like the screen."""

    ground: str
    ink: str
    muted: str
    rule: str
    weights: Ramp
    below_zero: Ramp
    above_zero: Ramp
    heads: tuple[RGB, ...]  # of several at once


def _theme(name: str) -> Theme:
    """Its grounds and inks, and the ramps for weights, for those below zero, for those above."""
    shared = json.loads((files("regard.view") / "palettes.json").read_text(encoding="utf-8"))
    paper, stops = shared["paper"][name], shared[name]
    weights, below, above = (
        Ramp(oklch_anchors(stops[ramp]), "") for ramp in ("sequential", "negative", "positive")
    )
    heads = tuple(map(oklch_colour, shared["heads"][name]))
    return Theme(
        paper["ground"], paper["ink"], paper["muted"], paper["rule"], weights, below, above, heads
    )


THEMES = {name: _theme(name) for name in ("light", "dark")}


class Scale(NamedTuple):
    """colour(w) = ramp(|w| / full); where weights may be negative, those are orange, others blue"""

    full: float
    signed: bool
    theme: Theme

    def colour(self, weight: float) -> RGB:
        ramp = self.theme.weights
        if self.signed:
            ramp = self.theme.below_zero if weight < 0 else self.theme.above_zero
        return shade(ramp, abs(weight) / self.full, 24)


def theme_named(name: str) -> Theme:
    if name not in THEMES:
        raise ValueError(t("no theme {name}: light or dark", name=repr(name)))
    return THEMES[name]


def hexadecimal(colour: RGB) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


def ink_on(ground: RGB) -> str:
    """Black or white: one of them has a contrast of 4.58 or more to any colour."""
    black, white = (0, 0, 0), (255, 255, 255)
    return hexadecimal(max(black, white, key=lambda ink: contrast(ink, ground)))


def label(text: str) -> str:
    """What is written for a token: one short line that hides nothing."""
    return shorten(spelled(visible(text)), LONGEST)


def title_label(text: str) -> str:
    """The same for the title of a column, which may have none."""
    return label(text) if text else ""


def number(weight: float) -> str:
    """A weight in about four characters, with the sign of the page."""
    return signed(weight_text(weight))


def signed(text: str) -> str:
    """A number with a minus, which is longer than a hyphen."""
    return f"−{text[1:]}" if text.startswith("-") else text


def length(text: str, size: float) -> float:
    """About how many units text takes, a little too many rather than too few."""
    return width(text) * size * EM


def set_length(text: str, size: float) -> float:
    """The same letter by letter, where words follow each other and a gap would be seen."""
    ems = sum(ADVANCES.get(c, COMMON) for c in text if c.isascii())
    return (ems + width("".join(c for c in text if not c.isascii())) * EM) * size


def wrapped(text: str, cells: int, lines: int = 2) -> list[str]:
    """Text in lines of at most `cells`, broken between words; words that are longer are folded."""
    found = broken(spelled(visible(text) if text else ""), cells)
    folded = [piece for line in found for piece in fold(line, cells, lines) if piece]
    return (
        folded
        if len(folded) <= lines
        else [*folded[: lines - 1], shorten(" ".join(folded[lines - 1 :]), cells)]
    )


def runs_right_to_left(text: str) -> bool:
    """By its first letter."""
    letters = (unicodedata.bidirectional(c) for c in text)
    return next((kind for kind in letters if kind in ("L", "R", "AL")), "L") != "L"


def fonts(text: str, language: str = "") -> str:
    """Families for this text: Han characters look different in Chinese, Japanese and Korean."""
    names = {unicodedata.name(c, "").split(" ")[0] for c in text if not c.isascii()}
    if names & {"HIRAGANA", "KATAKANA"}:
        return REGIONS["ja"]
    if "HANGUL" in names:
        return REGIONS["ko"]
    if names & {"CJK", "IDEOGRAPHIC", "FULLWIDTH"}:
        return REGIONS.get(language[:2], REGIONS["zh"])
    return RIGHT_TO_LEFT if names & {"ARABIC", "HEBREW"} else LATIN


def rectangle(x: float, y: float, wide: float, high: float, **style: str | float) -> Markup:
    return element(
        "rect",
        x=round(x, 2),
        y=round(y, 2),
        width=round(wide, 2),
        height=round(high, 2),
        **style,
    )


def write(
    text: str,
    x: float,
    y: float,
    *,
    size: float,
    fill: str,
    anchor: str = "start",
    language: str = "",
    weight: int | None = None,
    turned: float = 0.0,
) -> Markup:
    """Text at a place: anchor start, middle or end is left, middle or right for every script."""
    place: dict[str, float | str] = {"x": round(x, 2), "y": round(y, 2)}
    if turned:
        place = {"transform": f"translate({x:.2f} {y:.2f}) rotate({turned:g})"}
    # isolated, not direction="rtl": that turns `anchor` round in browsers, but not in resvg
    shown = f"{RTL_ISOLATE}{text}{END_ISOLATE}" if runs_right_to_left(text) else text
    boxed = is_box(text)
    letters = element(
        "text",
        text[1:-1] if boxed else shown,
        **place,
        font_family=fonts(text, language),
        font_size=size,
        font_weight=weight,
        fill=fill,
        text_anchor=None if anchor == "start" else anchor,
        lang=language or None,
    )
    return join([_frame(text, x, y, size, fill, anchor, turned), letters]) if boxed else letters


def _frame(
    text: str, x: float, y: float, size: float, fill: str, anchor: str, turned: float
) -> Markup:
    """Around the name of a character that no font has."""
    wide = set_length(text[1:-1], size) * 0.93 + 4
    before = {"start": 2.0, "middle": wide / 2, "end": wide - 2}[anchor]
    if turned:
        place: dict[str, Any] = {
            "transform": f"translate({x:.2f} {y:.2f}) rotate({turned:g})",
            "x": round(-before, 2),
            "y": round(-size * 0.86, 2),
        }
    else:
        place = {"x": round(x - before, 2), "y": round(y - size * 0.86, 2)}
    shape = {"width": round(wide, 2), "height": round(size * 1.12, 2), "rx": 2}
    return element("rect", **place, **shape, fill="none", stroke=fill, stroke_width=0.6)
