"""`regard predict`: examples in, answers out, whatever the run was trained for."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.options import Device, Int8, Json, Output, Run
from regard.cli.texts import CHUNK, check_texts, chunks
from regard.words import say, t

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
    of a question keep their order, and have a rank each. A blank line has a blank answer. One that
    cannot be answered is told, and has a blank line, or its error in JSON; the status is 2 at the end.

    Example: regard predict -m runs/tag "the cat sat on the mat"

    Example: regard predict -m runs/tag --data sentences.jsonl --json > answers.jsonl
    """
    if data is not None and examples:
        raise typer.BadParameter(t("give examples or --data, not both"))
    check_texts(examples or [], "predict")

    from regard.cli.error_lines import MISUSED
    from regard.cli.ready_run import ready_run
    from regard.cli.streams import written_to
    from regard.tasks.task_module import Unanswerable
    from regard.tasks.text_doubts import unknown_tokens

    run = ready_run(model, device=device, int8=int8)
    drawn = bool(examples) and not (as_json or output) and sys.stdout.isatty()
    if data is not None:
        given: Iterator[list[Any]] = _corpus(data, run.task)
    else:
        lines = chunks(examples or ["-"], "predict")
        given = _read(lines, run.task)
    if run.task.ranks:  # among all of them: none has its rank before the last is read
        given = iter([[example for chunk in given for example in chunk]])
    told = set[str]()
    work = _Work(run.task, run.module, attention=as_json or drawn, arguments=bool(examples))
    with written_to(output) as out:
        for chunk in given:
            for answer in work.answers(chunk):
                if isinstance(answer, Unanswerable):
                    out.write(f"{json.dumps({'error': str(answer)}) if as_json else ''}\n")
                    continue
                whole = bool(examples) or answer.rank is not None
                written = run.task.line(answer) if whole else answer.line
                written = run.task.drawn(answer) if drawn else written
                out.write(f"{_json(answer) if as_json else written}\n")
            out.flush()
            notes = run.task.input_doubts(work.asked, asked=True)
            notes += unknown_tokens(run.task, work.asked) if as_json or drawn else []
            for note in dict.fromkeys(note for note in notes if note not in told):
                print(t("note: {note}", note=note), file=sys.stderr)
            told.update(notes)
    if work.hints:
        raise typer.Exit(MISUSED)


def _read(lines: Iterator[list[str]], task: Task) -> Iterator[list[Any]]:
    """The examples of lines; of the first object that is taken for a text it is said, for it may be meant."""
    from regard.tasks.task_module import shortened

    told = False
    for chunk in lines:
        examples = [task.of_line(line) for line in chunk]
        for line, example in zip(chunk, examples, strict=True):
            if not told and example is line and _is_object(line):
                message = t(
                    "an object without {name} is answered as a text: {line}",
                    name=repr(task.inputs[0]),
                    line=shortened(line),
                )
                print(t("note: {note}", note=message), file=sys.stderr)
                told = True
        yield examples


def _is_object(line: str) -> bool:
    if not line.lstrip().startswith("{"):
        return False
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


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


class _Work:
    """Chunks of examples answered one after another; one that cannot be is told, and the others go on."""

    def __init__(self, task: Task, module: Any, *, attention: bool, arguments: bool) -> None:
        """arguments: the examples were given as such, not as lines."""
        self.task, self.module, self.attention, self.arguments = task, module, attention, arguments
        self.batch = task.batch_for(module)
        self.count = 0  # examples before the chunk
        self.hints: set[str] = set()  # that were given
        self.asked: list[dict[str, Any]] = []  # what was answered of the chunk

    def answers(self, chunk: list[Any]) -> list[Answer | Unanswerable]:
        """One for each; a blank one for a blank line, or for a row of a corpus that is no example."""
        from regard.tasks.task_module import Unanswerable

        given: list[dict[str, Any] | None] = []
        wrong: dict[int, Unanswerable] = {}
        for number, example in enumerate(chunk):
            try:
                place = self._place(number)
                given += [None] if example is None else self.task.given([example], place=place)
            except Unanswerable as error:
                given, wrong[number] = [*given, None], error
                self._tell(error)  # before anything is computed
        try:
            found = self._respond(given)
        except Unanswerable:  # which of them it was is not said
            alone = self._alone(given)
            for _, told in sorted(alone.items()):
                self._tell(told)
            wrong |= alone
            found = self._respond([None if n in wrong else one for n, one in enumerate(given)])
        self.asked = [one for n, one in enumerate(given) if one is not None and n not in wrong]
        self.count += len(chunk)
        return [wrong.get(number, answer) for number, answer in enumerate(found)]

    def _respond(self, given: list[dict[str, Any] | None]) -> list[Answer]:
        return self.task.respond(self.module, given, attention=self.attention, batch=self.batch)

    def _alone(self, given: list[dict[str, Any] | None]) -> dict[int, Unanswerable]:
        """What is wrong with each that cannot be answered by itself."""
        from regard.tasks.task_module import Unanswerable

        wrong = {}
        for number, one in enumerate(given):
            try:
                self._respond([one])
            except Unanswerable as error:
                wrong[number] = Unanswerable(f"{self._place(number)}: {error}", error.hint)
        return wrong

    def _place(self, number: int) -> str:
        """What an example of the chunk is called."""
        number += self.count + 1
        if self.arguments:
            return t("argument {number}", number=number)
        return t("line {number}", number=number)

    def _tell(self, error: Unanswerable) -> None:
        print(t("error: {message}", message=error), file=sys.stderr)
        if error.hint not in self.hints:
            print(t("hint: {hint}", hint=say(error.hint)), file=sys.stderr)
        self.hints.add(error.hint)


def _json(answer: Answer) -> str:
    return json.dumps(answer.to_dict(), ensure_ascii=False)
