"""`regard recipes`: what can be trained by name."""

from __future__ import annotations

import json
from typing import Any

from regard.cli.options import Json


def recipes(as_json: Json = False) -> None:
    """List the recipes that come with regard.

    Example: regard recipes
    """
    rows = [_row(name) for name in _names()]
    if as_json:
        print(json.dumps(rows, indent=2, ensure_ascii=False))
        return

    from regard.view.cells import pad, width

    heads = {"name": "name", "data": "data", "description": "what"}
    table = [[row[key] for key in heads] for row in [heads, *rows]]
    widest = [max(map(width, column)) for column in zip(*table, strict=True)]
    for row in table:
        print("  ".join(map(pad, row, widest)).rstrip())
    print("\nData that is not embedded is looked for in the folder that REGARD_DATA names.")
    print("regard train NAME [key=value …] trains one; regard schema prints every key.")


def _names() -> list[str]:
    from regard.training.reading import shipped_recipes

    return shipped_recipes()


def _row(name: str) -> dict[str, Any]:
    from regard.training.reading import read_recipe

    recipe = read_recipe(name)
    train = recipe.data.train
    first = train if isinstance(train, str) else train[0]
    folder, slash, _ = first.partition("/")
    needed = folder if slash else "embedded"
    return {"name": name, "description": recipe.description, "data": needed}
