"""What was probably meant by a word that nobody knows."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def meant(word: str, known: Iterable[str]) -> str:
    """` Did you mean 'hidden'?`, or nothing where no known word is near."""
    near = nearest(word, known)
    return f" Did you mean {near!r}?" if near else ""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that is spelt most like `word`."""
    spelt = {name.lower(): name for name in known}
    found = difflib.get_close_matches(word.lower(), list(spelt), 1, cutoff=0.6)
    return spelt[found[0]] if found else None
