"""What labels and numbers have in common as tasks: what is read, and how it is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from regard.data.fields import Document, Field, Numbers
from regard.records.question import Question
from regard.records.record import AttentionRecord
from regard.tasks.classify.judge import Judge
from regard.tasks.classify.judged_input import InputField, input_field
from regard.tasks.task import Extent, Task


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
        raise NotImplementedError(f"{type(self).__name__} does not say what it answers")

    @property
    def made_by(self) -> list[int | str | None]:
        limits = [getattr(self.source, name, None) for name in ("sentences", "words")]
        return [getattr(self.source, "max_length", None), *(n for n in limits if n is not None)]

    def look_extent(self, question: Question) -> Extent:
        return super().look_extent(question)._replace(explain=question.explain)

    def look(self, module: Judge, question: Question, *, model: str = "") -> AttentionRecord:
        from regard.tasks.classify.classify_look import look_at_judgement

        return look_at_judgement(module, question, model=model, language=self.recipe.data.source)

    def read_values(self, examples: Sequence[Any]) -> list[Any]:
        """What is read of each example."""
        return [example[self.source.name] for example in examples]
