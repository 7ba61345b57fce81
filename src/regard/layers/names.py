"""Parts that are chosen by name."""

from __future__ import annotations

from collections.abc import Iterable

from regard.suggestions import meant


def check_name(what: str, name: str, names: Iterable[str]) -> None:
    """A ValueError with the nearest right spelling, if there is no such name."""
    known = list(names)
    if name not in known:
        raise ValueError(f"no {what} {name!r}.{meant(name, known)} There are {', '.join(known)}")
