"""What labels and numbers have in common as tasks: what is read, and how it is looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from regard.data.fields import Document, Field, Numbers, Text
from regard.records.question import Question
from regard.records.record import AttentionRecord
from regard.records.token_words import word_spans
from regard.tasks.answer import Answer, Examples
from regard.tasks.classify.judge import Judge, Judgement, weighed_sentences
from regard.tasks.classify.judged_input import (
    InputField,
    given_value,
    input_field,
    positions_read,
)
from regard.tasks.task import Extent, Task
from regard.tasks.text_look import asked_example
from regard.view.shaded.level_lines import LevelLine
from regard.view.shaded.shaded_sentences import shaded_sentences
from regard.words import t


class OfDocuments:
    """What examples that are documents are called."""

    noun: ClassVar = "documents"
    scored: ClassVar = "documents"


class OfSequences:
    """What examples that are sequences of vectors are called."""

    noun: ClassVar = "sequences"
    scored: ClassVar = "sequences"


class JudgeTask(Task):
    """One answer to a whole input, which `task.input` chooses."""

    inputs: ClassVar = ("text",)
    noun: ClassVar = "texts"
    scored: ClassVar = "texts"
    verb: ClassVar = "classify"
    command: ClassVar = "classify"

    source: InputField  # what is read
    target: Field  # what is answered

    def make_fields(self) -> Sequence[Field]:
        self.source, self.target = input_field(self.recipe), self.make_target()
        self.inputs = (self.source.name,)  # type: ignore[misc]  # by the recipe, not by the class
        if isinstance(self.source, Document | Numbers):
            called = OfDocuments if isinstance(self.source, Document) else OfSequences
            self.noun, self.scored = called.noun, called.scored  # type: ignore[misc]
        return self.source, self.target

    def make_target(self) -> Field:
        raise NotImplementedError(
            t("{kind} does not say what it answers", kind=type(self).__name__)
        )

    @property
    def made_by(self) -> list[int | str | None]:
        limits = [getattr(self.source, name, None) for name in ("sentences", "words")]
        return [getattr(self.source, "max_length", None), *(n for n in limits if n is not None)]

    def look_extent(self, question: Question) -> Extent:
        return super().look_extent(question)._replace(explain=question.explain)

    def look(self, module: Judge, question: Question, *, model: str = "") -> AttentionRecord:
        from regard.tasks.classify.classify_look import look_at_judgement

        return look_at_judgement(
            module,
            question,
            model=model,
            language=self.recipe.data.source,
            read=lambda text: asked_example(self, text)[self.source.name],
        )

    def judgements(
        self,
        module: Judge,
        examples: Examples,
        said: Callable[[Judgement], tuple[Any, float | None]],
        *,
        attention: bool,
        batch: int,
    ) -> list[Answer]:
        """What is said of each, an answer and its score, with the words that it came from."""
        values = self.read_values(examples)
        found = module.judge(values, attention=attention, batch=batch)
        tokens = positions_read(self.source, values)
        end = ["EOS"] if isinstance(self.source, Text) else []
        answers = []
        for value, one, read in zip(values, found, tokens, strict=True):
            given = given_value(self.source, value)
            sentences = weighed_sentences(self.source, value, one)
            answer = Answer(given, *said(one), sentences=sentences)
            if one.weights is not None:
                text = given if isinstance(given, str) else ""  # the steps of a series are no words
                begins = [start for start, _, _ in sentences]
                answer = replace(
                    answer,
                    attention=one.weights[None],
                    rows=[answer.line],
                    columns=[*read.pieces, *end],
                    words=word_spans(text, read.pieces, read.offsets, begins) if text else (),
                    hops=module.hops,
                )
            answers.append(answer)
        return answers

    def drawn(self, answer: Answer) -> str:
        """The answer, its probability, and the words that it came from; of a document, by sentences."""
        if not answer.sentences or answer.attention is None:
            return super().drawn(answer)
        every = list(zip(answer.weighed_words(), answer.words, strict=True))
        lines = []
        for number, (start, end, weight) in enumerate(answer.sentences, 1):
            words = [pair for pair, (_, first, _) in every if start <= first < end]
            text = tuple(word for word, _ in words)
            weights = tuple(both / weight if weight else 0.0 for _, both in words)
            lines.append(LevelLine(number, weight, " ".join(text), text, weights))
        return f"{self.line(answer)}\n{shaded_sentences(lines)}"

    def read_values(self, examples: Sequence[Any]) -> list[Any]:
        """What is read of each example."""
        return [example[self.source.name] for example in examples]
