"""Parts that are chosen by name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def check_name(what: str, name: str, names: Iterable[str]) -> None:
    """A ValueError with the nearest right spelling, if there is no such name."""
    known = list(names)
    if name not in known:
        near = difflib.get_close_matches(name, known, 1)
        meant = f"Did you mean {near[0]!r}? " if near else ""
        raise ValueError(f"no {what} {name!r}. {meant}There are {', '.join(known)}")
