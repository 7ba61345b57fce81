"""The packages that a run needs beside regard: kept in its config.json, and named where one is not here.

"packages": [{"kind": "task", "name": "rate", "package": "my-package", "version": "1.0"}]

A class that the recipe names by its place is of kind "module"; its name is that of the top module.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import metadata
from pathlib import Path
from typing import Any

from regard import __version__, plugins
from regard.attention.language import PLACE
from regard.recipe.mistakes import MissingKind
from regard.recipe.recipe import Recipe
from regard.words import t

KEY = "packages"
WORD = re.compile(r"[A-Za-z_][\w-]*")


def packages_of(recipe: Recipe) -> list[dict[str, str]]:
    """What the task and the model of a recipe name and other packages bring; both have been built."""
    values = recipe.model_dump(mode="json", include={"task", "model"})
    texts = list(_texts(values))
    named = {_plain(name) for text in texts for name in (text, *WORD.findall(text))}
    found = [
        _row(group.removeprefix("regard.").removesuffix("s"), name, package)
        for group, name in plugins.loaded()
        if _plain(name) in named and (package := plugins.provider(group, name))
    ]
    modules = {module for text in texts for module, _ in PLACE.findall(text)} & sys.modules.keys()
    tops = sorted({module.partition(".")[0] for module in modules} - {"regard"})
    packages = (
        metadata.packages_distributions() if tops else {}
    )  # it looks at all that is installed
    for top in tops:
        for name in packages.get(top, [])[:1]:
            found.append(_row("module", top, (name, metadata.version(name))))
    return found


@contextmanager
def named_packages(file: Path, config: Mapping[str, Any]) -> Iterator[None]:
    """A MissingKind names the package of what is not here. config: what config.json holds."""
    try:
        yield
    except plugins.UnusableName as error:
        if error.needs is None:
            raise MissingKind(f"{file}: {error}", error.hint) from error
        raise missing(file, config, error.needs) from error


def read_packages(config: Path) -> dict[str, Any]:
    """What a config.json holds; nothing if it cannot be read."""
    with suppress(OSError, ValueError, RecursionError):
        found = json.loads(config.read_text(encoding="utf-8"))
        return found if isinstance(found, dict) else {}
    return {}


def missing(file: Path, config: Mapping[str, Any], needs: tuple[str, str]) -> MissingKind:
    """What is said of a run that names what is not here, as ("task", "rate")."""
    kind, name = needs
    needed = t("{file}: this run needs", file=file)
    if (row := _kept(config, kind, name)) is not None:
        name, package, version = row["name"], row["package"], row["version"]
        with suppress(metadata.PackageNotFoundError):
            return MissingKind(
                t(
                    "{needed} the {kind} {name} of the package {package} {version}; the installed "
                    "{package} {value} does not have it",
                    needed=needed,
                    kind=kind,
                    name=repr(name),
                    package=package,
                    version=version,
                    value=metadata.version(package),
                ),
                f"pip install {package}=={version}",
            )
        return MissingKind(
            t(
                "{needed} the {kind} {name} of the package {package}, which is not installed: "
                "pip install {package}",
                needed=needed,
                kind=kind,
                name=repr(name),
                package=package,
            ),
            t(
                "the run was trained with {package} {version}; from its folder: pip install "
                "./{package}",
                package=package,
                version=version,
            ),
        )
    if kind == "module":
        return MissingKind(
            t(
                "{needed} the module {name}, which cannot be imported",
                needed=needed,
                name=repr(name),
            )
        )
    if KEY in config and config.get("regard") != __version__:  # so it was regard's own
        return MissingKind(
            t(
                "{needed} the {kind} {name} of regard {get}; this is {version}",
                needed=needed,
                kind=kind,
                name=repr(name),
                get=config.get("regard"),
                version=__version__,
            ),
            f"pip install regard=={config.get('regard')}",
        )
    return MissingKind(
        t(
            "{needed} a package that provides the {kind} {name}",
            needed=needed,
            kind=kind,
            name=repr(name),
        )
    )


def _kept(config: Mapping[str, Any], kind: str, name: str) -> Mapping[str, str] | None:
    rows = config.get(KEY)
    for row in rows if isinstance(rows, list) else ():
        match row:
            case {"kind": str(k), "name": str(n), "package": str(), "version": str()}:
                if k == kind and _plain(n) == _plain(name):
                    return row
    return None


def _row(kind: str, name: str, package: tuple[str, str]) -> dict[str, str]:
    return {"kind": kind, "name": name, "package": package[0], "version": package[1]}


def _plain(name: str) -> str:
    """A mechanism may be written as its class or as its name."""
    return name.replace("_", "").replace("-", "").lower()


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)
