"""What other packages bring: scores, regions, normalisers and more, found by their entry points.

    [project.entry-points."regard.scores"]
    my-score = "my_package.scores:MyScore"

in the pyproject.toml of a package, and `attend(score="my-score(3)")` finds it once that is installed. Nothing
is looked for before a name is asked for that regard does not have, and nothing is imported before it is used.
"""

from __future__ import annotations

import functools
import threading
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from regard.words import t

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


SLOW = 20.0  # seconds of an import until somebody wants to know what it is
INSTALL = "pip install what it comes from, or put its folder in PYTHONPATH"


class UnusableName(ValueError):
    """What a name stands for cannot be used, in one line; `hint` says what helps.

    needs: what is not there at all, as ("task", "rate") or ("module", "my_models").
    """

    hint = "docs/extending.md walks through whole packages"

    def __init__(
        self, message: str, hint: str = "", *, needs: tuple[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.hint, self.needs = hint or self.hint, needs


class BrokenPlugin(UnusableName, ImportError):
    """An installed package promises something under this name that cannot be imported."""

    hint = INSTALL


def names(group: str, taken: Collection[str] = ()) -> tuple[str, ...]:
    """The names that installed packages bring to a group, sorted; none of them is imported.

    taken: names of regard's own, which no package can replace. One that tries is told of, once.
    """
    found = _found(group)
    for name in sorted(found.keys() & set(taken)):
        _tell(f"{_origin(found[name])} is not used: {name!r} is regard's own name in {group}")
    return tuple(sorted(found.keys() - set(taken)))


def load(group: str, name: str) -> object:
    """What a package brings under this name; KeyError if none does, BrokenPlugin if it cannot be had."""
    if (group, name) not in _THINGS:
        point = _found(group)[name]
        try:
            with _named_if_slow(point):
                _THINGS[group, name] = point.load()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # whatever a stranger's module does when it is imported
            what = " ".join(str(error).split())
            raise BrokenPlugin(
                t(
                    "{origin} cannot be loaded: {kind}: {what}",
                    origin=_origin(point),
                    kind=type(error).__name__,
                    what=what,
                )
            ) from error
    return _THINGS[group, name]


def origin(group: str, name: str) -> str:
    """Which package brings this, and where it has it."""
    return _origin(_found(group)[name])


def folder_of(group: str, name: str) -> Path | None:
    """Where the package is that an entry point names, and nothing of it is imported.

    None: it is no folder, or only its own code knows where it is.
    """
    from importlib.util import find_spec

    try:
        point = _found(group)[name]
        top, *inner = point.module.split(".")
        spec = None if point.attr else find_spec(top)
    except (AttributeError, ImportError, ValueError):  # what cannot be read, and what is not there
        return None
    places = spec.submodule_search_locations if spec is not None else None
    return next((p for place in places or () if (p := Path(place, *inner)).is_dir()), None)


def provider(group: str, name: str) -> tuple[str, str] | None:
    """The package that brings this, and its version; None: nobody does, or it has no name."""
    package = point.dist if (point := _found(group).get(name)) else None
    return None if package is None else (package.name, package.version)


def loaded() -> list[tuple[str, str]]:
    """The group and name of all that other packages brought and somebody has used."""
    return sorted(_THINGS)


def name_of(group: str, thing: object) -> str | None:
    """The name under which this was loaded, if it was."""
    return next((name for (g, name), made in _THINGS.items() if g == group and made is thing), None)


def forget() -> None:
    """Look again at what is installed, when next asked."""
    _found.cache_clear()
    _tell.cache_clear()
    _THINGS.clear()


_THINGS: dict[tuple[str, str], object] = {}  # by group and name


@functools.cache
def _found(group: str) -> dict[str, EntryPoint]:
    """By name; of two packages with one name, the first in the order of the packages' names."""
    from importlib.metadata import entry_points  # here: no command is to wait for it

    found: dict[str, EntryPoint] = {}
    for point in sorted(entry_points(group=group), key=_origin):
        if point.name not in found:
            found[point.name] = point
        elif found[point.name].value != point.value:
            _tell(f"{_origin(point)} is not used: {_origin(found[point.name])} has the same name")
    return found


@contextmanager
def _named_if_slow(point: EntryPoint) -> Iterator[None]:
    """Whoever waits is told for whom."""
    told = threading.Timer(SLOW, _tell, [f"still importing {_origin(point)}"])
    told.daemon = True
    told.start()
    try:
        yield
    finally:
        told.cancel()


def _origin(point: EntryPoint) -> str:
    """my-package: regard.scores 'my-score' = my_package.scores:MyScore"""
    package = "an unnamed package" if point.dist is None else point.dist.name
    return f"{package}: {point.group} {point.name!r} = {point.value}"


@functools.cache
def _tell(message: str) -> None:
    warnings.warn(message, stacklevel=4)
