"""What is said about a mistake in a recipe: where it is, what was seen, what was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class RecipeError(ValueError):
    """A recipe that cannot be used, in one line; `hint` is a command that helps."""

    def __init__(self, message: str, hint: str = "regard schema prints every key of a recipe"):
        super().__init__(message)
        self.hint = hint


def meant(word: str, known: Iterable[str]) -> str:
    """` Did you mean 'hidden'?`, or nothing where no known word is near."""
    near = nearest(word, known)
    return f" Did you mean {near!r}?" if near else ""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that is spelt most like `word`."""
    spelt = {name.lower(): name for name in known}
    found = difflib.get_close_matches(word.lower(), list(spelt), 1, cutoff=0.6)
    return spelt[found[0]] if found else None


def shortened(text: str, most: int = 200) -> str:
    """A sentence that repeats what was given stays one that can be read."""
    return text if len(text) <= most else f"{text[: most // 2]} … {text[-most // 2 :]}"
