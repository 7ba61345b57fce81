"""`regard evaluate`: how good a run is."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from regard.cli.options import Beam, Device, Json, Runs


def evaluate(
    models: Runs = None,
    data: Annotated[
        str | None,
        typer.Option(metavar="SPEC", help="a.zh,a.en or pairs.tsv; the run's test set if none."),
    ] = None,
    join: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Join up to N neighbouring pairs into one."),
    ] = None,
    beam: Beam = None,
    as_json: Json = False,
    device: Device = None,
) -> None:
    """Print BLEU, chrF and perplexity of a run on a test set.

    Example: regard evaluate -m runs/zh-en --data b.zh,b.en
    """
    from regard.training.evaluating import evaluate as measure
    from regard.training.loading import load
    from regard.view.by_length import length_table

    found = measure(load(models or None, device=device), data, join=join, beam=beam)
    if as_json:
        print(json.dumps(found.to_dict(), indent=2, ensure_ascii=False))
    else:
        print(f"{found.text}\n\n{length_table({'': found.by_length})}")
