"""`regard tour`: the tour of `regard.view.tour`, printed."""

from __future__ import annotations

from regard.words import t


def tour() -> None:
    """A short tour of attention, drawn in the terminal.

    Example: regard tour
    """
    first = t("regard: attention is a score, a region, a normaliser and a weighted sum.")
    print(f"{first}\n", flush=True)

    from regard.view.tour import tour  # torch takes a second or two

    for paragraph in tour():
        print(f"{paragraph}\n", flush=True)
