"""What a classifier takes for what, as a table: in a terminal and in a report."""

from __future__ import annotations

from collections.abc import Mapping

from regard.measures.classification import Confusion
from regard.view.markup import Markup, element, join
from regard.view.samples import scrolled
from regard.view.terminal_cells import pad, shorten, width
from regard.words import t

WIDEST = 16  # cells of a label
MOST = 30  # labels; the rest would not fit a page


def confusion_text(found: Confusion) -> str:
    """A row for every label, a column for every answer, then F1."""
    labels = found.labels[:MOST]
    head = [t("label ↓ answer →"), *(shorten(label, WIDEST) for label in labels), "F1 %"]
    rows = [
        [
            shorten(label, WIDEST),
            *(f"{found.count(label, answer):,}" for answer in labels),
            f"{100 * found.f1(label):.1f}",
        ]
        for label in labels
    ]
    every = [head, *rows]
    widths = [max(width(row[column]) for row in every) for column in range(len(head))]
    return "\n".join(
        "  ".join(pad(cell, size, ">") for cell, size in zip(row, widths, strict=True))
        for row in every
    )


def confusion_table(found: Confusion) -> Markup:
    labels = found.labels[:MOST]
    heads = [t("label ↓ answer →"), *labels, "F1, %"]
    rows = [
        element(
            "tr",
            element("th", label, scope="row", dir="auto"),
            *(_count(found, label, answer) for answer in labels),
            element("td", f"{100 * found.f1(label):.1f}"),
        )
        for label in labels
    ]
    return element(
        "table",
        element("caption", t("How often a text of each label got each answer")),
        element("thead", element("tr", *(element("th", head, scope="col") for head in heads))),
        element("tbody", *rows),
        class_="numbers",
    )


def _count(found: Confusion, label: str, answer: str) -> Markup:
    number = f"{found.count(label, answer):,}"
    return element("td", element("b", number) if label == answer else number)


def confusion_section(confusions: Mapping[str, Confusion]) -> Markup:
    """The tables of a report, by the name of the set."""
    parts: list[Markup] = []
    for name, found in confusions.items():
        parts += [
            element("h3", _right(name, found)),
            scrolled(confusion_table(found), t("Labels and answers on {name}", name=name)),
        ]
    return join(parts)


def _right(name: str, found: Confusion) -> str:
    right, count = f"{found.correct:,}", f"{found.total:,}"
    return t("{name}: {right} of {count} right", name=name, right=right, count=count)
