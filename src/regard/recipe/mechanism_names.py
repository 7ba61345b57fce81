"""The names of mechanisms in a recipe, checked before anything is read or trained."""

from __future__ import annotations

from regard.recipe.mistakes import RecipeError
from regard.recipe.model_sections import Attends, Model, Recurrent, RnnSearch
from regard.recipe.recipe import Recipe

ANY_SIZES = {"query_size": 2, "key_size": 2}


def check_mechanisms(recipe: Recipe) -> None:
    """Refuse a score, region or normaliser that the heart does not know."""
    attends = getattr(recipe.model, "attention", None)
    if not isinstance(attends, Attends) or attends == Attends():
        return  # the usual names need no torch to be known

    import torch

    from regard.attention.normalizers import as_normalizer
    from regard.attention.regions import as_region
    from regard.attention.scores import Score, as_score

    for name, parse in (("score", as_score), ("region", as_region), ("normalize", as_normalizer)):
        try:
            with torch.device("meta"):  # no memory, and no random numbers are drawn
                made = parse(getattr(attends, name), **ANY_SIZES)
        except ValueError as error:
            what = " ".join(str(error).split())
            raise RecipeError(f"model.attention.{name}: {what}") from None
        if isinstance(made, Score) and made.query_size is made.key_size is None:
            _check_widths(recipe.model, attends.score)


def _check_widths(model: Model, score: str) -> None:
    """Refuse a score without weights where both directions make keys wider than queries."""
    if not isinstance(model, RnnSearch) and not (
        isinstance(model, Recurrent) and model.bidirectional
    ):
        return
    other = ", or model.bidirectional=false" if isinstance(model, Recurrent) else ""
    raise RecipeError(
        f"model.attention.score: {score} compares vectors of one width, but the keys, of both "
        f"directions, are {2 * model.hidden} wide and the queries {model.hidden}. "
        f"Use bilinear{other}."
    )
