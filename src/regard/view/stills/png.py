"""Pictures as PNG: an SVG by resvg.

Letters come from the fonts of the system, from the embedded one where those have none.
"""

from __future__ import annotations

import math
import re
import unicodedata
import warnings
from collections.abc import Callable
from typing import Any

from regard.view import fonts
from regard.view.stills.named_boxes import named
from regard.words import t

BOX = "□"  # in the place of a character that no font has
MISSING = "\U0010fffd"  # for private use: no font has it, so it is drawn as all that are missing
TEXT = re.compile(r"<text([^>]*)>([^<]*)</text>")
SIZE = re.compile(r'\b(?:width|height)="([0-9.e+]+)"')  # of the whole picture
MOST_PIXELS, LONGEST = 1 << 26, 1 << 16  # of a PNG, and of a side of it
FAMILY = re.compile(r'font-family="([^"]*)"')
PACKAGES = {"CJK": "fonts-noto-cjk", "HIRAGANA": "fonts-noto-cjk", "KATAKANA": "fonts-noto-cjk"}
PACKAGES |= {"HANGUL": "fonts-noto-cjk"}


class NoFont(UserWarning):
    """No font has some characters of the picture, which are drawn as boxes."""


class Smaller(UserWarning):
    """The picture has fewer pixels than were asked for."""


def rasterise(svg: str, *, zoom: float = 2.0) -> bytes:
    """The PNG of an SVG, `zoom` pixels for each of its units; NoFont is warned of."""
    if missing := missing_characters(svg):
        warnings.warn(advice(missing), NoFont, stacklevel=2)
        boxes = dict.fromkeys(map(ord, missing), BOX)
        svg = TEXT.sub(lambda found: f"<text{found[1]}>{found[2].translate(boxes)}</text>", svg)
    return render(svg, zoom=zoom)


def drawn_png(draw: Callable[[], str], *, zoom: float = 2.0) -> bytes:
    """The PNG of what `draw` draws; a character that no font has is a box with its name, and warned of."""
    svg = draw()
    if not (missing := missing_characters(svg)):
        return render(svg, zoom=zoom)
    warnings.warn(advice(missing, t("a box with its name")), NoFont, stacklevel=3)
    with named(missing):
        return render(draw(), zoom=zoom)


def svg_size(svg: str) -> tuple[float, float]:
    """How wide and high it says that it is."""
    wide, high = SIZE.findall(svg[: svg.index(">")])[:2]
    return float(wide), float(high)


def fitting(wide: float, high: float, pictures: int = 1) -> float:
    """The share of its size, 1 at most, at which so many pictures below each other can be drawn."""
    return min(
        1.0, math.sqrt(MOST_PIXELS / (wide * high * pictures)), LONGEST / max(wide, high * pictures)
    )


def render(svg: str, *, zoom: float = 1.0, **options: Any) -> bytes:
    """With fewer pixels for a unit where there would be too many in all, which is warned of."""
    import resvg_py

    wide, high = (side * zoom for side in svg_size(svg))
    if (share := fitting(wide, high)) < 1:
        warnings.warn(_smaller(wide, high, share), Smaller, stacklevel=4)
    return resvg_py.svg_to_bytes(
        svg_string=svg,
        zoom=zoom * share,
        font_files=[str(fonts.FONT)],  # asked for what the fonts before it do not have
        sans_serif_family=fonts.FAMILY,  # where none of the named families is installed
        **options,
    )


def missing_characters(svg: str) -> list[str]:
    """The characters that no font has."""
    seen: set[tuple[str, str]] = set()
    for attributes, content in TEXT.findall(svg):
        family = "".join(FAMILY.findall(attributes)[:1])
        seen |= {(family, c) for c in content if not c.isascii() and c.isprintable()}
    boxes = {family: _glyph(family, MISSING) for family, _ in seen}
    return sorted(
        {
            character
            for family, character in seen
            # a combining mark is drawn on the character before it
            if not (unicodedata.combining(character) or unicodedata.category(character) == "Mn")
            and _glyph(family, character) == boxes[family]
        }
    )


def advice(missing: list[str], instead: str = BOX, kind: str = "PNG") -> str:
    names = [unicodedata.name(c, f"U+{ord(c):X}") for c in missing]
    packages = sorted({PACKAGES.get(name.split()[0], "fonts-noto") for name in names})
    more = t(" and {n} more", n=len(missing) - 1) if missing[1:] else ""
    return t(
        "no font has {missing} ({names}){more}, so the {kind} shows {instead}: install "
        "one (Debian: {packages}), or save an .svg or .html file",
        missing=repr(missing[0]),
        names=names[0].lower(),
        more=more,
        kind=kind,
        instead=instead,
        packages=" ".join(packages),
    )


def _glyph(family: str, character: str) -> bytes:
    # it stands in content that was escaped already, and is not ASCII
    text = f'<text x="4" y="30" font-size="24" font-family="{family}">{character}</text>'
    return render(f'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40">{text}</svg>')


def _smaller(wide: float, high: float, share: float) -> str:
    return t(
        "{wide} × {high} pixels are too many: the PNG has {share} % of them a side; an .svg file keeps all",
        wide=f"{wide:,.0f}",
        high=f"{high:,.0f}",
        share=f"{100 * share:.3g}",
    )
