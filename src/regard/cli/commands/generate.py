"""`regard generate`: a language model writes on, another tells of something, a model of pictures draws."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from regard.cli.new_pictures import MOST, SHEET, write_pictures
from regard.cli.options import Beam, Device, Json, Output, TrainedRun
from regard.cli.sampling_options import Sample, Seed, Temperature, TopK, TopP, search_options
from regard.cli.texts import check_texts, chunks
from regard.words import t


def generate(
    model: TrainedRun,
    prompts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PROMPT",
            help="How it begins, or what is told of: a label, vector, picture, text. -: lines of stdin.",
        ),
    ] = None,
    length: Annotated[
        int | None,
        typer.Option(
            min=1, max=1_000_000, metavar="N", help="Tokens to add at most; 200 if not given."
        ),
    ] = None,
    count: Annotated[
        int | None,
        typer.Option(min=1, max=MOST, metavar="N", help="Pictures to draw; 16 if not given."),
    ] = None,
    beam: Beam = None,
    sample: Sample = False,
    temperature: Temperature = None,
    top_k: TopK = None,
    top_p: TopP = None,
    seed: Seed = None,
    as_json: Json = False,
    output: Output = None,
    device: Device = None,
) -> None:
    """Continue each PROMPT, tell of it, or draw new pictures.

    A language model goes on from PROMPT, or begins from nothing. A run that was trained to tell of labels,
    vectors, pictures or texts writes of each PROMPT, as long as its recipe lets it. Without --sample the
    likeliest is taken, which of a language model soon repeats itself. Pictures are written as one sheet,
    -o FILE.png, or each as a file of its own, -o FOLDER; --seed draws others.

    Example: regard generate -m runs/char-language "I am " --sample --temperature 0.8

    Example: regard generate -m runs/quatrain 春夜 --sample --temperature 0.7

    Example: regard generate -m runs/draw --count 64 -o digits.png
    """
    pictures = count is not None or (output is not None and output.suffix == ".png")
    draws = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
    draws |= {} if pictures else {"seed": seed}
    settings = search_options(sample, beam, draws)
    check_texts(prompts or [], "generate")

    from regard.cli.streams import written_to
    from regard.runs.loaded_run import load
    from regard.tasks.text_doubts import unknown_tokens

    run = load(model, device=device)
    if hasattr(run.module, "imagine"):
        if prompts or sample or beam or as_json:
            raise typer.BadParameter(
                t("pictures are drawn of nothing: --count, --seed and -o are all there is to say")
            )
        for path in write_pictures(run.imagine(count or SHEET, seed=seed or 0), output):
            print(path)
        return
    if count is not None:
        raise typer.BadParameter(t("--count is for models that draw: this one writes"))
    tells = hasattr(getattr(run, "task", None), "write")
    if tells and not prompts:
        what = " TAB ".join(run.task.inputs)
        raise typer.BadParameter(t("this run tells of something: give {what}", what=what))
    with written_to(output) as out:
        first = True
        for chunk in chunks(prompts or [""], "generate", full=sample):
            asked = [run.task.of_line(line) for line in chunk] if tells else chunk
            for one in run.generate(asked, length=length, **settings):
                if as_json:
                    out.write(json.dumps(one.to_dict(), ensure_ascii=False) + "\n")
                else:
                    out.write(f"{'' if first else chr(10)}{one.text}\n")
                first = False
            out.flush()
            known = run.task.given(asked) if tells else [{"text": prompt} for prompt in chunk]
            for note in unknown_tokens(run.task, known):
                print(t("note: {note}", note=note), file=sys.stderr)
