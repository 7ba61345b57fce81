"""What a pair is judged to be: one of some labels, a number, or how likely the right one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from regard.data.batch import Batch
from regard.data.fields import Label
from regard.data.fields.numbers import Numbers
from regard.data.problems import Problems
from regard.data.spec import Spec
from regard.measures.accuracy import Accuracy
from regard.measures.correlation import Pearson, Spearman
from regard.measures.macro_f1 import MacroF1
from regard.measures.measure import Measure
from regard.measures.ranks.candidate_ranks import MeanAveragePrecision, MeanReciprocalRank
from regard.recipe.mistakes import RecipeError
from regard.tasks.answer import Answer
from regard.tasks.confused_labels import LabelEvaluation, confusion_drawings
from regard.tasks.evaluation import Evaluation, Measured
from regard.tasks.match.match_module import Match
from regard.tasks.match.match_task import MatchTask
from regard.tasks.report_part import Drawing
from regard.words import t

SAME = 1e-6  # the same text twice: rows of a batch are rounded apart


class LabelPairs(MatchTask):
    """One of some labels, as entailment."""

    columns: ClassVar = ("accuracy", "macro_f1")
    evaluation: ClassVar = LabelEvaluation

    label: Label

    def make_judged(self) -> Label:
        self.label = Label("label")
        return self.label

    def answers(self, module: Match, batch: Batch) -> Iterator[tuple[str, float]]:
        """A score is the probability of the label."""
        for each in module.outputs(batch).double().cpu().softmax(-1):
            best = int(each.argmax())
            yield self.label.labels[best], float(each[best])

    def measured_by(self) -> Sequence[Measure]:
        return Accuracy(), MacroF1(self.label.labels)

    def error(self, wanted: str, answer: str) -> float:
        return float(wanted != answer)

    def drawings(self, found: Mapping[str, Any]) -> Sequence[Drawing]:
        return confusion_drawings(found)


class NumberPairs(MatchTask):
    """A number, as relatedness."""

    columns: ClassVar = ("pearson", "spearman")

    number: Numbers

    def make_judged(self) -> Numbers:
        self.number = Numbers("number", 1, standardise=True)
        return self.number

    def answers(self, module: Match, batch: Batch) -> Iterator[tuple[float, None]]:
        for number in self.number.original(module.outputs(batch).double().cpu())[:, 0].tolist():
            yield number, None

    def wanted(self, example: Any) -> float:
        return float(example["number"][0])

    def measured_by(self) -> Sequence[Measure]:
        return Pearson(), Spearman()

    def error(self, wanted: float, answer: float) -> float:
        return abs(wanted - answer)


@dataclass(frozen=True)
class RankEvaluation(Measured):
    """How high the right candidates stand. What is measured is a question, not a candidate."""

    questions: int = 0  # that have a right candidate: the others cannot be answered
    unanswerable: int = 0

    @property
    def measured_on(self) -> str:
        what = t.plural(
            self.questions,
            "{count} question with a right candidate, among {texts}",
            "{count} questions with a right candidate, among {texts}",
            count=f"{self.questions:,}",
            texts=super().measured_on,
        )
        if not self.unanswerable:
            return what
        return t("{what}; {n} without one are left out", what=what, n=f"{self.unanswerable:,}")

    def to_dict(self) -> dict[str, Any]:
        count = {"questions": self.questions, "questions_without_right": self.unanswerable}
        return {**super().to_dict(), **count}


@dataclass(frozen=True)
class LikelyAnswer(Answer):
    """The probability of being right."""

    @property
    def line(self) -> str:
        return f"{self.answer:.4f}"


class RankPairs(MatchTask):
    """How likely the second text is right for the first, which has several of them."""

    columns: ClassVar = ("map", "mrr")
    evaluation: ClassVar = RankEvaluation
    ranks: ClassVar = True
    form: ClassVar = LikelyAnswer

    label: Label

    def make_judged(self) -> Label:
        self.label = Label("label")
        return self.label

    def learn(self, spec: Spec) -> None:
        super().learn(spec)
        if self.options.right not in self.label:
            raise RecipeError(
                t(
                    "no candidate has the label {right}: there are {named}",
                    right=repr(self.options.right),
                    named=self.label.named,
                ),
                t("task.right is the label of the right ones"),
            )

    def examples(
        self, spec: Spec, problems: Problems | None = None, *, join: int | None = None
    ) -> list[Any]:
        found = super().examples(spec, problems, join=join)
        if found and not any(right for _, right in map(self.wanted, found)):
            raise RecipeError(
                t(
                    "{corpus}: no question has a right candidate, so nothing can be ranked",
                    corpus=found[0].corpus,
                ),
                t("task.right={right} is the label of the right ones", right=self.options.right),
            )
        return found

    def answers(self, module: Match, batch: Batch) -> Iterator[tuple[float, float]]:
        """The probability of being right is both, the answer and its score."""
        right = self.label.number(self.options.right)
        for each in module.outputs(batch).double().cpu().softmax(-1)[:, right].tolist():
            yield each, each

    def ranked(self, answers: Sequence[Answer]) -> list[Answer]:
        """Each among those of its question, wherever they stand; equals share the better rank."""
        rivals: dict[str, list[float]] = {}
        questions = [self.first.identity(one.input["first"]) for one in answers]
        for question, one in zip(questions, answers, strict=True):
            rivals.setdefault(question, []).append(one.answer)
        rising = {question: sorted(scores) for question, scores in rivals.items()}
        found = []
        for question, one in zip(questions, answers, strict=True):
            better = len(rising[question]) - bisect_right(rising[question], one.answer + SAME)
            found.append(replace(one, rank=1 + better))
        return found

    def line(self, answer: Answer) -> str:
        """With its rank instead of its probability, which it is itself."""
        return answer.line if answer.rank is None else f"{answer.line}\t{answer.rank}"

    def wanted(self, example: Any) -> tuple[str, bool]:
        """The question, and whether it is right."""
        return self.first.identity(example["first"]), example["label"] == self.options.right

    def measured_by(self) -> Sequence[Measure]:
        return MeanAveragePrecision(), MeanReciprocalRank()

    def evaluate(
        self, module: Match, corpus: str, examples: Sequence[Any], *, beam: int | None = None
    ) -> Evaluation:
        found = super().evaluate(module, corpus, examples, beam=beam)
        assert isinstance(found, RankEvaluation)
        wanted = [self.wanted(example) for example in examples]
        every, able = {q for q, _ in wanted}, {q for q, right in wanted if right}
        return replace(found, questions=len(able), unanswerable=len(every) - len(able))

    def error(self, wanted: tuple[str, bool], answer: float) -> float:
        return abs(float(wanted[1]) - answer)
