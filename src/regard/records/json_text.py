"""A record as JSON that a person can read: numbers as numbers, a row of them to a line.

An array of more than 65,536 numbers stays packed, as bytes in base64, and says so in its `note`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from regard.records.packed_arrays import written
from regard.words import t

MOST = 2**16  # numbers of an array that are written as such
INDENT = "  "


def json_text(given: Mapping[str, Any]) -> str:
    return _text(readable(given), "") + "\n"


def readable(given: Any) -> Any:
    """Plain values of the same meaning: packed arrays as lists of numbers, where they are small enough."""
    if _is_packed(given):
        if prod(given["shape"]) <= MOST:
            return written(given)
        count = f"{prod(given['shape']):,}"
        note = t("{count} numbers as bytes in base64: --npz and --csv have them all", count=count)
        return {**given, "note": note}
    if isinstance(given, Mapping):
        return {name: readable(value) for name, value in given.items()}
    return [readable(each) for each in given] if isinstance(given, list) else given


def left_packed(given: Any, path: str = "") -> list[str]:
    """Where there are arrays that are too large to be written as numbers: "maps.encoder.weights"."""
    if _is_packed(given):
        return [path] if prod(given["shape"]) > MOST else []
    if isinstance(given, Mapping):
        inside: list[tuple[str, Any]] = list(given.items())
    elif isinstance(given, list):
        inside = [(_name(each, n), each) for n, each in enumerate(given)]
    else:
        return []
    return [
        found for name, each in inside for found in left_packed(each, f"{path}.{name}".lstrip("."))
    ]


def _name(given: Any, number: int) -> str:
    named = given.get("name") if isinstance(given, Mapping) else None
    return named if isinstance(named, str) and named else str(number)


def _is_packed(given: Any) -> bool:
    return isinstance(given, Mapping) and {"type", "shape", "data"} <= given.keys()


def _text(given: Any, indent: str) -> str:
    """Lists of plain values stand in one line, all else has a line for each part."""
    deeper = indent + INDENT
    if isinstance(given, Mapping) and given:
        parts = [
            f"{json.dumps(str(name), ensure_ascii=False)}: {_text(value, deeper)}"
            for name, value in given.items()
        ]
        return _lines("{", parts, "}", indent)
    if isinstance(given, list) and any(isinstance(each, (list, Mapping)) for each in given):
        if _is_flat(given):
            return json.dumps(given, ensure_ascii=False)
        return _lines("[", [_text(each, deeper) for each in given], "]", indent)
    return json.dumps(given, ensure_ascii=False)


def _is_flat(given: Sequence[Any]) -> bool:
    """Pairs of numbers, as offsets are: they need no lines of their own."""
    return all(
        isinstance(each, list) and len(each) == 2 and all(type(x) is int for x in each)
        for each in given
    )


def _lines(begin: str, parts: Sequence[str], end: str, indent: str) -> str:
    inner = f",\n{indent}{INDENT}".join(parts)
    return f"{begin}\n{indent}{INDENT}{inner}\n{indent}{end}"
