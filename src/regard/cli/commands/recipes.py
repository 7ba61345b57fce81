"""`regard recipes`: what can be trained by name."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from typing import Any

from regard.cli.options import Json
from regard.words import t

WIDEST, NARROWEST = 100, 24  # cells: of the table, of a description


def recipes(as_json: Json = False) -> None:
    """List the recipes, of regard and of other packages.

    Example: regard recipes
    """
    rows = _rows()
    if as_json:
        print(json.dumps(rows, indent=2, ensure_ascii=False))
        return

    heads = {"name": t("name"), "data": t("data"), "description": t("what")}
    _print_table([heads, *rows], min(shutil.get_terminal_size((WIDEST, 0)).columns, WIDEST))
    print()
    print(t("Data that is not embedded is looked for in the folder that REGARD_DATA names."))
    print(t("regard train NAME [key=value …] trains one; regard schema prints every key."))


def _print_table(rows: list[dict[str, Any]], space: int) -> None:
    """In columns; a description that has not enough space goes on in the next line."""
    name, data = (max(len(row[key]) for row in rows) for key in ("name", "data"))
    for row in rows:
        start = f"{row['name']:{name}}  {row['data']:{data}}  "
        room = max(space - len(start), NARROWEST)
        what = textwrap.wrap(row["description"], room, break_on_hyphens=False) or [""]
        print(f"\n{' ' * len(start)}".join([start + what[0], *what[1:]]))


def _rows() -> list[dict[str, Any]]:
    """Of every recipe that can be read; of the others, a line on standard error."""
    from regard.recipe.mistakes import RecipeError
    from regard.recipe.named_recipes import named_recipes
    from regard.recipe.recipe_files import about_recipe

    rows = []
    for name in named_recipes(report=_warn):
        try:
            description, corpus = about_recipe(name)
        except RecipeError as error:
            _warn(str(error))
            continue
        folder, slash, _ = corpus.partition("/")
        needed = folder if slash else "embedded"
        rows.append({"name": name, "description": description, "data": needed})
    return rows


def _warn(problem: str) -> None:
    print(t("warning: {message}", message=problem), file=sys.stderr)
