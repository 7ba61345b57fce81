"""`regard predict`: examples in, answers out, whatever the run was trained for."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.options import Device, Json, Output, Run
from regard.cli.texts import CHUNK, check_texts, chunks
from regard.words import t

if TYPE_CHECKING:
    from regard.tasks.answer import Answer
    from regard.tasks.task import Task


def predict(
    examples: Annotated[
        list[str] | None,
        typer.Argument(metavar="EXAMPLE", help="A text, a file or JSON; lines of stdin if none."),
    ] = None,
    model: Run = None,
    data: Annotated[
        str | None,
        typer.Option("--data", metavar="SPEC", help="A corpus to read them from, as data.test is."),
    ] = None,
    as_json: Json = False,
    output: Output = None,
    device: Device = None,
) -> None:
    """Answer EXAMPLEs, or standard input line by line, by any run.

    An example is the value of the one input, or a JSON object with a value for each of them. --json
    prints {input, answer, score, attention} for each; on a terminal the attention is drawn.

    Example: regard predict -m runs/tag "the cat sat on the mat"

    Example: regard predict -m runs/tag --data sentences.jsonl --json > answers.jsonl
    """
    if data is not None and examples:
        raise typer.BadParameter(t("give examples or --data, not both"))
    check_texts(examples or [], "predict")

    from regard.cli.streams import written_to
    from regard.runs.loaded_run import load

    run = load(model, device=device)
    drawn = bool(examples) and not (as_json or output) and sys.stdout.isatty()
    lines = examples or ["-"]
    given = chunks_of(data, run.task) if data is not None else _read(lines, run.task)
    with written_to(output) as out:
        for chunk in given:
            for answer in run.predict(chunk, attention=as_json or drawn):
                out.write(_written(answer, as_json, drawn))
            out.flush()


def chunks_of(spec: str, task: Task) -> Iterator[list[Any]]:
    """The examples of a corpus that need not hold what is answered."""
    from itertools import islice

    from regard.data.examples import read_examples
    from regard.data.problems import Problems

    problems = Problems()
    fields = [task.fields[name] for name in task.inputs]
    examples = read_examples(spec, fields, problems)
    while chunk := list(islice(examples, CHUNK)):
        yield list(chunk)
    if problems:
        print(t("left out: {problems}", problems=problems.report()), file=sys.stderr)


def _read(lines: list[str], task: Task) -> Iterator[list[Any]]:
    return ([_example(line, task) for line in chunk] for chunk in chunks(lines, "predict"))


def _example(line: str, task: Task) -> Any:
    """JSON that names the inputs, or the value itself, which may begin like JSON."""
    if line.lstrip().startswith("{"):
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            return line
        if isinstance(found, dict) and set(task.inputs) & found.keys():
            return found
    return line


def _written(answer: Answer, as_json: bool, drawn: bool) -> str:
    if as_json:
        return json.dumps(answer.to_dict(), ensure_ascii=False) + "\n"
    if not drawn or answer.attention is None or not answer.attention.numel():
        return f"{answer.line}\n"

    from regard.view import heat_map

    return f"{answer.line}\n\n{heat_map(answer.attention, answer.rows, answer.columns)}\n"
