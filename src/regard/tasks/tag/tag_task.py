"""Tagging: a label for every word, accuracy by word and by sentence, and what is taken for what."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import nn

from regard.data.batch import Batch
from regard.data.fields import Field, Labels
from regard.data.fields.words import Words
from regard.measures import Confusion
from regard.measures.accuracy import SentenceAccuracy, WordAccuracy
from regard.measures.measure import Measure
from regard.tasks.answer import Answer
from regard.tasks.confused_labels import LabelEvaluation, confusion_drawings
from regard.tasks.report_part import Drawing
from regard.tasks.tag.tag_module import Tag
from regard.tasks.task import Task
from regard.view.samples import SampleNames
from regard.view.terminal import heat_map
from regard.view.terminal_cells import words_over
from regard.words import t


@dataclass(frozen=True)
class TagEvaluation(LabelEvaluation):
    """How well a run tags one corpus: the labels are those of the words."""

    @property
    def confusion(self) -> Confusion:
        wanted = [tag for example in self.examples for tag in example["tags"]]
        return Confusion.of(wanted, [tag for answer in self.answers for tag in answer])

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "words": self.confusion.total}


class TagTask(Task):
    columns: ClassVar = ("accuracy", "sentence_accuracy")
    inputs: ClassVar = ("words",)
    noun: ClassVar = "sentences"
    scored: ClassVar = "words"
    learns: ClassVar = "words and labels"
    verb: ClassVar = "tag"
    evaluation: ClassVar = TagEvaluation

    words: Words
    tags: Labels

    def make_fields(self) -> Sequence[Field]:
        given, longest = self.recipe.tokenizer.source, self.recipe.data.max_length
        size, lowercase = given.size, given.lowercase
        self.words = Words("words", size=size, lowercase=lowercase, max_length=longest)
        self.tags = Labels("tags", of=self.words)
        return self.words, self.tags

    def for_training(self, model: nn.Module) -> Tag:
        return Tag(model, label_smoothing=self.recipe.training.label_smoothing)

    def answers(self, module: Tag, batch: Batch) -> Iterator[tuple[list[str], float]]:
        """A score is the log-probability of all labels of a sentence."""
        best, labels = module.log_probs(batch).max(-1)
        real = batch["words_mask"]
        sums = best.masked_fill(~real, 0.0).sum(-1).tolist()
        for numbers, length, score in zip(
            labels.tolist(), real.sum(-1).tolist(), sums, strict=True
        ):
            yield [self.tags.labels[number] for number in numbers[:length]], score

    def drawn(self, answer: Answer) -> str:
        """The words over their labels, how probable all of these are, and what they came from."""
        (words,) = self.words.tokens([answer.input])
        said = words_over(words.pieces, answer.parts)
        if answer.score is not None:
            said = f"{said}\n{t('all of them: {chance}', chance=f'{math.exp(answer.score):.4f}')}"
        if answer.attention is None or not answer.attention.numel():
            return said
        return f"{said}\n\n{heat_map(answer.attention, answer.rows, answer.columns)}"

    # how good it is

    def measured_by(self) -> Sequence[Measure]:
        return WordAccuracy(), SentenceAccuracy()

    def drawings(self, found: Mapping[str, Any]) -> Sequence[Drawing]:
        return confusion_drawings(found)

    def sample_names(self) -> SampleNames:
        return SampleNames(t("Sentences with a mistake"), t("words"), t("tags"), t("answer"))
