"""`regard schema`: every key of a recipe, for people and for editors."""

from __future__ import annotations

import json
import sys


def schema() -> None:
    """Print the JSON schema of a recipe, for editors.

    Example: regard schema > recipe.schema.json
    """
    from regard.recipe.recipe_schema import recipe_schema

    found = recipe_schema(report=lambda problem: print(f"warning: {problem}", file=sys.stderr))
    print(json.dumps(found, indent=2, ensure_ascii=False))
