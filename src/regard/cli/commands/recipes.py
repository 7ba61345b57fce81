"""`regard recipes`: what can be trained by name."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from typing import Any

from regard.cli.options import Json
from regard.registry import BUILT_IN
from regard.words import t

WIDEST, NARROWEST = 100, 24  # cells: of the list, of a description
EMBEDDED = "embedded"


def recipes(as_json: Json = False) -> None:
    """List the recipes, of regard and of other packages.

    Example: regard recipes
    """
    rows = _rows()
    if as_json:
        print(json.dumps(rows, indent=2, ensure_ascii=False))
        return

    space = min(shutil.get_terminal_size((WIDEST, 0)).columns, WIDEST)
    for task in dict.fromkeys([*BUILT_IN["tasks"], *(row["task"] for row in rows)]):
        if its := [row for row in rows if row["task"] == task]:
            its.sort(key=lambda row: row["name"] != task)  # first the one to start with
            print(f"{task}\n{_listed(its, space)}\n")
    print(t("[…]: a folder that REGARD_DATA must hold. What has none needs no data."))
    print(t("regard train NAME [key=value …] trains one; regard schema prints every key."))


def _listed(rows: list[dict[str, Any]], space: int) -> str:
    """Names and what they are; a description that has not enough space goes on in the next line."""
    name = max(len(row["name"]) for row in rows)
    lines = []
    for row in rows:
        start = f"  {row['name']:{name}}  "
        needed = "" if row["data"] == EMBEDDED else f" [{row['data']}]"
        room = max(space - len(start), NARROWEST)
        what = textwrap.wrap(row["description"] + needed, room, break_on_hyphens=False) or [""]
        lines.append(f"\n{' ' * len(start)}".join([start + what[0], *what[1:]]))
    return "\n".join(lines)


def _rows() -> list[dict[str, Any]]:
    """Of every recipe that can be read; of the others, a line on standard error."""
    from regard.data.spec import digits_of
    from regard.recipe.mistakes import RecipeError
    from regard.recipe.named_recipes import named_recipes
    from regard.recipe.recipe_files import about_recipe

    rows = []
    for name in named_recipes(report=_warn):
        try:
            about = about_recipe(name)
        except RecipeError as error:
            _warn(str(error))
            continue
        folder, slash, _ = digits_of(about.corpus).partition("/")
        rows.append(
            {
                "name": name,
                "task": about.task,
                "description": about.description,
                "data": folder if slash else EMBEDDED,
            }
        )
    return rows


def _warn(problem: str) -> None:
    print(t("warning: {message}", message=problem), file=sys.stderr)
