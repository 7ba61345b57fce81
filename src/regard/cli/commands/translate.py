"""`regard translate`: text in, translations out, line by line."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.options import WIDEST, Beam, Device, Int8, Json, Output, Runs
from regard.cli.sampling_options import Sample, Seed, Temperature, TopK, TopP, search_options
from regard.cli.texts import check_texts, chunks
from regard.words import t

MOST_DOUBTED = 3  # lines of which it is said why

if TYPE_CHECKING:
    from regard.runs.loaded_run import LoadedRun
    from regard.tasks.prediction import Prediction


def translate(
    texts: Annotated[
        list[str] | None,
        typer.Argument(metavar="TEXT", help="What to translate; lines of stdin if none, or -."),
    ] = None,
    models: Runs = None,
    beam: Beam = None,
    nbest: Annotated[
        int,
        typer.Option(
            min=1, max=WIDEST, metavar="N", help="The N best, as 'line ||| text ||| score'."
        ),
    ] = 1,
    attention: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write tokens and attention there (JSONL).")
    ] = None,
    replace_unknown: Annotated[
        bool, typer.Option("--replace-unknown", help="Copy the most attended word for <unk>.")
    ] = False,
    sample: Sample = False,
    temperature: Temperature = None,
    top_k: TopK = None,
    top_p: TopP = None,
    seed: Seed = None,
    engine: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Run on ctranslate2 or onnx; RUN may be an export."),
    ] = None,
    as_json: Json = False,
    output: Output = None,
    device: Device = None,
    int8: Int8 = False,
) -> None:
    """Translate TEXT, or standard input line by line.

    Example: regard translate 我是一个学生。

    Example: regard translate -m runs/zh-en < in.zh > out.en
    """
    draws = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed}
    settings = search_options(sample, beam, draws, nbest=nbest)
    check_texts(texts or [], "translate")
    shown = bool(texts) and not (as_json or output or nbest > 1) and _on_a_terminal()

    from regard.cli.streams import written_to

    translator = _loaded(models, engine, device, int8)
    with ExitStack() as stack:
        out = stack.enter_context(written_to(output))
        records = stack.enter_context(written_to(attention)) if attention else None
        number, doubts = 0, ReadingDoubts(several=len(texts or []) != 1 or texts == ["-"])
        for chunk in chunks(texts or ["-"], "translate", full=sample):
            answers = translator.translate(
                chunk,
                replace_unknown=replace_unknown,
                attention=shown or records is not None,
                **settings,
            )
            for prediction in answers:
                notes = translator.reading_notes(prediction)
                if records:
                    records.write(_record(prediction, notes))
                out.write(_answer(prediction, number, nbest, as_json, shown, notes))
                doubts.add(notes, number)
                number += 1
            out.flush()
    doubts.tell_rest()


class ReadingDoubts:
    """What is told on standard error of texts that the model hardly knows: of many, of the first few."""

    def __init__(self, several: bool) -> None:
        self.several, self.doubted = several, 0

    def add(self, notes: Sequence[str], number: int) -> None:
        self.doubted += bool(notes)
        if self.doubted > MOST_DOUBTED:
            return
        for note in notes:
            said = t("line {n}: {note}", n=number + 1, note=note) if self.several else note
            print(t("note: {note}", note=said), file=sys.stderr)

    def tell_rest(self) -> None:
        if (rest := self.doubted - MOST_DOUBTED) > 0:
            said = t.plural(rest, "the same of {n} more line", "the same of {n} more lines")
            print(t("note: {note}", note=said), file=sys.stderr)


def _loaded(
    models: list[Path] | None, engine: str | None, device: str | None, int8: bool
) -> LoadedRun:
    if engine is not None:
        if int8:
            raise typer.BadParameter(
                t(
                    "--int8 is for regard's own search: 'regard export --quantization' makes an engine's"
                )
            )
        from regard.export.engines import load_engine, only_one

        return load_engine(only_one(models), engine, device=device)

    from regard.cli.ready_run import ready_run

    return ready_run(models or None, device=device, int8=int8)


def _on_a_terminal() -> bool:
    return sys.stdout.isatty()


def _answer(
    prediction: Prediction,
    number: int,
    nbest: int,
    as_json: bool,
    shown: bool,
    notes: Sequence[str],
) -> str:
    from regard.cli.streams import one_line
    from regard.cli.terminal_alignment import alignment

    if as_json:
        return _record(prediction, notes)
    if nbest > 1:
        every = (prediction, *prediction.alternatives)
        return "".join(f"{number} ||| {one_line(p.text)} ||| {p.score:.4f}\n" for p in every)
    picture = f"\n{alignment(prediction)}\n" if shown else ""
    return f"{one_line(prediction.text)}\n{picture}"


def _record(prediction: Prediction, notes: Sequence[str]) -> str:
    return json.dumps(prediction.to_dict() | {"notes": list(notes)}, ensure_ascii=False) + "\n"
