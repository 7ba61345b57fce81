"""What pydantic refuses, said in one line: the option, what was seen, what is wanted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from regard.suggestions import meant

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

WANTED = {  # pydantic's name of an error, or its first word
    "int": "a whole number",
    "float": "a number",
    "finite": "a finite number",
    "bool": "true or false",
    "string": "text",
    "string_too_short": "text that is not empty",
    "list": "a list, as in [a, b]",
    "tuple": "a list, as in [a, b]",
    "missing": "a longer list",
    "too": "a shorter list",
    "too_short": "a longer list",
    "greater": "greater than {gt}",
    "greater_than_equal": "{ge} or greater",
    "less": "less than {lt}",
    "less_than_equal": "{le} or less",
}


def refused_options(error: ValidationError, names: Iterable[str]) -> str:
    """The first mistake in the options of a call, where these are all there are."""
    detail = min(error.errors(), key=lambda d: d["type"] != "extra_forbidden")
    key = ".".join(map(str, detail["loc"]))
    if detail["type"] == "extra_forbidden":
        known = [name for name in names if name != "kind"]
        return f"no option {key!r}.{meant(key, known)} There are {', '.join(known)}"
    return refused_value(detail, key, detail["input"])


def refused_value(detail: ErrorDetails, key: str, value: Any, place: str = "") -> str:
    """What is wrong with the value of an option; place: ` (a.yaml, line 3)`."""
    context = detail.get("ctx", {})
    if detail["type"] == "value_error":  # a check of our own, which says it all
        return f"{key}{place}: {context['error']}"
    if detail["type"] == "literal_error":
        allowed = [word.strip("'") for word in str(context["expected"]).split(", ")]
        allowed = [*allowed[:-1], *(word.strip("'") for word in allowed[-1].split("' or '"))]
        near = meant(str(value), allowed)
        return f"{key} is {seen(value)}{place}.{near} Allowed: {', '.join(allowed)}."
    return f"{key} is {seen(value)}{place}: it must be {_wanted(detail)}"


def seen(value: Any) -> str:
    """A value as it is written in a recipe."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return repr(value)


def _wanted(detail: ErrorDetails) -> str:
    name = detail["type"]
    known = WANTED.get(name) or WANTED.get(name.split("_")[0])
    return known.format(**detail.get("ctx", {})) if known else detail["msg"]
