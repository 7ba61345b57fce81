"""Reading: stories, questions and their answers, chosen from candidates or found in the story."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

from torch import nn

from regard.data.batch import Batch
from regard.data.fields import (
    Alternatives,
    Field,
    MarkedChoice,
    MarkedText,
    Span,
    Stretch,
)
from regard.data.spec import Spec
from regard.measures.accuracy import Accuracy
from regard.measures.exact_match import ExactMatch
from regard.measures.measure import Measure
from regard.measures.span_f1 import SpanF1
from regard.records.question import Question
from regard.records.record import AttentionRecord
from regard.records.token_words import word_spans
from regard.tasks.answer import Answer, Examples
from regard.tasks.read.read_look import SeenReading, look_at_reading
from regard.tasks.read.read_module import Choose, PointOut
from regard.tasks.read.read_options import ReadOptions
from regard.tasks.task import Task
from regard.view.samples import SampleNames
from regard.words import t


class FoundAnswer(NamedTuple):
    """An answer, its probability, and the characters of the story that it is, if it is some of them."""

    answer: str | None
    probability: float | None
    stretch: tuple[int, int] | None = None


class ReadTask(Task):
    """What the two ways to answer have in common. A score is the probability of the answer."""

    noun: ClassVar = "questions"
    scored: ClassVar = "answers"
    verb: ClassVar = "answer"
    learns: ClassVar = "words"
    probable: ClassVar = True

    story: MarkedText
    question: MarkedText

    def make_fields(self) -> Sequence[Field]:
        given, options = self.recipe.tokenizer.source, self.options
        cut: dict[str, Any] = {
            "kind": given.kind,
            "size": given.size,
            "lowercase": given.lowercase,
            "marks": False,
        }
        longest: dict[str, Any] = {"max_length": self.recipe.data.max_length, "cut": True}
        markers = options.markers if options.answers == "choice" else 0
        self.story = MarkedText("story", markers=markers, file="tokenizer.json", **cut, **longest)
        self.question = MarkedText("question", markers=markers, like=self.story, **longest)
        return self.story, self.question

    @property
    def options(self) -> ReadOptions:
        assert isinstance(self.recipe.task, ReadOptions)
        return self.recipe.task

    def learn(self, spec: Spec) -> None:
        """One vocabulary for all texts."""
        self.story.learn(text for example in self.read(spec) for text in self.texts(example))

    @abstractmethod
    def texts(self, example: Mapping[str, Any]) -> Iterator[str]:
        """What words are learnt from."""

    @abstractmethod
    def found(
        self, module: Any, batch: Batch, examples: Sequence[Mapping[str, Any]]
    ) -> Iterator[FoundAnswer]:
        """The answer to each example of a batch; None where there can be none."""

    def predict(
        self, module: Any, examples: Examples, *, attention: bool = False, batch: int
    ) -> list[Answer]:
        """attention: where in the story the reader looked, for each word of the question or for all of it."""
        answers: dict[int, Answer] = {}
        with module.inference():
            for rows, tensors in self.batches(examples, module.device, inputs=True, batch=batch):
                asked = [examples[row] for row in rows]
                with SeenReading.by(module.model) if attention else nullcontext() as seen:
                    found = list(self.found(module, tensors, asked))
                for place, (row, (answer, probability, stretch)) in enumerate(
                    zip(rows, found, strict=True)
                ):
                    given = self.bare(examples[row])
                    one = Answer(given, answer, probability, stretch=stretch)
                    answers[row] = (
                        one if seen is None else self._with_focus(one, seen, place, asked)
                    )
        return [answers[row] for row in range(len(examples))]

    def _with_focus(
        self, answer: Answer, seen: SeenReading, place: int, asked: Sequence[Mapping[str, Any]]
    ) -> Answer:
        longest = max(len(each) for each in self.question.marked(asked)) + 1
        weights = seen.focus(place, longest)
        if weights is None:
            return answer
        (read,) = self.story.marked([asked[place]])
        columns = [*read.pieces, "EOS"]
        words = word_spans(self.story.joined(asked[place]["story"]), read.pieces, read.offsets)
        rows = [*self.question.marked([asked[place]])[0].pieces, "EOS"]
        names = rows if seen.per_word else [answer.line]
        weights = weights[: len(names), : len(columns)]
        return replace(answer, attention=weights, rows=names, columns=columns, words=words)

    def sample_names(self) -> SampleNames:
        title = t("Questions with a wrong answer")
        return SampleNames(title, t("story and question"), t("wanted"), t("answer"))

    def bare(self, example: Mapping[str, Any]) -> Any:
        return {name: _plain(example[name]) for name in self.inputs}

    # what it looks at

    def look(self, module: Any, question: Question, *, model: str = "") -> AttentionRecord:
        return look_at_reading(self, module, question, model=model)


class ChoiceTask(ReadTask):
    """The answer is one of the candidates."""

    columns: ClassVar = ("accuracy",)
    inputs: ClassVar = ("story", "question", "candidates")
    otherwise: ClassVar = (
        "answers that are words of the story need task.answers=span, "
        "as the recipe reader-span has; else "
    )

    candidates: MarkedChoice

    def make_fields(self) -> Sequence[Field]:
        texts = super().make_fields()
        self.candidates = MarkedChoice("candidates", markers=self.story.markers, like=self.story)
        return *texts, self.candidates

    def texts(self, example: Mapping[str, Any]) -> Iterator[str]:
        yield from (example["story"], example["question"], *example["candidates"].texts)

    def count_scored(self, examples: Examples) -> int:
        return len(examples)

    def for_training(self, model: nn.Module) -> Choose:
        return Choose(
            model,
            words=len(self.story.tokenizer),
            markers=self.story.markers,
            label_smoothing=self.recipe.training.label_smoothing,
        )

    def found(
        self, module: Choose, batch: Batch, examples: Sequence[Mapping[str, Any]]
    ) -> Iterator[FoundAnswer]:
        best, numbers = module.log_probs(batch).max(-1)
        for example, number, score in zip(examples, numbers.tolist(), best.tolist(), strict=True):
            yield FoundAnswer(example["candidates"].texts[number], math.exp(score))

    def wanted(self, example: Any) -> str:
        value: Alternatives = example["candidates"]
        assert value.answer is not None
        return value.texts[value.answer]

    def measured_by(self) -> Sequence[Measure]:
        return (Accuracy(),)


class SpanTask(ReadTask):
    """The answer is some words of the story."""

    columns: ClassVar = ("f1", "exact_match")
    inputs: ClassVar = ("story", "question")

    answer: Span

    def make_fields(self) -> Sequence[Field]:
        texts = super().make_fields()
        self.answer = Span("answer", of=self.story)
        return *texts, self.answer

    def texts(self, example: Mapping[str, Any]) -> Iterator[str]:
        yield from (example["story"], example["question"])

    def for_training(self, model: nn.Module) -> PointOut:
        return PointOut(model)

    def found(
        self, module: PointOut, batch: Batch, examples: Sequence[Mapping[str, Any]]
    ) -> Iterator[FoundAnswer]:
        """A story without words has no span: no answer, and no probability of one."""
        places = module.places(batch, self.options.longest)
        read = self.story.marked(examples)
        for example, tokens, first, last, score in zip(
            examples, read, *(each.tolist() for each in places), strict=True
        ):
            inside = tokens.offsets[first : last + 1]
            whole = self.story.joined(example["story"])
            if inside:
                start, end = inside[0][0], inside[-1][1]
                yield FoundAnswer(whole[start:end], math.exp(score), (start, end))
            else:
                yield FoundAnswer(None, None)

    def wanted(self, example: Any) -> list[str]:
        value: Stretch = example["answer"]
        return [value.text, *value.others]

    def wrong(self, one: Any) -> Iterator[tuple[Any, Any]]:
        match = ExactMatch(self.recipe.data.source)
        pairs = zip(one.examples, one.answers, strict=True)
        return ((e, answer) for e, answer in pairs if not match.score(self.wanted(e), answer))

    def measured_by(self) -> Sequence[Measure]:
        language = self.recipe.data.source
        return SpanF1(language), ExactMatch(language)


def _plain(value: Any) -> Any:
    """A value for JSON."""
    return list(value.texts) if isinstance(value, Alternatives) else value
