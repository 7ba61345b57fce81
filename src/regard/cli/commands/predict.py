"""`regard predict`: examples in, answers out, whatever the run was trained for."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.options import Device, Int8, Json, Output, Run
from regard.cli.texts import CHUNK, check_texts, chunks
from regard.words import t

if TYPE_CHECKING:
    from regard.tasks.answer import Answer
    from regard.tasks.task import Task
    from regard.tasks.task_module import Unanswerable


def predict(
    examples: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="EXAMPLE",
            help="A text, or several with TABs between; a file, JSON; else stdin.",
        ),
    ] = None,
    model: Run = None,
    data: Annotated[
        str | None,
        typer.Option("--data", metavar="SPEC", help="A corpus to read them from, as data.test is."),
    ] = None,
    as_json: Json = False,
    output: Output = None,
    device: Device = None,
    int8: Int8 = False,
) -> None:
    """Answer EXAMPLEs, or standard input line by line, by any run.

    An example is the value of the one input, the values of several in their order with a TAB between
    them, or a JSON object with a value for each, by the name of its field or of the column that the run
    was trained with. --json prints {input, answer, score, attention, rows, columns} for each: rows and
    columns name what attends and what is attended to. On a terminal the attention is drawn. Candidates
    of a question keep their order, and have a rank each. A blank line has a blank answer.

    Example: regard predict -m runs/tag "the cat sat on the mat"

    Example: regard predict -m runs/tag --data sentences.jsonl --json > answers.jsonl
    """
    if data is not None and examples:
        raise typer.BadParameter(t("give examples or --data, not both"))
    check_texts(examples or [], "predict")

    from regard.cli.ready_run import ready_run
    from regard.cli.streams import written_to
    from regard.tasks.text_doubts import unknown_tokens

    run = ready_run(model, device=device, int8=int8)
    drawn = bool(examples) and not (as_json or output) and sys.stdout.isatty()
    if data is not None:
        given: Iterator[list[Any]] = _corpus(data, run.task)
    else:
        lines = chunks(examples or ["-"], "predict")
        given = ([run.task.of_line(line) for line in chunk] for chunk in lines)
    if run.task.ranks:  # among all of them: none has its rank before the last is read
        given = iter([[example for chunk in given for example in chunk]])
    first, attention, batch = 1, as_json or drawn, run.task.batch_for(run.module)
    told = set[str]()
    with written_to(output) as out:
        for chunk in given:
            good, wrong = _answerable(chunk, run.task, first, arguments=bool(examples))
            if wrong is not None and examples:  # all are there: nothing need be computed before it
                raise wrong
            for answer in run.task.respond(run.module, good, attention=attention, batch=batch):
                whole = bool(examples) or answer.rank is not None
                written = run.task.line(answer) if whole else answer.line
                written = run.task.drawn(answer) if drawn else written
                out.write(f"{_json(answer) if as_json else written}\n")
            out.flush()
            asked = [example for example in good if example is not None]
            notes = run.task.input_doubts(asked, asked=True)
            notes += unknown_tokens(run.task, asked) if as_json or drawn else []
            for note in dict.fromkeys(note for note in notes if note not in told):
                print(t("note: {note}", note=note), file=sys.stderr)
            told.update(notes)
            if wrong is not None:  # what came before it is not lost
                raise wrong
            first += len(chunk)


def _corpus(spec: str, task: Task) -> Iterator[list[Any]]:
    """The examples of a corpus, whether or not it holds what is answered; None: a row that is none.

    The first line of a table is no example where it has the names that the run learnt its columns by.
    """
    from itertools import islice

    from regard.data.check.header_check import with_header
    from regard.data.examples import read_in_step
    from regard.data.problems import CorpusError, Problems
    from regard.data.spec import named_columns, parse

    problems, fields = Problems(), [task.fields[name] for name in task.inputs]
    learnt = named_columns(task.recipe.data.train, list(task.fields))
    columns = [learnt[name] for name in task.inputs if name in learnt]
    spec = with_header(spec, columns, task.inputs)
    try:
        parse(spec, list(task.inputs))
    except CorpusError as refusal:
        try:
            parse(spec, list(task.fields))
        except CorpusError:
            raise refusal from None
        fields = list(task.fields.values())
    examples = read_in_step(spec, fields, problems)
    while chunk := list(islice(examples, CHUNK)):
        yield list(chunk)
    if problems:
        told = t("without an answer, a blank line each: {problems}", problems=problems.report())
        print(told, file=sys.stderr)


def _answerable(
    chunk: list[Any], task: Task, first: int, *, arguments: bool
) -> tuple[list[dict[str, Any] | None], Unanswerable | None]:
    """The examples as the task takes them, up to the first that it cannot, and what is wrong with that.

    None: a blank line, or a row of a corpus that is no example; it has no answer, but it has a line.
    arguments: they were given as such, not as lines.
    """
    from regard.tasks.task_module import Unanswerable

    def place(number: int) -> str:
        if arguments:
            return t("argument {number}", number=number)
        return t("line {number}", number=number)

    good: list[dict[str, Any] | None] = []
    for number, example in enumerate(chunk, first):
        try:
            good += [None] if example is None else task.given([example], place=place(number))
        except Unanswerable as error:
            return good, error
    return good, None


def _json(answer: Answer) -> str:
    return json.dumps(answer.to_dict(), ensure_ascii=False)
