"""HTML and SVG in which text cannot become markup: whatever is not `Markup` is escaped.

element("p", "1 < 2", class_="note")    # <p class="note">1 &lt; 2</p>
"""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterable

EMPTY = frozenset({"meta", "br", "img", "circle", "line", "path", "rect"})  # these have no end tag


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


def element(name: str, /, *children: str, **attributes: str | float | None) -> Markup:
    """One element; `class_` and `aria_label` are written class and aria-label, None is left out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{text(_attribute(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in EMPTY:
        return Markup(f"<{name}{written}/>")
    return Markup(f"<{name}{written}>{join(children)}</{name}>")


def join(children: Iterable[str], between: str = "") -> Markup:
    return Markup(between.join(map(text, children)))


def text(content: str) -> Markup:
    """Escaped, unless it is markup; control characters and halves of pairs written as in Python."""
    if isinstance(content, Markup):
        return content
    safe = "".join(
        c.encode("unicode_escape").decode()
        if unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t"
        else c
        for c in content
    )
    return Markup(html.escape(safe))


def _attribute(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:g}"
