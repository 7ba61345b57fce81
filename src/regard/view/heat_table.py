"""Attention weights as an HTML table: a row for every query, a column for every key.

The same colours and numbers as in the terminal; a table, so that it can be read aloud and copied.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from regard.view import colours
from regard.view.markup import Markup, element
from regard.view.terminal import TerminalScale, number
from regard.view.terminal_cells import visible, width

SHORT = 4  # cells; a longer label of a key is turned
DENSE = 24  # keys; more get small cells without numbers
FAINT = 0.1  # smaller weights show as a shade, and as a number under the pointer


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
            f"the weights are {len(weights)} × {len(weights[0]) if weights else 0} (queries × keys), "
            f"but there are labels for {len(queries)} queries and {len(keys)} keys"
        )
    queries, keys = [visible(q) for q in queries], [visible(k) for k in keys]
    scale = TerminalScale.of([list(row) for row in weights])
    heads = [_label("col", key, key_language) for key in keys]
    rows = [
        element(
            "tr",
            _label("row", query, query_language),
            *(_cell(w, query, key, scale) for w, key in zip(row, keys, strict=True)),
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


def _cell(weight: float, query: str, key: str, scale: TerminalScale) -> Markup:
    title = f"{query} ← {key}: {weight:.3f}"
    if weight == 0 or math.isnan(weight):
        return element("td", number(weight), title=title, class_="none")
    ground = colours.shade(scale.ramp(weight), scale.share(weight), 24)
    ink = (
        "#000"
        if colours.contrast((0, 0, 0), ground) >= colours.contrast((255,) * 3, ground)
        else "#fff"
    )
    return element(
        "td",
        number(weight),
        title=title,
        style=f"background:#{bytes(ground).hex()};--ink:{ink}",
        class_="faint" if scale.share(weight) < FAINT else None,
    )
