"""`regard train`: a recipe in, a run folder out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from regard.cli.options import LARGEST_SEED, Device
from regard.words import t


def train(
    recipe: Annotated[
        str,
        typer.Argument(
            metavar="RECIPE", help="A name that 'regard recipes' lists, or a YAML file."
        ),
    ],
    words: Annotated[
        list[str] | None, typer.Argument(metavar="KEY=VALUE", help="Keys to change.")
    ] = None,
    run: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where to write it; runs/NAME if not given."),
    ] = None,
    device: Device = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=LARGEST_SEED, metavar="N", help="The same as seed=N."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Train a model, score it and write its report.

    Keys are those of the recipe (regard schema). Run it again to go on where it stopped.

    Example: regard train rnnsearch data.train=a.zh,a.en model.hidden=256
    """
    from regard.recipe.recipe_files import read_recipe

    changes = [*(words or ()), *device_words(device)]
    changes += [] if seed is None else [f"seed={seed}"]
    resolved = read_recipe(recipe, changes)

    from regard.training.run import train as run_recipe  # Lightning takes seconds

    if resolved.data.dev is None:
        from regard.tasks.recipe_task import task_of

        note = t(
            "note: without data.dev nothing is measured while training, and the last weights are "
            "kept; data.dev=SPEC, written as data.train is, names {examples} to choose the best by",
            examples=task_of(resolved).called(2),
        )
        print(note, file=sys.stderr)
    run_recipe(resolved, run or Path("runs") / resolved.name, quiet=quiet)


def device_words(device: str | None) -> list[str]:
    """`--device cuda:1` in the words of a recipe."""
    if device is None:
        return []
    kind, colon, number = device.partition(":")
    chosen = f"[{number}]" if colon else "auto"
    return [f"trainer.accelerator={kind}", f"trainer.devices={chosen}"]
