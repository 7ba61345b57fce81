"""What other packages bring: entry points, by name. Nothing is read before it is asked for."""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points


class BrokenPlugin(ValueError):
    """An entry point that cannot be loaded, in one line."""


def names(group: str) -> tuple[str, ...]:
    """The names that installed packages register in a group, as `regard.models`."""
    return tuple(_entries(group))


def load(group: str, name: str) -> object:
    """What an entry point stands for; its package is imported now."""
    entry = _entries(group)[name]
    try:
        return entry.load()
    except (Exception, SystemExit) as error:
        why = " ".join(f"{type(error).__name__}: {error}".split())
        raise BrokenPlugin(
            f"{name!r} ({entry.value}, of {group}) cannot be loaded: {why}"
        ) from error


@cache
def _entries(group: str) -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=group)}
