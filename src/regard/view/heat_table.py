"""Attention weights as an HTML table: a row for every query, a column for every key.

The colours of the viewer, by day and by night; a table, so that it can be read aloud and copied.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

from regard.view.colours import shade
from regard.view.markup import Markup, element
from regard.view.stills.paper import THEMES, Theme, hexadecimal, ink_on
from regard.view.terminal import number
from regard.view.terminal_cells import visible, width
from regard.words import t

SHORT = 4  # cells; a longer label of a key is turned
DENSE = 24  # keys; more get small cells without numbers
FAINT = 0.1  # smaller weights show as a shade, and as a number under the pointer
STEPS = 24  # of a ramp of colours
RAMPS = {"w": "weights", "n": "below_zero", "p": "above_zero"}  # by the class of a cell: w7


@cache
def heat_stylesheet() -> str:
    """The colours of all cells, for a page that has such tables."""
    night = _shades(THEMES["dark"])
    return f"{_shades(THEMES['light'])}\n@media (prefers-color-scheme: dark) {{\n{night}\n}}\n"


def _shades(theme: Theme) -> str:
    rules = []
    for kind, name in RAMPS.items():
        for step in range(STEPS + 1):
            ground = shade(getattr(theme, name), step / STEPS, 24)
            colour = f"background:{hexadecimal(ground)};--ink:{ink_on(ground)}"
            rules.append(f".heat .{kind}{step}{{{colour}}}")
    return "\n".join(rules)


def heat_table(
    weights: Sequence[Sequence[float]],
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    caption: str,
    query_language: str | None = None,
    key_language: str | None = None,
) -> Markup:
    """weights (Lq, Lk), Lq labels, Lk labels -> a <table class="heat">"""
    if len(weights) != len(queries) or any(len(row) != len(keys) for row in weights):
        raise ValueError(
            t(
                "the weights are {count} × {value} (queries × keys), but there are labels for "
                "{queries} queries and {keys} keys",
                count=len(weights),
                value=len(weights[0]) if weights else 0,
                queries=len(queries),
                keys=len(keys),
            )
        )
    queries, keys = [visible(q) for q in queries], [visible(k) for k in keys]
    finite = [weight for row in weights for weight in row if math.isfinite(weight)]
    full, signed = max(map(abs, finite), default=0.0) or 1.0, min(finite, default=0.0) < 0
    heads = [_label("col", key, key_language) for key in keys]
    rows = [
        element(
            "tr",
            _label("row", query, query_language),
            *(_cell(w, query, key, full, signed) for w, key in zip(row, keys, strict=True)),
        )
        for query, row in zip(queries, weights, strict=True)
    ]
    return element(
        "table",
        element("caption", caption),
        element("thead", element("tr", element("td"), *heads)),
        element("tbody", *rows),
        class_="heat dense" if len(keys) > DENSE else "heat",
    )


def _label(scope: str, label: str, language: str | None) -> Markup:
    turned = "turned" if scope == "col" and width(label) > SHORT else None
    written = element("span", label, dir="auto", lang=language or None, class_=turned)
    return element("th", written, scope=scope)


def _cell(weight: float, query: str, key: str, full: float, signed: bool) -> Markup:
    title = f"{query} ← {key}: {weight:.3f}"
    if weight == 0 or math.isnan(weight):
        return element("td", number(weight), title=title, class_="none")
    share, kind = abs(weight) / full, ("n" if weight < 0 else "p") if signed else "w"
    shaded = f"{kind}{round(STEPS * min(share, 1.0))}"
    return element(
        "td", number(weight), title=title, class_=f"{shaded} faint" if share < FAINT else shaded
    )
