"""A masked language model: texts, and how often their hidden tokens are guessed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

from torch import nn

from regard.data.examples import Example
from regard.data.fields import Field, Text
from regard.data.tokenizer import MASK
from regard.measures import Likelihood, MeasuredScore
from regard.measures.likelihood_measures import Perplexity, TokenAccuracy, TokenLoss
from regard.records.question import Question
from regard.records.record import AttentionRecord
from regard.tasks.answer import Answer
from regard.tasks.evaluation import Evaluation, listed, on_set
from regard.tasks.judged_items import JudgedItems
from regard.tasks.masked.masked_module import Filling, Masked
from regard.tasks.masked.masked_options import MaskedOptions
from regard.tasks.report_part import NextStep, ReportPart
from regard.tasks.task import Extent, Tally, Task, Validation, last
from regard.view.samples import Sample, SampleNames
from regard.words import t

SAMPLES = 8  # texts shown, each with its middle token hidden


@dataclass(frozen=True)
class MaskedEvaluation(Evaluation):
    """How well a run guesses the hidden tokens of one corpus."""

    corpus: str
    examples: Sequence[Example]
    likelihood: Likelihood

    @property
    def text(self) -> str:
        found = self.likelihood
        return t(
            "accuracy {accuracy} %, loss {loss}, perplexity {perplexity}  ({hidden} hidden tokens in "
            "{count} texts of {corpus})",
            accuracy=f"{100 * found.accuracy:.2f}",
            loss=f"{found.loss:.4f}",
            perplexity=f"{found.perplexity:.2f}",
            hidden=f"{found.tokens:,}",
            count=f"{len(self.examples):,}",
            corpus=self.corpus,
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "corpus": self.corpus,
            "texts": len(self.examples),
            "hidden": self.likelihood.tokens,
            "loss": self.likelihood.loss,
            "perplexity": self.likelihood.perplexity,
            "accuracy": self.likelihood.accuracy,
        }


class MaskedTask(Task):
    columns: ClassVar = ("perplexity", "accuracy")
    inputs: ClassVar = ("text",)
    noun: ClassVar = "texts"
    kept_input: ClassVar = "standard-input.txt"
    command: ClassVar = "fill"
    verb: ClassVar = "fill gaps"

    text: Text

    @property
    def options(self) -> MaskedOptions:
        return cast(MaskedOptions, self.recipe.task)

    def make_fields(self) -> Sequence[Field]:
        given, longest = self.recipe.tokenizer.source, self.recipe.data.max_length
        common: dict[str, Any] = {"max_length": longest, "cut": True, "file": "tokenizer.json"}
        self.text = Text("text", **given.model_dump(), mask=True, **common)
        return (self.text,)

    def for_training(self, model: nn.Module) -> Masked:
        return Masked(
            model,
            self.text.tokenizer,
            rate=self.options.rate,
            label_smoothing=self.recipe.training.label_smoothing,
            max_length=self.recipe.data.max_length,
        )

    def predict(
        self,
        module: Masked,
        examples: Sequence[Mapping[str, Any]],
        *,
        attention: bool = False,
        batch: int,
    ) -> list[Answer]:
        """The texts filled in; a score is the mean probability of what stands in the gaps."""
        texts = [example["text"] for example in examples]
        return [_answer(found) for found in module.fill(texts, top=1, batch=batch)]

    # how good it is

    def judge(self, module: Masked, examples: Sequence[Example]) -> JudgedItems:
        likely = module.likelihoods(*_numbered(examples), batch=self.recipe.search.batch)
        measures = TokenLoss(), Perplexity(), TokenAccuracy()
        return JudgedItems([(one, one.counts(examples, likely)) for one in measures])

    def tally(self, module: Masked, examples: Sequence[Example]) -> Tally:
        found = self._likelihood(module, examples)
        return Tally((found.nll, found.tokens, found.correct))

    def validation(self, found: Tally, examples: Sequence[Example]) -> Validation:
        total = Likelihood.summed(found.counts)
        return Validation(total.loss, {"perplexity": total.perplexity, "accuracy": total.accuracy})

    def measures_line(self, found: Validation) -> str:
        of = found.measures
        return t(
            "perplexity {perplexity}, accuracy {accuracy} %",
            perplexity=f"{of['perplexity']:.2f}",
            accuracy=f"{100 * of['accuracy']:.2f}",
        )

    def evaluate(
        self, module: Masked, corpus: str, examples: Sequence[Example], *, beam: int | None = None
    ) -> MaskedEvaluation:
        return MaskedEvaluation(corpus, examples, self._likelihood(module, examples))

    def report(self, module: Masked, found: Mapping[str, Any], folder: Path) -> ReportPart:
        one = last(found)
        scores = [
            t(
                "{share} % of {count} hidden {set} tokens guessed",
                share=f"{100 * one.likelihood.accuracy:.1f}",
                count=f"{one.likelihood.tokens:,}",
                set=name,
            )
            for name, one in found.items()
        ]
        return ReportPart(
            verdict=listed(scores),
            scores=() if one is None else _scores(one.likelihood),
            facts={
                on_set(name, t("loss")): f"{one.likelihood.loss:.4f}" for name, one in found.items()
            },
            samples=() if one is None else _samples(module, one),
            sample_names=SampleNames(
                t("Filled in"), t("with a token hidden"), t("what it was"), t("the likeliest")
            ),
            next_steps=[
                NextStep(f'regard fill -m {folder} "… {MASK} …"', t("Fill in a text of your own.")),
                NextStep(
                    f"regard evaluate -m {folder} --data texts.txt", t("Score it on other texts.")
                ),
            ],
        )

    def _likelihood(self, module: Masked, examples: Sequence[Example]) -> Likelihood:
        return module.likelihood(*_numbered(examples), batch=self.recipe.search.batch)

    # what it looks at

    def look_extent(self, question: Question) -> Extent:
        return self.extent({"text": question.text})

    def look(self, module: Masked, question: Question, *, model: str = "") -> AttentionRecord:
        from regard.tasks.masked.masked_look import look_at_masked

        return look_at_masked(module, question, model=model, language=self.recipe.data.source)


def _numbered(examples: Sequence[Example]) -> tuple[list[str], list[int]]:
    """The texts, and the numbers that tell what is hidden in them."""
    return [each["text"] for each in examples], [each.line for each in examples]


def _answer(found: Filling) -> Answer:
    sure = [guesses[0].probability for guesses in found.guesses]
    return Answer(found.text, found.filled, sum(sure) / len(sure))


def _scores(found: Likelihood) -> tuple[MeasuredScore, MeasuredScore]:
    of = t(
        "{right} of {count} hidden tokens", right=f"{found.correct:,}", count=f"{found.tokens:,}"
    )
    return (
        MeasuredScore(t("Accuracy, %"), 100 * found.accuracy, of),
        MeasuredScore(t("Perplexity"), found.perplexity, t("of a hidden token")),
    )


def _samples(module: Masked, found: MaskedEvaluation) -> list[Sample]:
    """Texts from all over the corpus, one token of each hidden."""
    chosen = found.examples[:: max(1, len(found.examples) // SAMPLES)][:SAMPLES]
    texts = [example["text"] for example in chosen]
    places = [
        (text, *tokens.offsets[len(tokens) // 2])
        for text, tokens in zip(texts, module.tokenizer.encode_many(texts), strict=True)
        if 0 < len(tokens) < (module.max_length or len(tokens) + 1)
    ]
    answers = module.fill([f"{text[:start]}{MASK}{text[end:]}" for text, start, end in places])
    return [
        _sample(answer, text[start:end])
        for (text, start, end), answer in zip(places, answers, strict=True)
    ]


def _sample(answer: Filling, was: str) -> Sample:
    best = answer.guesses[0]
    return Sample(
        source=answer.text,
        hypothesis=best[0].token,
        reference=was,
        scores={f"p({guess.token})": guess.probability for guess in best},
    )
