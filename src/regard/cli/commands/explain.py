"""`regard explain`: how far attention, gradients and others explain the answers of a run, over a corpus."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from regard.cli.options import LARGEST_SEED, Device, Json, Run
from regard.words import t


def explain(
    model: Run = None,
    data: Annotated[
        str | None,
        typer.Option(metavar="SPEC", help="As data.test in a recipe; the run's test set if none."),
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--methods",
            "--method",
            "--measure",
            metavar="NAMES",
            help="attention, norm, value-zeroing, gradient, leave-one-out, contrast, contrast-gradient; "
            "all if none.",
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option(min=1, max=10**9, metavar="N", help="Examples, drawn from the corpus.")
    ] = 100,
    seed: Annotated[
        int,
        typer.Option(
            min=0, max=LARGEST_SEED, metavar="N", help="Of examples, random tokens and intervals."
        ),
    ] = 0,
    as_json: Json = False,
    device: Device = None,
) -> None:
    """Print how faithful explanations of a run are to it: a table.

    Comprehensiveness: what an answer loses without the tokens that a method names first. Sufficiency: what it
    loses with these alone. Both beside random tokens. Ctrl-C keeps what is done.

    Example: regard explain -m runs/zh-en --data b.zh,b.en --limit 50

    Example: regard explain -m runs/imdb --methods attention,gradient
    """
    from regard.cli.error_lines import INTERRUPTED
    from regard.cli.ready_run import ready_run
    from regard.data.problems import Problems
    from regard.explanations.attributions import METHODS
    from regard.looking.explained_corpus import check_methods, explain_corpus
    from regard.time_left import TimeLeft

    named = [name.strip() for each in methods or [] for name in each.split(",") if name.strip()]
    names = tuple(dict.fromkeys(named)) or METHODS
    check_methods(names)
    run, problems = ready_run(model, device=device), Problems()
    with TimeLeft(t("examples explained")) as shown:
        found = explain_corpus(
            run,
            data,
            methods=names,
            limit=limit,
            seed=seed,
            problems=problems,
            told=shown.see,
        )
    if problems:
        print(t("left out: {problems}", problems=problems.report()), file=sys.stderr)
    print(json.dumps(found.to_dict(), indent=2, ensure_ascii=False) if as_json else found.text)
    if found.interrupted:
        told = t(
            "stopped after {done} of {count} examples: the table is of these",
            done=found.items,
            count=found.wanted,
        )
        print(told, file=sys.stderr)
        raise typer.Exit(INTERRUPTED)
