"""What a task is: its fields, and what a loss, an answer, a judgement and a look are.

The loop, the folder, the report, the server and the commands know no task by name: they ask for what is
here. A task has a recipe, makes its fields from it, and learns or loads what the fields know.
"""

from __future__ import annotations

import json
import time
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from torch import nn

from regard.data.batch import Batch, collate
from regard.data.fields import Field
from regard.data.spec import named_columns
from regard.explanations.model_readings import Reading
from regard.measures.measure import Measure
from regard.records.question import Question
from regard.records.record import AttentionRecord
from regard.tasks.answer import Answer, Examples, answers_in_place
from regard.tasks.attended_sides import SeenAttention
from regard.tasks.evaluation import Evaluation, Measured, measures_in_words
from regard.tasks.judged_items import ItemMean, JudgedItems
from regard.tasks.longest_first import batches_by_length, usual_batch
from regard.tasks.task_module import TaskModule, Unanswerable, accepted, shortened
from regard.tasks.task_report import TaskReport
from regard.tasks.text_look import asked_example, look_at_text, with_attention
from regard.view.shaded.shaded_words import shaded_words
from regard.view.terminal import heat_map
from regard.words import t

ENDS = ("BOS", "EOS")  # columns that are no words


class Tally(NamedTuple):
    """What was found on some examples, to be joined with what other processes found."""

    counts: tuple[float, ...]  # these are added up: the loss, how much was scored, and more
    answers: Sequence[Any] = ()  # in plain values, one for each example if there are any
    seconds: float = 0.0  # of answering
    each: Sequence[Any] = ()  # what is counted of each example beside its answer, of these alone


class Extent(NamedTuple):
    """An answer in numbers of positions, EOS among them, for an estimate of its work."""

    source: int
    target: int | None = 1  # None: it is searched for
    beam: int = 1
    explain: bool = False  # whether measures of explanation are wanted, and there are any
    weights: int | None = (
        None  # in the answer; None: of each target position to each source position
    )


@dataclass(frozen=True)
class Validation:
    loss: float  # nats per target token
    measures: Mapping[str, float]  # by the names of `Task.columns`

    def merit(self, metric: str, errors: Sequence[str] = ("loss",)) -> tuple[float, float]:
        """What the best is best in, larger is better; of equals that with the lower loss.

        errors: the metrics that are better when smaller.
        """
        value = self.loss if metric == "loss" else self.measures[metric]
        return -value if metric in ("loss", *errors) else value, -self.loss


class Task(TaskReport):
    """One for each kind of task, made for one recipe."""

    columns: ClassVar[tuple[str, ...]]  # measures of a validation, beside the loss
    diagnostics: ClassVar[tuple[str, ...]] = ()  # its other numbers, which measure no answers
    scored: ClassVar[str] = "tokens"  # what a loss is the mean of
    evaluation: ClassVar[type[Measured]] = Measured
    verb: ClassVar[str] = "answer"  # what such a run does
    learns: ClassVar[str] = "tokenizers"  # what the fields learn, in a word
    ranks: ClassVar[bool] = False  # whether answers compete: `ranked` then needs them all
    probable: ClassVar[bool] = False  # whether a score is the probability of the answer
    searches: ClassVar[bool] = False  # whether answers are searched for with a beam
    evaluated_with: ClassVar[tuple[str, ...]] = ()  # options of `evaluate` that mean something

    # the model

    @abstractmethod
    def for_training(self, model: nn.Module) -> TaskModule:
        """The module that gives the loss of a batch."""

    def for_inference(self, model: nn.Module) -> TaskModule:
        """The module that answers."""
        return self.for_training(model)

    def tune(self, module: Any, examples: Sequence[Any]) -> bool:
        """Choose by a dev set what no gradient reaches, once the weights are learnt; False: nothing is."""
        return False

    # what it answers

    def given(
        self, examples: Iterable[Any], *, files: bool = True, place: str = "example {}"
    ) -> list[dict[str, Any] | None]:
        """Examples to be answered, as `taken` gives them; None: a blank text, which asks nothing.

        One that names its fields is answered, also where its texts are empty.
        place: what an example is called in what is said of it; {} stands for its number.
        """
        return [
            None
            if isinstance(example, str) and not example.strip()
            else self.taken(example, place.format(number), files=files)
            for number, example in enumerate(examples, 1)
        ]

    def taken(
        self, example: Any, place: str = "the example", *, files: bool = True
    ) -> dict[str, Any]:
        """An example with the values that its fields make of what was given; `Unanswerable` says why none.

        files: whether values may be paths of files here; not those that come from elsewhere.
        """
        return {
            name: accepted(self.fields[name], value, place, files=files)
            for name, value in self.named(example, place).items()
        }

    def named(self, example: Any, place: str = "the example") -> dict[str, Any]:
        """The inputs of an example by the names of their fields: it is such a mapping, the bare value of the
        one input, or the values of several in their order, or in a line. place: what it is called in what is
        said of it.
        """
        values = example
        if isinstance(values, str) and len(self.inputs) > 1:
            values = self.of_line(values)
        if isinstance(values, tuple | list) and len(values) == len(self.inputs) > 1:
            values = dict(zip(self.inputs, values, strict=True))
        if not isinstance(values, Mapping):
            if len(self.inputs) > 1:
                cells = values.split("\t") if isinstance(values, str) else values
                count = len(cells) if isinstance(cells, tuple | list) else 1
                were = t("1 was given") if count == 1 else t("{count} were given", count=count)
                raise Unanswerable(
                    t(
                        "{place} is {values}: there are {count} inputs, and {were}",
                        place=place,
                        values=shortened(values),
                        count=len(self.inputs),
                        were=were,
                    ),
                    t(
                        "give them as '{any_example}' or, in one line, {inputs}",
                        any_example=self.any_example,
                        inputs=" TAB ".join(self.inputs),
                    ),
                )
            values = {self.inputs[0]: values}
        values = self.by_field(values)
        if missing := [name for name in self.inputs if name not in values]:
            there = ", ".join(map(str, values)) or "nothing"
            raise Unanswerable(
                t(
                    "{place} has no {missing}; it has {there}",
                    place=place,
                    missing=repr(missing[0]),
                    there=there,
                ),
                t(
                    "the inputs are {inputs}: '{any_example}'",
                    inputs=", ".join(self.inputs),
                    any_example=self.any_example,
                ),
            )
        return {name: values[name] for name in self.inputs}

    def by_field(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """A value whose field is not named may have the name of the column that the run learnt it from."""
        columns = named_columns(self.recipe.data.train, list(self.fields))
        named = {
            name: values[column]
            for name, column in columns.items()
            if name in self.inputs and name not in values and column in values
        }
        return {**values, **named} if named else values

    @property
    def any_example(self) -> str:
        """What is answered, in JSON, for a hint: so it is written in Python, and between ' in a shell."""
        cells = {name: self.fields[name].any_cell for name in self.inputs}
        return json.dumps(cells, ensure_ascii=False)

    def of_line(self, line: str) -> Any:
        """A JSON object is an example with a value for each input; else a line has their values in their
        order, with a TAB between them, or the value of the one input. Where that is a text, an object that
        has no such value is the text that it is written in.
        """
        if line.lstrip().startswith("{"):
            with suppress(ValueError, RecursionError):
                example = json.loads(line)
                if not self.is_mere_text(example):
                    return example
        cells = [line] if len(self.inputs) == 1 else line.split("\t")
        if not line.strip() or len(cells) != len(self.inputs):
            return line
        pairs = zip(self.inputs, cells, strict=True)
        values = {name: self.fields[name].of_line(cell) for name, cell in pairs}
        return values[self.inputs[0]] if len(values) == 1 else values

    def is_mere_text(self, found: Mapping[str, Any]) -> bool:
        """Whether an object that stands in a line is no example, but a text."""
        alone = len(self.inputs) == 1 and self.fields[self.inputs[0]].takes_any_line
        return alone and self.inputs[0] not in self.by_field(found)

    def bare(self, example: Mapping[str, Any]) -> Any:
        """The example as `Answer.input` has it."""
        values = {name: example[name] for name in self.inputs}
        return values[self.inputs[0]] if len(self.inputs) == 1 else values

    def answers(self, module: Any, batch: Batch) -> Iterable[tuple[Any, float | None]]:
        """The answer to each example of a batch of inputs, in plain values, and how sure it is.

        It is called under `module.inference()`. A task that searches, or that does not answer batch by batch,
        has a `predict` of its own instead.
        """
        raise NotImplementedError(t("{kind} answers nothing", kind=type(self).__name__))

    def respond(
        self,
        module: Any,
        given: Sequence[Mapping[str, Any] | None],
        *,
        attention: bool = False,
        batch: int,
    ) -> list[Answer]:
        """`reply` and `ranked`, of what `given` made: who asks nothing has a blank answer."""
        asked = [example for example in given if example is not None]
        found = self.reply(module, asked, attention=attention, batch=batch)
        return answers_in_place(given, self.ranked(found))

    def reply(
        self, module: Any, examples: Examples, *, attention: bool = False, batch: int
    ) -> list[Answer]:
        """`predict`, of examples that somebody asks about and not of a corpus."""
        return self.predict(module, examples, attention=attention, batch=batch)

    def predict(
        self, module: Any, examples: Examples, *, attention: bool = False, batch: int
    ) -> list[Answer]:
        """The answer to each example, in their order.

        attention: what it came from, over the tokens of a text: a pooling, or the last attention.
        """
        found: dict[int, Answer] = {}
        with module.inference():
            for rows, tensors in self.batches(examples, module.device, inputs=True, batch=batch):
                asked = [examples[row] for row in rows]
                with SeenAttention.by(module.model) if attention else nullcontext() as seen:
                    pairs = zip(asked, self.answers(module, tensors), strict=True)
                    answers = [Answer(self.bare(each), *answer) for each, answer in pairs]
                if seen is not None:
                    answers = with_attention(self, module, asked, answers, seen)
                found |= zip(rows, answers, strict=True)
        return [found[row] for row in range(len(examples))]

    def ranked(self, answers: Sequence[Answer]) -> list[Answer]:
        """Answers that were asked for together, each with its rank where they compete."""
        return list(answers)

    def drawn(self, answer: Answer) -> str:
        """An answer for a terminal: its line, and what it came from; its words shaded, if it looked once."""
        line = self.line(answer)
        if answer.attention is None or not answer.attention.numel():
            return line
        if len(answer.attention) > 1:
            return f"{line}\n\n{heat_map(answer.attention, answer.rows, answer.columns)}"
        words = answer.weighed_words()
        if not answer.words:
            pairs = zip(answer.columns, answer.attention[0].tolist(), strict=True)
            words = [pair for pair in pairs if pair[0] not in ENDS]
        shaded = shaded_words([word for word, _ in words], [w for _, w in words])
        if answer.hops == 1:
            return f"{line}\n{shaded}"
        said = t("the mean of {n} hops; regard look --terminal shows each", n=answer.hops)
        return f"{line}\n{shaded}\n({said})"

    def line(self, answer: Answer) -> str:
        """An answer in one line, with its probability if it has one."""
        chance = self.probability(answer)
        return answer.line if chance is None else f"{answer.line}\t{chance:.4f}"

    def probability(self, answer: Answer) -> float | None:
        """Of the answer; None where its score does not say."""
        return answer.score if self.probable else None

    def extent(self, example: Mapping[str, Any]) -> Extent:
        """How large the answer to an example is, before it is made."""
        return Extent(1 + sum(self.fields[name].extent(example) for name in self.inputs))

    def warm(self, module: Any) -> None:
        """Compile now what the first long example would otherwise wait for."""

    # how good it is

    def batches(
        self,
        examples: Examples,
        device: torch.device,
        *,
        inputs: bool = False,
        batch: int | None = None,
    ) -> Iterator[tuple[list[int], Batch]]:
        """The examples in batches, those of like lengths together: their numbers, and their tensors.

        inputs: of the input fields alone, for answers; batch: how many at most.
        """
        fields = [self.fields[name] for name in (self.inputs if inputs else self.fields)]
        columns = {field.name: field.encode(examples) for field in fields}
        lengths = [
            sum(len(part) for field in fields for part in columns[field.name][i])
            for i in range(len(examples))
        ]
        for rows in batches_by_length(lengths, batch or self._batch(device)):
            parts = [{name: column[i] for name, column in columns.items()} for i in rows]
            yield rows, collate(fields, parts, rows).to(device)

    def batch_for(self, module: Any) -> int:
        """How many examples are answered side by side: as the recipe says, or as the device likes it."""
        return self._batch(getattr(module, "device", torch.device("cpu")))

    def _batch(self, device: torch.device) -> int:
        return self.recipe.search.batch or usual_batch(device)

    def count_scored(self, examples: Examples) -> int:
        """About how much is scored of these: the tokens and labels that are answered, or the examples."""
        answered = [f for name, f in self.fields.items() if name not in self.inputs]
        return max(_positions(field, examples) for field in answered or self.fields.values())

    def measured_by(self) -> Sequence[Measure]:
        """The measures of `columns`; of a task with a `measure` of its own, means of what it finds."""
        errors = self.recipe.task.errors
        return [ItemMean(name, error=name in errors) for name in self.columns]

    @property
    def shares(self) -> Set[str]:
        """The measures that go from 0 to 1, and are shown in per cent."""
        return {one.name for one in self.measured_by() if one.share}

    def measure(self, answers: Sequence[Any], examples: Sequence[Any]) -> dict[str, float]:
        """The measures by the names of `columns`, from the answers to all of the examples."""
        if type(self).measured_by is Task.measured_by:
            raise NotImplementedError(t("{kind} measures nothing", kind=type(self).__name__))
        wanted = [self.wanted(example) for example in examples]
        return {one.name: one.of(wanted, answers) for one in self.measured_by()}

    def judge(self, module: Any, examples: Sequence[Any]) -> JudgedItems:
        """The answer to every example, and what is counted of each: the measures of any choice of them.

        Of a task that has a `measure` but no `measured_by` it is the measure of each answer by itself.
        """
        found = self.predict(module, examples, batch=self.batch_for(module))
        return self.judged_items(Tally((), [one.answer for one in found]), examples)

    def judged_items(self, found: Tally, examples: Sequence[Any]) -> JudgedItems:
        """What is counted of every example, from what was found on all of them."""
        answers, measures = found.answers, self.measured_by()
        if type(self).measured_by is not Task.measured_by:
            wanted = [self.wanted(example) for example in examples]
            return JudgedItems([(one, one.counts(wanted, answers)) for one in measures], answers)
        pairs = zip(answers, examples, strict=True)
        alone = [self.measure([answer], [example]) for answer, example in pairs]
        each = [(one, one.counts(alone, [found[one.name] for found in alone])) for one in measures]
        return JudgedItems(each, answers)

    def tally(self, module: Any, examples: Sequence[Any], *, beam: int | None = None) -> Tally:
        """What is found on some of the examples. beam: for a task that searches."""
        total, scored = 0.0, 0.0
        with module.inference():
            for _, batch in self.batches(examples, module.device):
                loss = module(**batch)
                total, scored = total + float(loss.total), scored + float(loss.tokens)
        start = time.monotonic()
        found = self.predict(module, examples, batch=self.batch_for(module))
        answers = [one.answer for one in found]
        return Tally((total, scored), answers, time.monotonic() - start)

    def validation(self, found: Tally, examples: Sequence[Any]) -> Validation:
        """The measures, from what was found on all of the examples."""
        total, scored = found.counts
        return Validation(total / max(scored, 1), self.measure(found.answers, examples))

    def measures_line(self, found: Validation) -> str:
        """The measures in a line of the log."""
        return measures_in_words(found.measures, self.shares)

    def evaluate(
        self, module: Any, corpus: str, examples: Sequence[Any], *, beam: int | None = None
    ) -> Evaluation:
        """All there is to know about a run on these examples. beam: that of the recipe if not given."""
        beam = beam or self.recipe.search.beam
        tally = self.tally(module, examples, beam=beam)
        found = self.validation(tally, examples)
        return self.evaluation(
            task=self,
            corpus=corpus,
            examples=examples,
            answers=tally.answers,
            counts=tally.counts,
            loss=found.loss,
            measures=found.measures,
            seconds=tally.seconds,
            items=self.judged_items(tally, examples),
            beam=beam if self.searches else None,
        )

    # what it looks at

    def readings(self, module: Any, examples: Sequence[Any]) -> Iterator[Reading | None]:
        """Each example as the model reads it, in a form that measures of explanation can ask; None: there is
        nothing to explain. Called, and gone through, under `module.inference()`.
        """
        raise Unanswerable(
            t("answers of task.kind={kind} are not explained", kind=self.recipe.task.kind),
            t("translations, summaries, labels of texts and language models are"),
        )

    def look(self, module: Any, question: Question, *, model: str = "") -> AttentionRecord:
        """What the model attends to when it is asked this: every attention over the tokens of the text."""
        return look_at_text(self, module, question, model=model)

    def look_extent(self, question: Question) -> Extent:
        """How large a look is, before it is made."""
        return self.extent(asked_example(self, question.text))


def _positions(field: Field, examples: Examples) -> int:
    """Tokens or labels of all values; one for each value that has neither."""
    parts = field.encode(examples)
    counts = {name: np.array([len(p[i]) for p in parts]) for i, name in enumerate(field.parts)}
    if (lengths := field.length(counts)) is not None:
        return int(lengths.sum())
    return sum(max(len(field.counted(example[field.name])), 1) for example in examples)
