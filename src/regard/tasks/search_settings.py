"""From the recipe's `search` section to the settings of a search."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from regard.recipe.recipe import Recipe
from regard.search import Search
from regard.suggestions import meant
from regard.words import t

SETTINGS = {field.name for field in fields(Search)}


def search_settings(recipe: Recipe, **changes: Any) -> Search:
    """As the recipe says, but for what is changed; None leaves a setting as it is.

    An n-best list needs a beam at least as wide, so it widens the recipe's.
    """
    for name in changes.keys() - SETTINGS:
        raise TypeError(
            t(
                "no search setting {name}.{meant} There are {settings}",
                name=repr(name),
                meant=meant(name, SETTINGS),
                settings=", ".join(sorted(SETTINGS)),
            )
        )
    given = {name: value for name, value in changes.items() if value is not None}
    if given.get("method", "beam") == "beam" and "beam" not in given:
        given["beam"] = max(recipe.search.beam, given.get("nbest", 1))
    settings = {
        "length_penalty": recipe.search.length_penalty,
        "coverage_penalty": recipe.search.coverage_penalty,
        "max_length": recipe.search.max_length,
    }
    return Search(**(settings | given))
