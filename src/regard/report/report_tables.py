"""Tables of numbers in a report."""

from __future__ import annotations

from collections.abc import Sequence

from regard.view.markup import Markup, element


def number_table(
    title: str,
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    last: Sequence[str | None] = (),
    kind: str = "numbers",
) -> Markup:
    """The first cell of a row names it. last: the class of the last cell of each row; kind: of
    the table."""
    written = []
    for number, (first, *cells) in enumerate(rows):
        kinds = [None] * (len(cells) - 1) + [last[number] if last else None]
        written.append(
            element(
                "tr",
                element("th", first, scope="row"),
                *(
                    element("td", cell, class_=kind)
                    for cell, kind in zip(cells, kinds, strict=True)
                ),
            )
        )
    return element(
        "table",
        element("caption", title),
        element("thead", element("tr", *(element("th", head, scope="col") for head in heads))),
        element("tbody", *written),
        class_=kind,
    )
