"""`regard evaluate`: how good a run is."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from regard.cli.options import Beam, Device, Int8, Json, Runs
from regard.words import t


def evaluate(
    models: Runs = None,
    data: Annotated[
        str | None,
        typer.Option(metavar="SPEC", help="As data.test in a recipe; the run's test set if none."),
    ] = None,
    join: Annotated[
        int | None,
        typer.Option(
            min=1, max=1_000, metavar="N", help="Join up to N neighbouring pairs into one."
        ),
    ] = None,
    beam: Beam = None,
    as_json: Json = False,
    device: Device = None,
    int8: Int8 = False,
) -> None:
    """Print how good a run is on a test set.

    BLEU, chrF and perplexity of a translator, accuracy of a classifier, bits of a language model.

    Example: regard evaluate -m runs/zh-en --data b.zh,b.en

    Example: regard evaluate -m runs/imdb --data reviews.tsv#1,0
    """
    from regard.cli.ready_run import ready_run
    from regard.data.problems import Problems
    from regard.report.run_evaluation import evaluate as measure

    problems = Problems()
    run = ready_run(models or None, device=device, int8=int8)
    found = measure(run, data, problems, join=join, beam=beam)
    if problems:
        print(t("left out: {problems}", problems=problems.report()), file=sys.stderr)
    for note in found.notes:
        print(t("note: {note}", note=note), file=sys.stderr)
    if as_json:
        print(json.dumps(found.to_dict(), indent=2, ensure_ascii=False))
    else:
        lines = "\n".join(filter(None, (found.text, found.beside)))
        print("\n\n".join(filter(None, (lines, found.table))))
