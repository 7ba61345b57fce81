"""`regard translate`: text in, translations out, line by line."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from regard.cli.options import Beam, Device, Json, Output, Runs

if TYPE_CHECKING:
    from regard.tasks.prediction import Prediction

CHUNK = 1024  # lines: enough to sort by length, few enough to see them flow


def translate(
    texts: Annotated[
        list[str] | None,
        typer.Argument(metavar="TEXT", help="What to translate; lines of stdin if none, or -."),
    ] = None,
    models: Runs = None,
    beam: Beam = None,
    nbest: Annotated[
        int, typer.Option(min=1, metavar="N", help="The N best, as 'line ||| text ||| score'.")
    ] = 1,
    attention: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write tokens and attention there (JSONL).")
    ] = None,
    replace_unknown: Annotated[
        bool, typer.Option("--replace-unknown", help="Copy the most attended word for <unk>.")
    ] = False,
    sample: Annotated[bool, typer.Option("--sample", help="Draw instead of searching.")] = False,
    temperature: Annotated[
        float | None, typer.Option(metavar="T", help="Of the draws; above 1: bolder.")
    ] = None,
    top_k: Annotated[
        int | None, typer.Option(min=0, metavar="K", help="Draw among the K likeliest.")
    ] = None,
    top_p: Annotated[
        float | None, typer.Option(metavar="P", help="Draw among the likeliest of mass P.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, metavar="N", help="Of the draws.")] = None,
    as_json: Json = False,
    output: Output = None,
    device: Device = None,
) -> None:
    """Translate TEXT, or standard input line by line.

    Example: regard translate 我是一个学生。

    Example: regard translate -m runs/zh-en < in.zh > out.en
    """
    draws = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed}
    settings = _settings(beam, nbest, sample, draws)
    _check_texts(texts or [])
    shown = bool(texts) and not (as_json or output or nbest > 1) and _on_a_terminal()

    from regard.cli.streams import written_to
    from regard.training.loading import load

    translator = load(models or None, device=device)
    with ExitStack() as stack:
        out = stack.enter_context(written_to(output))
        records = stack.enter_context(written_to(attention)) if attention else None
        number = 0
        for chunk in _chunks(texts or ["-"], full=sample):
            answers = translator.translate(
                chunk,
                replace_unknown=replace_unknown,
                attention=shown or records is not None,
                **settings,
            )
            for prediction in answers:
                if records:
                    records.write(_record(prediction))
                out.write(_answer(prediction, number, nbest, as_json, shown))
                number += 1
            out.flush()


def _check_texts(texts: list[str]) -> None:
    """`-` stands alone; a text that is the name of a file is translated, but was it meant?"""
    if "-" in texts and len(texts) > 1:
        raise typer.BadParameter("- is standard input: give it alone, or texts without it")
    if len(texts) == 1 and len(texts[0].split()) == 1 and os.path.isfile(texts[0]):
        advice = f"to translate its lines write: regard translate … < {texts[0]}"
        print(f"note: {texts[0]} is a file: {advice}", file=sys.stderr)


def _on_a_terminal() -> bool:
    return sys.stdout.isatty()


def _settings(
    beam: int | None, nbest: int, sample: bool, draws: dict[str, float | int | None]
) -> dict[str, Any]:
    """The options as `regard.search.Search` has them; those that were not given stay the run's."""
    given = {name: value for name, value in draws.items() if value is not None}
    if given and not sample:
        option = "--" + next(iter(given)).replace("_", "-")
        raise typer.BadParameter(f"{option} is for translations that are drawn: add --sample")
    if sample and beam is not None:
        raise typer.BadParameter(
            "--beam is for translations that are searched: drop it or --sample"
        )
    if beam is not None and nbest > beam:
        raise typer.BadParameter(
            f"--nbest {nbest} needs a beam at least as wide, not --beam {beam}"
        )
    if sample:
        return {"method": "sample", "nbest": nbest, **given}
    return {"beam": beam, "nbest": nbest}


def _chunks(texts: list[str], *, full: bool) -> Iterator[list[str]]:
    """The texts; `-` stands for the lines of standard input, as they arrive."""
    if texts != ["-"]:
        yield texts
        return

    from regard.cli.streams import arriving, decoded

    if sys.stdin.isatty():
        print("type a line to translate it; Ctrl-D ends", file=sys.stderr)
    number = 1
    for lines in arriving(cast(BufferedReader, sys.stdin.buffer), CHUNK, full=full):
        yield decoded(lines, number)
        number += len(lines)


def _answer(prediction: Prediction, number: int, nbest: int, as_json: bool, shown: bool) -> str:
    from regard.cli.drawing import alignment
    from regard.cli.streams import one_line

    if as_json:
        return _record(prediction)
    if nbest > 1:
        every = (prediction, *prediction.alternatives)
        return "".join(f"{number} ||| {one_line(p.text)} ||| {p.score:.4f}\n" for p in every)
    picture = f"\n{alignment(prediction)}\n" if shown else ""
    return f"{one_line(prediction.text)}\n{picture}"


def _record(prediction: Prediction) -> str:
    return json.dumps(prediction.to_dict(), ensure_ascii=False) + "\n"
