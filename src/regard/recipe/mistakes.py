"""What is said about a mistake in a recipe: where it is, what was seen, what was probably meant."""

from __future__ import annotations

from regard.plugins import INSTALL


class RecipeError(ValueError):
    """A recipe that cannot be used, in one line; `hint` is a command that helps.

    needs: what it names and nobody brings, as ("task", "rate").
    """

    def __init__(
        self,
        message: str,
        hint: str = "regard schema prints every key of a recipe",
        *,
        needs: tuple[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.hint, self.needs = hint, needs


class MissingKind(RecipeError):
    """What a recipe names is of a package that is not here, or cannot be imported."""

    def __init__(self, message: str, hint: str = INSTALL):
        super().__init__(message, hint)


def shortened(text: str, most: int = 200) -> str:
    """A sentence that repeats what was given stays one that can be read."""
    return text if len(text) <= most else f"{text[: most // 2]} … {text[-most // 2 :]}"
