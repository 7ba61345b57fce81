"""The JSON schema of a recipe file, with every kind of task and model that is installed."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal

from pydantic import Field, create_model

from regard import registry
from regard.options import OptionsOfKind, TaskOptions
from regard.recipe.keys import CHOSEN_BY_KIND
from regard.recipe.recipe import Recipe

EXTENDS = {"type": "string", "description": "a recipe to start from: its name or its path"}
# Its keys are not known before it is imported, so an editor may not refuse any.
ELSEWHERE = {
    "type": "object",
    "title": "package.module:Name",
    "properties": {"kind": {"type": "string", "pattern": r"^[\w.]+:\w+$"}},
    "required": ["kind"],
}


def recipe_schema(report: Callable[[str], None] = warnings.warn) -> dict[str, Any]:
    """A kind that another package brings and that cannot be used is reported, and left out."""
    classes = {section: _classes(group, report) for section, group in CHOSEN_BY_KIND.items()}
    sections: dict[str, Any] = {
        section: (
            _one_of(found),
            Recipe.model_fields[section].get_default(call_default_factory=True),
        )
        for section, found in classes.items()
    }
    whole = create_model("Recipe", __base__=Recipe, __doc__=Recipe.__doc__, **sections)
    schema = whole.model_json_schema()
    for section in CHOSEN_BY_KIND:
        schema["properties"][section]["oneOf"].append(ELSEWHERE)
    tasks = [cls for cls in classes["task"] if issubclass(cls, TaskOptions)]
    metrics = dict.fromkeys(metric for cls in tasks for metric in cls.metrics)
    schema["$defs"]["Training"]["properties"]["metric"]["examples"] = ["auto", *metrics]
    schema["properties"] = {"extends": EXTENDS} | schema["properties"]
    return schema


def _classes(group: registry.Group, report: Callable[[str], None]) -> list[type[OptionsOfKind]]:
    found = []
    for kind in registry.kinds(group):
        try:
            cls: type[OptionsOfKind] = registry.find(group, kind)
            if cls.usual_kind() != kind:
                cls = _of_one_kind(cls, kind)
        except registry.KindError as error:
            report(str(error))
        except Exception as error:  # whatever a stranger's options have that JSON has not
            report(f"{kind!r} has no schema: {' '.join(str(error).split())}")
        else:
            found.append(cls)
    return found


def _of_one_kind(cls: type[OptionsOfKind], kind: str) -> type[OptionsOfKind]:
    """Options that have this kind and no other, as a discriminated union wants them."""
    fields: dict[str, Any] = {"kind": (Literal[kind], kind)}
    made = create_model(cls.__name__, __base__=cls, __doc__=cls.__doc__, **fields)
    made.model_json_schema()  # one that cannot be written is found here
    return made


def _one_of(classes: list[type[OptionsOfKind]]) -> Any:
    return Annotated[reduce(or_, classes), Field(discriminator="kind")]
