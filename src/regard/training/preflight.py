"""What can be known to be wrong with a run before anything is written or learnt."""

from __future__ import annotations

import os

import torch
from torch import nn

from regard.data.parts import PARTS
from regard.data.problems import CorpusError
from regard.layers.positions import Learned
from regard.plugins import BrokenPlugin
from regard.recipe.mistakes import MissingKind, RecipeError
from regard.recipe.recipe import Recipe
from regard.tasks.recipe_task import task_of
from regard.words import t

CROWD = 16  # processes on a CPU that need no core each: a toy, or a test


def check(recipe: Recipe) -> None:
    """Refuse a recipe without an end, with a corpus that is not there, or with parts that do not fit."""
    _check_end(recipe)
    _check_processes(recipe)
    _check_corpora(recipe)
    _check_model(recipe)


def _check_end(recipe: Recipe) -> None:
    training = recipe.training
    if not training.limits and not training.patience:
        raise RecipeError(
            t(
                "the recipe does not say when to stop: set training.epochs, training.steps, "
                "training.minutes or training.patience"
            )
        )
    if training.patience and not recipe.data.dev:
        raise RecipeError(t("training.patience counts validations, which need data.dev"))


def _check_processes(recipe: Recipe) -> None:
    """Refuse what would bring the machine down: every process holds a model of its own."""
    trainer, cores = recipe.trainer, os.cpu_count() or 1
    wanted = trainer.devices if isinstance(trainer.devices, int) else 1
    if trainer.accelerator == "cpu" and wanted > max(CROWD, cores):
        raise RecipeError(
            t(
                "trainer.devices={wanted} processes are too many for {cores} cores",
                wanted=wanted,
                cores=cores,
            ),
            t("as many processes as cores are the most that help"),
        )


def _check_corpora(recipe: Recipe) -> None:
    task = task_of(recipe)
    for name in PARTS:
        spec = getattr(recipe.data, name)
        try:
            task.corpora(spec or [])
        except FileNotFoundError as error:
            raise FileNotFoundError(t("data.{name}: {error}", name=name, error=error)) from None
        except ValueError as error:
            hint = getattr(error, "hint", CorpusError.hint)
            raise RecipeError(t("data.{name}: {error}", name=name, error=error), hint) from None


def _check_model(recipe: Recipe) -> None:
    try:
        with torch.device("meta"):  # no memory, and no random numbers are drawn
            fields = task_of(recipe).fields.items()
            model = recipe.model.build({name: field.any_size for name, field in fields})
    except BrokenPlugin as error:
        raise MissingKind(t("model: {error}", error=error), error.hint) from None
    except ValueError as error:
        raise RecipeError(t("model: {error}", error=error)) from None
    _check_memory(model)
    _check_positions(recipe, model)


def _check_memory(model: nn.Module) -> None:
    """Refuse weights that cannot be there at once, the vocabularies' not counted."""
    if not hasattr(os, "sysconf"):
        return
    needed = sum(p.numel() * p.element_size() for p in model.parameters())
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > there:
        raise RecipeError(
            t(
                "model: its weights take {needed} GB, and this machine has {there}",
                needed=f"{needed / 1000000000.0:,.0f}",
                there=f"{there / 1000000000.0:,.0f}",
            ),
            t("fewer features or layers need less"),
        )


def _check_positions(recipe: Recipe, model: nn.Module) -> None:
    """Refuse fewer learned positions than the longest training sequence needs."""
    tables = [part.longest for part in model.modules() if isinstance(part, Learned)]
    context = getattr(recipe.task, "context", None)
    name, length = (
        ("task.context", context) if context else ("data.max_length", recipe.data.max_length)
    )
    needed = length + 1 + (getattr(recipe.model, "pool", None) == "first")
    option = "max_steps" if hasattr(recipe.model, "max_steps") else "max_positions"
    if tables and min(tables) < needed:
        raise RecipeError(
            t(
                "model.{option} is {tables}, but {name}={length} needs {needed}, the end "
                "of a sequence counted: set one of the two",
                option=option,
                tables=min(tables),
                name=name,
                length=length,
                needed=needed,
            )
        )
