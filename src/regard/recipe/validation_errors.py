"""What pydantic refuses in a recipe, said in the recipe's own words: key, what was seen, what is wanted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from regard import registry
from regard.option_errors import refused_value, seen
from regard.recipe import yaml_1_2
from regard.recipe.keys import CHOSEN_BY_KIND, advice
from regard.recipe.mistakes import MissingKind, RecipeError
from regard.recipe.yaml_1_2 import Path, Written
from regard.suggestions import meant
from regard.words import t


def second_reading(
    error: ValidationError, values: dict[str, Any], written: Mapping[Path, Written]
) -> bool:
    """Read what was refused as its type may want it: 32 as '32', `a,b` as a list. False: nothing to do."""
    changed = False
    for detail in error.errors():
        path = _path(detail, values)
        value, text = _at(path, values), getattr(written.get(path), "text", None)
        if isinstance(value, int | float) and detail["type"] in ("string_type", "literal_error"):
            again: Any = text
        elif isinstance(value, str) and detail["type"] in ("list_type", "tuple_type"):
            again = yaml_1_2.load(f"[{value}]")[0] if value[:1] not in "[{" else value
        else:
            continue
        if path and again not in (None, value):
            _at(path[:-1], values)[path[-1]] = again
            changed = True
    return changed


def refusal(
    error: ValidationError, values: Mapping[str, Any], written: Mapping[Path, Written]
) -> RecipeError:
    """The first mistake, in one line."""
    details = error.errors()
    detail = min(details, key=lambda d: d["type"] != "extra_forbidden")
    path = _path(detail, values)
    others = len({_path(d, values) for d in details}) - 1
    more = t.plural(others, " ({n} more mistake)", " ({n} more mistakes)") if others else ""
    wrong = (*path, "kind") if detail["type"].endswith("_kind") else path
    said = _sentence(detail, path, values, place_of(wrong, written)) + more
    if detail["type"] == "broken_kind":
        return MissingKind(said, detail["ctx"]["hint"])
    return RecipeError(said, needs=detail.get("ctx", {}).get("needs"))


def _sentence(detail: ErrorDetails, path: Path, values: Mapping[str, Any], place: str) -> str:
    key, value = ".".join(map(str, path)), _at(path, values)
    match detail["type"]:
        case "extra_forbidden":
            return t(
                "unknown key {key}{place}{advice}",
                key=repr(key),
                place=place,
                advice=advice(path, value, values),
            )
        case "unknown_kind":
            kind, allowed = value.get("kind"), registry.kinds(CHOSEN_BY_KIND[key])
            return t(
                "no {key}.kind {kind}{place}.{meant} The kinds: {allowed}.",
                key=key,
                kind=repr(kind),
                place=place,
                meant=meant(str(kind), allowed),
                allowed=", ".join(allowed),
            )
        case "broken_kind":
            return t(
                "{key}.kind{place}: {error}", key=key, place=place, error=detail["ctx"]["error"]
            )
        case "model_type" | "model_attributes_type":
            return t(
                "{key} is {seen}{place}, but it is a section: write {key}.KEY=VALUE",
                key=key,
                seen=seen(value),
                place=place,
            )
    if isinstance(value, dict) and detail["type"] != "value_error":
        return t(
            "{key} is a value, not a section{place}: it cannot hold {value}",
            key=key,
            place=place,
            value=", ".join(value),
        )
    return refused_value(detail, key or "the recipe", value, place)


def place_of(path: Path, written: Mapping[Path, Written]) -> str:
    """` (a.yaml, line 3)`, of the value or of the section it is in."""
    for end in range(len(path), 0, -1):
        if note := written.get(path[:end]):
            return f" ({note.place})" if note.place else ""
    return ""


def _path(detail: ErrorDetails, values: Mapping[str, Any]) -> Path:
    """The keys of pydantic's location, without the names it adds for the members of unions."""
    path: Path = ()
    here: Any = values
    for part in detail["loc"]:
        inside = isinstance(here, dict) and part in here
        if inside or (isinstance(here, list) and isinstance(part, int) and part < len(here)):
            here, path = here[part], (*path, part)
    return path


def _at(path: Path, values: Any) -> Any:
    for part in path:
        values = values[part]
    return values
