"""Parts that are chosen by name."""

from __future__ import annotations

from collections.abc import Iterable

from regard.suggestions import meant
from regard.words import t


def check_name(what: str, name: str, names: Iterable[str]) -> None:
    """A ValueError with the nearest right spelling, if there is no such name."""
    known = list(names)
    if name not in known:
        raise ValueError(
            t(
                "no {what} {name}.{meant} There are {known}",
                what=what,
                name=repr(name),
                meant=meant(name, known),
                known=", ".join(known),
            )
        )
