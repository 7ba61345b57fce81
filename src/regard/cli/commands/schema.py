"""`regard schema`: every key of a recipe, for people and for editors."""

from __future__ import annotations

import json


def schema() -> None:
    """Print the JSON schema of a recipe, for editors.

    Example: regard schema > recipe.schema.json
    """
    from regard.recipe.recipe_files import recipe_schema

    print(json.dumps(recipe_schema(), indent=2, ensure_ascii=False))
