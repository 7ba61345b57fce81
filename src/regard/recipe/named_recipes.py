"""Recipes by name: those that come with regard, and those of other packages.

A package lists itself among the entry points `regard.recipes`; its value is a package that holds YAML files:

    [project.entry-points."regard.recipes"]
    taggers = "my_package.recipes"
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import resources
from importlib.resources.abc import Traversable
from types import ModuleType

from regard import plugins
from regard.words import t

GROUP = "regard.recipes"
SUFFIX = ".yaml"
Report = Callable[[str], None]


def shipped_recipes() -> list[str]:
    """The names of the recipes that come with regard."""
    return sorted(_files(resources.files("regard") / "recipes"))


def named_recipes(report: Report = warnings.warn) -> dict[str, Traversable]:
    """Every recipe that has a name, ours first; what is wrong with a package is reported in one line."""
    found = dict(sorted(_files(resources.files("regard") / "recipes").items()))
    for package in plugins.names(GROUP):
        try:
            theirs = _files(_folder(package))
        except (plugins.BrokenPlugin, OSError) as error:
            report(str(error))
            continue
        for name in sorted(theirs):
            if name in found:
                report(f"there is a recipe {name!r} already: that of {package!r} is not used")
            else:
                found[name] = theirs[name]
    return found


def find_recipe(name: str) -> Traversable | None:
    """The file of a recipe; other packages are imported only for a name that is not ours."""
    if (ours := _files(resources.files("regard") / "recipes").get(name)) is not None:
        return ours
    return named_recipes(report=lambda problem: None).get(name)


def _folder(name: str) -> Traversable:
    """Of an entry point; it is imported only if its files cannot be found otherwise."""
    if (folder := plugins.folder_of(GROUP, name)) is not None:
        return folder
    package = plugins.load(GROUP, name)
    if not isinstance(package, ModuleType) or not hasattr(package, "__path__"):
        raise plugins.BrokenPlugin(
            t(
                "{origin} cannot be used: it is no package, so it holds no recipes",
                origin=plugins.origin(GROUP, name),
            )
        )
    return resources.files(package)


def _files(folder: Traversable) -> dict[str, Traversable]:
    """Those of a folder, and of the folders in it."""
    found: dict[str, Traversable] = {}
    for each in folder.iterdir():
        if each.is_dir():
            found |= _files(each)
        elif each.name.endswith(SUFFIX):
            found[each.name.removesuffix(SUFFIX)] = each
    return found
