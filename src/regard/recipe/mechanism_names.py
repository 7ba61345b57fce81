"""The names of mechanisms in a recipe, checked before anything is read or trained."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from regard.models.attention_options import AttentionOptions, HeadOptions
from regard.plugins import BrokenPlugin
from regard.recipe.mistakes import MissingKind, RecipeError
from regard.recipe.recipe import Recipe
from regard.recipe.validation_errors import place_of
from regard.recipe.yaml_1_2 import Path, Written
from regard.registry import UnknownKind
from regard.terms import Kind, Section, meanings_of
from regard.words import t

WRITTEN = "a name, or a name with arguments, as in cosine(temperature=0.1) or window(5, 5) & causal"
MECHANISMS = ("score", "region", "normalize")
USUAL_SCORES = ("additive", "bilinear", "dot", "scaled-dot")
ANY_SIZES = {"query_size": 2, "key_size": 2}


def check_mechanisms(recipe: Recipe, written: Mapping[Path, Written] | None = None) -> None:
    """Refuse a score, region or normaliser that there is not; written: where each was named."""
    model = recipe.model
    written = written or {}
    for option, value in model:
        if isinstance(value, AttentionOptions | HeadOptions) and not _is_known(value):
            _check(option, value, recipe, written)


def _is_known(given: AttentionOptions | HeadOptions) -> bool:
    """The usual names need no torch to be known."""
    usual = type(given)()
    return given == usual.model_copy(update={"score": given.score}) and given.score in USUAL_SCORES


def _check(
    option: str,
    given: AttentionOptions | HeadOptions,
    recipe: Recipe,
    written: Mapping[Path, Written],
) -> None:
    import torch

    from regard.attention.normalizers import as_normalizer, usual_softmax
    from regard.attention.regions import as_region
    from regard.attention.scores import as_score

    parsers = {"score": as_score, "region": as_region, "normalize": as_normalizer}
    for part, name in _names(given):
        try:
            with torch.device("meta"):  # no memory, and no random numbers are drawn
                parsers[part](name, **ANY_SIZES)
        except ValueError as error:
            place = place_of(("model", option, part), written)
            said = str(error)
            if (
                isinstance(error, UnknownKind) and error.needs
            ):  # what is written here, not in Python
                section = Section(f"model.{option}", type(recipe.model).model_fields)
                kind, unknown = cast(tuple[Kind, str], error.needs)
                said = said.replace(
                    meanings_of(unknown, kind), meanings_of(unknown, kind, section), 1
                )
            told = t(
                "model.{option}.{part}{place}: {split}",
                option=option,
                part=part,
                place=place,
                split=" ".join(said.split()),
            )
            if isinstance(error, BrokenPlugin):
                raise MissingKind(told, error.hint) from None
            raise RecipeError(told, WRITTEN, needs=getattr(error, "needs", None)) from None
    if given.sinks and not usual_softmax(as_normalizer(given.normalize)):
        place = place_of(("model", option, "sinks"), written)
        raise RecipeError(
            t(
                "model.{option}.sinks{place}: sinks stand in the sum of a softmax, and "
                "{normalize} has no such sum",
                option=option,
                place=place,
                normalize=given.normalize,
            ),
            t("model.{option}.normalize=softmax, or sinks=false", option=option),
        )


def _names(given: AttentionOptions | HeadOptions) -> Iterator[tuple[str, str]]:
    """Every name, and whether it is of a score, a region or a normaliser."""
    for part in MECHANISMS:
        names = getattr(given, part)
        for name in [names] if isinstance(names, str) else names:
            yield part, name
