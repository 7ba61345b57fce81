"""Joint models: translation judged by how probable every word is, given the source and the words before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from torch import nn

from regard.data.examples import Example
from regard.data.fields import Field
from regard.data.spec import Spec
from regard.measures import Likelihood
from regard.models.joint.joint_decoder import JointDecoder
from regard.recipe.mistakes import RecipeError
from regard.records.question import Question
from regard.records.record import AttentionRecord
from regard.tasks.evaluation import Measured, set_name
from regard.tasks.joint.affiliated_text import AffiliatedText
from regard.tasks.joint.joint_module import Joint
from regard.tasks.search_settings import search_settings
from regard.tasks.task import Tally, Validation
from regard.tasks.translate.translate_evaluation import TranslationEvaluation
from regard.tasks.translate.translate_loss import Translate
from regard.tasks.translate.translate_task import TranslateTask
from regard.words import t


@dataclass(frozen=True)
class JointEvaluation(TranslationEvaluation):
    """The scores of a run on one corpus."""

    @property
    def likelihood(self) -> Likelihood:
        return Likelihood.summed(self.counts[:3])


class JointTask(TranslateTask):
    """Perplexity is that of q, in which every word that could come has its own place in the source;
    `aligned_perplexity` that of p, which is told the place of the word that does come (see `JointDecoder`).
    """

    columns: ClassVar[tuple[str, ...]] = (*TranslateTask.columns, "aligned_perplexity")
    evaluation: ClassVar[type[Measured]] = JointEvaluation
    trained: ClassVar[type[Translate]] = Joint

    @property
    def aligned(self) -> bool:
        """Whether the model must be told which source word is translated next."""
        return bool(getattr(self.recipe.model, "aligned", False))

    def make_fields(self) -> Sequence[Field]:
        fields = super().make_fields()
        if not self.aligned:
            return fields
        if self.shared:
            raise RecipeError(
                t(
                    "an aligner learns of source words and target words, which tokenizer.shared "
                    "makes one"
                ),
                "tokenizer.shared=false",
            )
        given, longest = self.recipe.tokenizer.target.model_dump(), self.recipe.data.max_length
        common: dict[str, Any] = {**given, "max_length": longest, "bos": True}
        self.target = AffiliatedText("target", source=self.source, **common)
        return self.source, self.target

    def learn(self, spec: Spec) -> None:
        super().learn(spec)
        if isinstance(self.target, AffiliatedText):
            self.target.learn_pairs(list(self.read(spec)))

    # the model

    def for_training(self, model: nn.Module) -> Joint:
        module = cast(Joint, super().for_training(model))
        if isinstance(self.target, AffiliatedText):
            module.lexicon = self.target.lexicon
        return module

    def for_inference(self, model: nn.Module) -> Joint:
        return self.for_training(model)

    # how good it is

    def tally(self, module: Any, examples: Sequence[Example], *, beam: int | None = None) -> Tally:
        found = super().tally(module, examples, beam=beam)
        told = found.counts[0]
        if self.aligned:
            with module.inference():
                batches = self.batches(examples, module.device)
                told = sum(float(module.told_loss(**batch)) for _, batch in batches)
        return found._replace(counts=(*found.counts, told))

    def validation(self, found: Tally, examples: Sequence[Any]) -> Validation:
        *counts, told = found.counts
        known = super().validation(found._replace(counts=tuple(counts)), examples)
        _, tokens, correct = counts
        aligned = Likelihood.summed((told, tokens, correct)).perplexity
        return Validation(known.loss, {**known.measures, "aligned_perplexity": aligned})

    # what is said of it

    def verdict(self, name: str, one: Any) -> str:
        return t(
            "perplexity {value} on {count} {set} sentences",
            value=f"{one.likelihood.perplexity:.2f}",
            count=f"{len(one.examples):,}",
            set=set_name(name),
        )

    def facts(self, one: Any) -> dict[str, str]:
        told = one.measures["aligned_perplexity"]
        return {**super().facts(one), t("perplexity, told which word is translated"): f"{told:.2f}"}

    # what it looks at

    def look(self, module: Any, question: Question, *, model: str = "") -> AttentionRecord:
        if not isinstance(module.model.decoder, JointDecoder):
            return super().look(module, question, model=model)
        from regard.tasks.joint.joint_look import look_at_joint

        data, settings = self.recipe.data, search_settings(self.recipe)
        languages = (data.source, data.target)
        return look_at_joint(
            module, question, settings, model=model, languages=languages, longest=data.max_length
        )
