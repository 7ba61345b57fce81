"""`regard fill`: what a masked language model reads into a gap."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.options import Device, Json, Output, TrainedRun
from regard.cli.texts import check_texts, chunks

if TYPE_CHECKING:
    from regard.tasks.masked.masked_module import Filling


def fill(
    model: TrainedRun,
    texts: Annotated[
        list[str] | None,
        typer.Argument(metavar="TEXT", help="With <mask> in it; lines of stdin if none, or -."),
    ] = None,
    top: Annotated[
        int, typer.Option(min=1, max=1_000, metavar="N", help="Tokens for each <mask>.")
    ] = 5,
    as_json: Json = False,
    output: Output = None,
    device: Device = None,
) -> None:
    """Print the likeliest tokens at every <mask> of TEXT.

    A line for each mask: 'token probability', the likeliest first.

    Example: regard fill -m runs/masked "the <mask> sat on the mat"
    """
    check_texts(texts or [], "fill")

    from regard.cli.streams import written_to
    from regard.runs.loaded_run import load

    run = load(model, device=device)
    with written_to(output) as out:
        for chunk in chunks(texts or ["-"], "fill"):
            for one in run.fill(chunk, top=top):
                out.write(json.dumps(one.to_dict(), ensure_ascii=False) if as_json else _lines(one))
                out.write("\n")
            out.flush()


def _lines(filling: Filling) -> str:
    return "\n".join(
        "  ".join(f"{guess.token} {guess.probability:.3f}" for guess in guesses)
        for guesses in filling.guesses
    )
