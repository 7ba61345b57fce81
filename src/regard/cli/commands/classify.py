"""`regard classify`: text in, labels out, line by line."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from regard.cli.options import Device, Json, Output, TrainedRun
from regard.cli.texts import check_texts, chunks


def classify(
    model: TrainedRun,
    texts: Annotated[
        list[str] | None,
        typer.Argument(metavar="TEXT", help="What to label; lines of stdin if none, or -."),
    ] = None,
    probability: Annotated[
        bool, typer.Option("--probability", "-p", help="Write 'label TAB probability'.")
    ] = False,
    as_json: Json = False,
    output: Output = None,
    device: Device = None,
) -> None:
    """Label TEXT, or standard input line by line.

    --json has the probability of every label, the tokens, and the attention if the model pools by it. A
    blank line has no label: its line is blank, and null in JSON.

    Example: regard classify -m runs/mr "a film that never ends"

    Example: regard classify -m runs/mr < reviews.txt > labels.txt
    """
    check_texts(texts or [], "classify")

    from regard.cli.streams import one_line, written_to
    from regard.runs.loaded_run import load

    run = load(model, device=device)
    with written_to(output) as out:
        for chunk in chunks(texts or ["-"], "classify"):
            found = iter(run.classify([text for text in chunk if text.strip()], attention=as_json))
            for text in chunk:
                if not text.strip():
                    out.write(f"{json.dumps({'text': text, 'label': None}) if as_json else ''}\n")
                    continue
                one = next(found)
                if as_json:
                    out.write(json.dumps(one.to_dict(), ensure_ascii=False) + "\n")
                    continue
                share = f"\t{one.probability:.4f}" if probability else ""
                out.write(f"{one_line(one.label)}{share}\n")
            out.flush()
