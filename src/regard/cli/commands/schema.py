"""`regard schema`: every key of a recipe, for people and for editors."""

from __future__ import annotations

import json
import sys

from regard.words import t


def schema() -> None:
    """Print the JSON schema of a recipe, for editors.

    Example: regard schema > recipe.schema.json
    """
    from regard.recipe.recipe_schema import recipe_schema

    def warn(problem: str) -> None:
        print(t("warning: {message}", message=problem), file=sys.stderr)

    found = recipe_schema(report=warn)
    print(json.dumps(found, indent=2, ensure_ascii=False))
