"""`regard data check`: what is in a corpus, and what is wrong with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from regard.cli.error_lines import FAILED
from regard.cli.options import Json
from regard.cli.plain_help import PlainCommand, PlainGroup
from regard.runs.run_names import run_path
from regard.words import t

data = typer.Typer(cls=PlainGroup, rich_markup_mode=None)
USUAL_TASK = "translate"


@data.callback()
def group() -> None:
    """Look at data before training on it."""


@data.command("check", cls=PlainCommand)
def check_corpus(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILES", help="a.zh a.en, or pairs.tsv, .csv or .jsonl, or -."),
    ],
    task: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The task, or a recipe, it is for; translate if none."),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            "-m",
            "--model",
            metavar="RUN",
            parser=run_path,
            help="A run that must know what is in it.",
        ),
    ] = None,
    train: Annotated[
        str | None,
        typer.Option(
            metavar="SPEC", help="The training set: its labels must be enough, its texts others."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Count the examples of a corpus and report the lines that training will skip.

    Its columns are those of the task. With -m RUN lengths are in tokens too, and what the run would leave
    out or does not know is told.

    Example: regard data check a.zh a.en

    Example: regard data check reviews.tsv --task classify
    """
    if model is not None and (task is not None or train is not None):
        raise typer.BadParameter(t("-m RUN says the task and the labels: give it alone"))

    from regard.recipe.recipe_files import recipe_for
    from regard.tasks.recipe_task import task_of

    if model is None:
        asked = task_of(recipe_for(task or USUAL_TASK))
    else:
        from regard.runs.loaded_run import load

        asked = load(model, device="cpu").task
    spec = files if len(files) > 1 else files[0]
    summary = asked.check(spec, learnt=model is not None, train=train)
    if as_json:
        print(json.dumps(summary.to_json(), indent=2, ensure_ascii=False))
    else:
        print(summary)
    if not summary.examples:
        raise typer.Exit(FAILED)
