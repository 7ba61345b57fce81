"""What somebody probably meant: the known words that are spelt most like the one that was written."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from regard.words import t


def spelt_alike(
    word: str, known: Iterable[str], *, most: int = 1, cutoff: float = 0.6
) -> list[str]:
    """At most so many known words, the nearest first; case does not count. cutoff: from 0 to 1, how alike."""
    names: dict[str, str] = {}
    for name in known:
        names.setdefault(name.lower(), name)
    near = difflib.get_close_matches(word.lower(), list(names), most, cutoff=cutoff)
    return [names[each] for each in near]


def nearest(word: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """The known word that is spelt most like `word`."""
    return next(iter(spelt_alike(word, known, cutoff=cutoff)), None)


def meant(word: str, known: Iterable[str], *, most: int = 1, cutoff: float = 0.6) -> str:
    """` Did you mean 'hidden'?`, or nothing where no known word is near."""
    return asked(spelt_alike(word, known, most=most, cutoff=cutoff))


def asked(near: Iterable[str]) -> str:
    """` Did you mean 'hidden' or 'size'?`, or nothing where there is none."""
    near = list(near)
    return t(" Did you mean {near}?", near=t(" or ").join(map(repr, near))) if near else ""
