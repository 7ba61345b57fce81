"""Pictures as PNG: an SVG by resvg.

Letters come from the fonts of the system, from the embedded one where those have none.
"""

from __future__ import annotations

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
FAMILY = re.compile(r'font-family="([^"]*)"')
PACKAGES = {"CJK": "fonts-noto-cjk", "HIRAGANA": "fonts-noto-cjk", "KATAKANA": "fonts-noto-cjk"}
PACKAGES |= {"HANGUL": "fonts-noto-cjk"}


class NoFont(UserWarning):
    """No font has some characters of the picture, which are drawn as boxes."""


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


def render(svg: str, **options: Any) -> bytes:
    import resvg_py

    return resvg_py.svg_to_bytes(
        svg_string=svg,
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
