"""Characters that no font has, drawn as a box with their name in it: [grinning face]."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

LONGEST = 22  # letters of a name

_named: ContextVar[Mapping[int, str]] = ContextVar("named", default=MappingProxyType({}))


@contextmanager
def named(characters: Sequence[str]) -> Iterator[None]:
    """While it is open, drawings write the names of these characters in their places."""
    before = _named.set({ord(c): f"[{name_of(c)}]" for c in characters})
    try:
        yield
    finally:
        _named.reset(before)


def name_of(character: str) -> str:
    """In small letters, or its number where Unicode has no name for it."""
    name = unicodedata.name(character, "").lower() or f"U+{ord(character):X}"
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"


def spelled(text: str) -> str:
    return text.translate(_named.get())


def is_box(text: str) -> bool:
    """Whether the whole text is one such name: it gets a frame."""
    return text in _named.get().values()
