"""What is said about a mistake in a recipe: where it is, what was seen, what was probably meant."""

from __future__ import annotations


class RecipeError(ValueError):
    """A recipe that cannot be used, in one line; `hint` is a command that helps."""

    def __init__(self, message: str, hint: str = "regard schema prints every key of a recipe"):
        super().__init__(message)
        self.hint = hint


class MissingKind(RecipeError):
    """A recipe of a task or model whose package is not here, or cannot be imported."""

    def __init__(self, message: str):
        super().__init__(message, "pip install what it comes from, or put its folder in PYTHONPATH")


def shortened(text: str, most: int = 200) -> str:
    """A sentence that repeats what was given stays one that can be read."""
    return text if len(text) <= most else f"{text[: most // 2]} … {text[-most // 2 :]}"
