"""Judging two texts: what all judgements have in common. pair_answers.py has the three kinds of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from torch import nn

from regard.data.fields import Field, Text
from regard.data.spec import Spec
from regard.records.question import Question
from regard.records.record import AttentionRecord
from regard.tasks.answer import Answer, Examples
from regard.tasks.attended_sides import SeenAttention
from regard.tasks.evaluation import Measured
from regard.tasks.match.match_look import look_at_pair, with_pair_attention
from regard.tasks.match.match_module import Match
from regard.tasks.match.match_options import MatchOptions
from regard.tasks.task import Task
from regard.tasks.task_report import SAMPLES
from regard.view.samples import Sample, SampleNames
from regard.words import t


class MatchTask(Task):
    inputs: ClassVar = ("first", "second")
    apart: ClassVar = ("second",)
    noun: ClassVar = "pairs"
    scored: ClassVar = "pairs"
    learns: ClassVar = "tokenizer"
    verb: ClassVar = "match"
    probable: ClassVar = True
    form: ClassVar[type[Answer]] = Answer

    first: Text
    second: Text

    @property
    def options(self) -> MatchOptions:
        assert isinstance(self.recipe.task, MatchOptions)
        return self.recipe.task

    @abstractmethod
    def make_judged(self) -> Field:
        """The column that is answered."""

    @abstractmethod
    def error(self, wanted: Any, answer: Any) -> float:
        """How far an answer is from what was wanted; 0: it is right."""

    def make_fields(self) -> Sequence[Field]:
        given = self.recipe.tokenizer.source
        longest = self.recipe.data.max_length
        self.first = Text(
            "first",
            kind=given.kind,
            size=given.size,
            lowercase=given.lowercase,
            marks=False,
            file="tokenizer.json",
            eos=False,
            max_length=longest,
            cut=True,
        )
        self.second = Text("second", like=self.first, eos=False, max_length=longest, cut=True)
        return self.first, self.second, self.make_judged()

    @property
    def judged(self) -> Field:
        return list(self.fields.values())[-1]

    def learn(self, spec: Spec) -> None:
        """One tokenizer, of both texts."""
        self.first.learn(one[name] for one in self.read(spec) for name in self.inputs)
        self.judged.learn(one[self.judged.name] for one in self.read(spec))

    def for_training(self, model: nn.Module) -> Match:
        return Match(model, label_smoothing=self.recipe.training.label_smoothing)

    # what it answers

    def predict(
        self, module: Match, examples: Examples, *, attention: bool = False, batch: int
    ) -> list[Answer]:
        """attention: between the words of the texts, or of a pooling the weights of both texts' words."""
        if not attention:
            found = super().predict(module, examples, batch=batch)
            return [self.form(one.input, one.answer, one.score) for one in found]
        return [self._with_attention(module, example) for example in examples]

    def _with_attention(self, module: Match, example: Mapping[str, Any]) -> Answer:
        """One by one, so that no map has padding in it."""
        with module.inference(), SeenAttention.by(module.model) as seen:
            ((_, tensors),) = self.batches([example], module.device, inputs=True, batch=1)
            ((answer, score),) = self.answers(module, tensors)
        plain = self.form(self.bare(example), answer, score)
        (first,) = self.first.tokens([example["first"]])
        (second,) = self.second.tokens([example["second"]])
        return with_pair_attention(plain, seen, first.pieces, second.pieces)

    # how good it is

    def samples(self, module: Match, one: Measured) -> list[Sample]:
        """The pairs that are furthest from what was wanted."""
        pairs = zip(one.examples, one.answers, strict=True)
        off = [(self.error(self.wanted(e), a), n) for n, (e, a) in enumerate(pairs)]
        worst = sorted((pair for pair in off if pair[0] > 0), key=lambda pair: -pair[0])
        return [self.sample_of(one.examples[n], one.answers[n]) for _, n in worst[:SAMPLES]]

    def sample_names(self) -> SampleNames:
        return SampleNames(t("Pairs that are judged wrong"), t("pair"), t("wanted"), t("answer"))

    def _sample(self, example: Any, answer: Any) -> Sample:
        shown = " ⟷ ".join(self.fields[name].show(example[name]) for name in self.inputs)
        wanted = self.judged.show(example[self.judged.name])
        return Sample(shown, self.form(None, answer).line, wanted)

    # what it looks at

    def look(self, module: Match, question: Question, *, model: str = "") -> AttentionRecord:
        return look_at_pair(self, module, question, model=model)
