"""What pydantic refuses, said in one line: the option, what was seen, what is wanted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from regard.suggestions import meant
from regard.terms import choices_meant
from regard.words import t

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails


def _wishes(limits: dict[str, Any]) -> dict[str, str]:
    """By pydantic's name of an error, or its first word."""
    return {
        "int": t("a whole number"),
        "float": t("a number"),
        "finite": t("a finite number"),
        "bool": t("true or false"),
        "string": t("text"),
        "string_too_short": t("text that is not empty"),
        "list": t("a list, as in [a, b]"),
        "tuple": t("a list, as in [a, b]"),
        "missing": t("a longer list"),
        "too": t("a list of {limit} or fewer", limit=limits.get("max_length")),
        "too_short": t("a list of {limit} or more", limit=limits.get("min_length")),
        "greater": t("greater than {limit}", limit=limits.get("gt")),
        "greater_than_equal": t("{limit} or greater", limit=limits.get("ge")),
        "less": t("less than {limit}", limit=limits.get("lt")),
        "less_than_equal": t("{limit} or less", limit=limits.get("le")),
    }


def refused_options(error: ValidationError, names: Iterable[str]) -> str:
    """The first mistake in the options of a call, where these are all there are."""
    detail = min(error.errors(), key=lambda d: d["type"] != "extra_forbidden")
    key = ".".join(map(str, detail["loc"]))
    if detail["type"] == "extra_forbidden":
        known = [name for name in names if name != "kind"]
        return t(
            "no option {key}.{meant} There are {known}",
            key=repr(key),
            meant=meant(key, known),
            known=", ".join(known),
        )
    return refused_value(detail, key, detail["input"])


def refused_value(detail: ErrorDetails, key: str, value: Any, place: str = "") -> str:
    """What is wrong with the value of an option; place: ` (a.yaml, line 3)`."""
    context = detail.get("ctx", {})
    if detail["type"] == "value_error":  # a check of our own, which says it all
        return f"{key}{place}: {context['error']}"
    if detail["type"] == "literal_error":
        allowed = [word.strip("'") for word in str(context["expected"]).split(", ")]
        allowed = [*allowed[:-1], *(word.strip("'") for word in allowed[-1].split("' or '"))]
        return t(
            "{key} is {value}{place}.{meant} Allowed: {allowed}.",
            key=key,
            value=seen(value),
            place=place,
            meant=choices_meant(
                str(value), key.rpartition(".")[2], allowed, recipe=key.startswith("model.")
            )
            or meant(str(value), allowed),
            allowed=", ".join(allowed),
        )
    return t(
        "{key} is {value}{place}: it must be {wanted}",
        key=key,
        value=seen(value),
        place=place,
        wanted=_wanted(detail),
    )


def seen(value: Any) -> str:
    """A value as it is written in a recipe."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return repr(value)


def _wanted(detail: ErrorDetails) -> str:
    name = detail["type"]
    known = _wishes(detail.get("ctx", {}))
    return known.get(name) or known.get(name.split("_")[0]) or detail["msg"]
