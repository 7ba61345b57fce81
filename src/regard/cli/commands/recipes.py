"""`regard recipes`: what can be trained by name."""

from __future__ import annotations

import json
import shutil
import textwrap
from typing import Any

from regard.cli.options import Json

HEADS = {"name": "name", "data": "data", "description": "what"}
WIDEST, NARROWEST = 100, 24  # cells: of the table, of a description


def recipes(as_json: Json = False) -> None:
    """List the recipes that come with regard.

    Example: regard recipes
    """
    rows = [_row(name) for name in _names()]
    if as_json:
        print(json.dumps(rows, indent=2, ensure_ascii=False))
        return

    _print_table([HEADS, *rows], min(shutil.get_terminal_size((WIDEST, 0)).columns, WIDEST))
    print("\nData that is not embedded is looked for in the folder that REGARD_DATA names.")
    print("regard train NAME [key=value …] trains one; regard schema prints every key.")


def _print_table(rows: list[dict[str, Any]], space: int) -> None:
    """In columns; a description that has not enough space goes on in the next line."""
    name, data = (max(len(row[key]) for row in rows) for key in ("name", "data"))
    for row in rows:
        start = f"{row['name']:{name}}  {row['data']:{data}}  "
        room = max(space - len(start), NARROWEST)
        what = textwrap.wrap(row["description"], room, break_on_hyphens=False)
        print(f"\n{' ' * len(start)}".join([start + what[0], *what[1:]]))


def _names() -> list[str]:
    from regard.recipe.recipe_files import shipped_recipes

    return shipped_recipes()


def _row(name: str) -> dict[str, Any]:
    from regard.recipe.recipe_files import read_recipe

    recipe = read_recipe(name)
    train = recipe.data.train
    first = train if isinstance(train, str) else train[0]
    folder, slash, _ = first.partition("/")
    needed = folder if slash else "embedded"
    return {"name": name, "description": recipe.description, "data": needed}
