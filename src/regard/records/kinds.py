"""Parts of a record as a file has them: of the kind that the format says, or an error that says which not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from regard.words import t

LONGEST = 60  # characters of what was given, in a message


def listed(given: Any, name: str) -> Sequence[Any]:
    if not isinstance(given, (list, tuple)):
        raise ValueError(t("{name} is a list, not {given}", name=name, given=brief(given)))
    return given


def text(given: Any, name: str) -> str:
    if not isinstance(given, str):
        raise ValueError(t("{name} is a text, not {given}", name=name, given=brief(given)))
    return given


def texts(given: Any, name: str) -> tuple[str, ...]:
    for each in listed(given, name):
        if not isinstance(each, str):
            raise ValueError(t("{name} are texts, not {given}", name=name, given=brief(each)))
    return tuple(given)


def named(given: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise ValueError(t("{name} is a JSON object, not {given}", name=name, given=brief(given)))
    return given


def whole_numbers(given: Any, name: str) -> tuple[int, ...]:
    """True is none."""
    for each in listed(given, name):
        if type(each) is not int:
            raise ValueError(
                t("{name} are whole numbers, not {given}", name=name, given=brief(each))
            )
    return tuple(given)


def number(given: Any, name: str) -> float:
    if type(given) not in (int, float):
        raise ValueError(t("{name} is a number, not {given}", name=name, given=brief(given)))
    try:
        found = float(given)
    except OverflowError:  # a whole number beyond all others
        raise ValueError(
            t("{name} is a number, not {given}", name=name, given=brief(given))
        ) from None
    return given if type(given) is int else found


def are_words(numbers: Sequence[int]) -> bool:
    """Whether they are from 0, rising without gaps."""
    steps = [later - before for before, later in pairwise((-1, *numbers))]
    return steps[:1] in ([], [1]) and not set(steps) - {0, 1}


def parents(nodes: Sequence[Mapping[str, Any]]) -> None:
    """A node of a beam follows an earlier one, so that every path ends at a first token."""
    for place, node in enumerate(nodes):
        parent = node["parent"]
        if type(parent) is not int or not -1 <= parent < place:
            raise ValueError(
                t(
                    "the parent of node {place} of the beam is the number of an earlier node, "
                    "or -1, not {given}",
                    place=place,
                    given=brief(parent),
                )
            )


def brief(given: Any) -> str:
    said = repr(given)
    return said if len(said) <= LONGEST else said[: LONGEST - 1] + "…"
