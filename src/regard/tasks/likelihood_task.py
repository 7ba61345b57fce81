"""A task that tells tokens: perplexity and accuracy, from sums over all of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from regard.measures.likelihood import Likelihood
from regard.measures.likelihood_measures import Perplexity, TokenAccuracy, TokenLoss
from regard.measures.measure import Counts, Measure
from regard.tasks.asked_line import asked_line, text_of
from regard.tasks.evaluation import Measured
from regard.tasks.judged_items import JudgedItems, item_scores, worst_first
from regard.tasks.task import Tally, Task, Validation
from regard.tasks.task_report import SAMPLES
from regard.view.samples import Sample, SampleNames, shortened_text
from regard.words import say, say_plural, t


@dataclass(frozen=True)
class LikelihoodEvaluation(Measured):
    """How probable a run finds one corpus."""

    @property
    def likelihood(self) -> Likelihood:
        return Likelihood.summed(self.counts)

    @property
    def measured_on(self) -> str:
        tokens = t(
            "{count} {scored}", count=f"{self.likelihood.tokens:,}", scored=say(self.task.scored)
        )
        return t("{tokens} in {texts}", tokens=tokens, texts=super().measured_on)

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "tokens": self.likelihood.tokens}


class LikelihoodTask(Task):
    """Its counts are those of a `Likelihood`, which `likely` measure."""

    columns: ClassVar[tuple[str, ...]] = ("perplexity", "accuracy")
    evaluation: ClassVar[type[Measured]] = LikelihoodEvaluation
    likely: ClassVar[tuple[Measure, ...]] = (TokenLoss(), Perplexity(), TokenAccuracy())

    @abstractmethod
    def likelihoods(self, module: Any, examples: Sequence[Any]) -> list[Likelihood]:
        """How probable the model finds what is to be told of each of these examples."""

    def measured_by(self) -> Sequence[Measure]:
        """The measures of answers, where there are any, beside those of likelihoods."""
        return ()

    @property
    def shares(self) -> Set[str]:
        return super().shares | {one.name for one in self.likely if one.share}

    def judge(self, module: Any, examples: Sequence[Any]) -> JudgedItems:
        judged = super().judge(module, examples) if self.measured_by() else JudgedItems(())
        found = self.likelihoods(module, examples)
        return replace(judged, counts=[*judged.counts, *self._counted(found, examples)])

    def judged_items(self, found: Tally, examples: Sequence[Any]) -> JudgedItems:
        judged = super().judged_items(found, examples) if self.measured_by() else JudgedItems(())
        if len(found.each) != len(examples):
            return judged
        return replace(judged, counts=[*judged.counts, *self._counted(found.each, examples)])

    def _counted(
        self, found: Sequence[Likelihood], examples: Sequence[Any]
    ) -> list[tuple[Measure, Counts]]:
        wanted = [self.wanted(example) for example in examples]
        return [(one, one.counts(wanted, found)) for one in self.likely]

    def worst(self, module: Any, one: Any) -> Sequence[Sample]:
        """What the model finds least probable, where nothing is answered."""
        known = item_scores(one.items, ["loss"])
        if self.measured_by() or known is None:
            return ()
        losses = known[1]
        return [
            Sample(
                shortened_text(text_of(self, one.examples[row])),
                "",
                scores={t("loss"): float(losses[row])},
                asked=asked_line(self, one.examples[row]),
            )
            for row in worst_first(one.items, ["loss"])[:SAMPLES]
        ]

    def worst_names(self) -> SampleNames:
        if self.measured_by():
            return super().worst_names()
        title = t("What it finds least probable")
        return SampleNames(title, say_plural(1, self.noun[:-1], self.noun), "", "")

    def tally(self, module: Any, examples: Sequence[Any], *, beam: int | None = None) -> Tally:
        each = self.likelihoods(module, examples)
        found = sum(each, Likelihood())
        return Tally((found.nll, found.tokens, found.correct), each=each)

    def validation(self, found: Tally, examples: Sequence[Any]) -> Validation:
        total = Likelihood.summed(found.counts)
        tokens = {"perplexity": total.perplexity, "accuracy": total.accuracy}
        return Validation(total.loss, {**tokens, **self.measure(found.answers, examples)})
