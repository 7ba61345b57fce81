"""A masked language model: texts, and how often their hidden tokens are guessed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, cast

from torch import nn

from regard.data.examples import Example
from regard.data.fields import Field, Text
from regard.data.tokenizer import MASK
from regard.measures import Likelihood
from regard.records.question import Question
from regard.records.record import AttentionRecord
from regard.tasks.answer import Answer, Examples
from regard.tasks.attended_sides import SeenAttention, batch_weights
from regard.tasks.evaluation import Measured
from regard.tasks.likelihood_task import LikelihoodTask
from regard.tasks.masked.masked_module import Filling, Masked
from regard.tasks.masked.masked_options import MaskedOptions
from regard.tasks.report_part import NextStep
from regard.tasks.task import Extent
from regard.tasks.task_report import spread
from regard.view.samples import Sample, SampleNames
from regard.words import t

SAMPLES = 8  # texts shown, each with its middle token hidden


class MaskedTask(LikelihoodTask):
    inputs: ClassVar = ("text",)
    probable: ClassVar = True
    noun: ClassVar = "texts"
    scored: ClassVar = "hidden tokens"
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
        self, module: Masked, examples: Examples, *, attention: bool = False, batch: int
    ) -> list[Answer]:
        """The texts filled in; a score is the mean probability of what stands in the gaps.

        attention: what each gap looked at, in the last layer, a mean over its heads.
        """
        texts = [example["text"] for example in examples]
        if not attention:
            return [_answer(found) for found in module.fill(texts, top=1, batch=batch)]
        return [_looked(module, text) for text in texts]

    # how good it is

    def likelihoods(self, module: Masked, examples: Sequence[Example]) -> list[Likelihood]:
        texts, numbers = [each["text"] for each in examples], [each.line for each in examples]
        return module.likelihoods(texts, numbers, batch=self.batch_for(module))

    def samples(self, module: Masked, one: Measured) -> list[Sample]:
        """Texts from all over the corpus, the middle token of each hidden."""
        texts = [example["text"] for example in spread(one.examples, SAMPLES)]
        places = [
            (text, *tokens.offsets[len(tokens) // 2])
            for text, tokens in zip(texts, module.tokenizer.encode_many(texts), strict=True)
            if 0 < len(tokens) < (module.max_length or len(tokens) + 1)
        ]
        asked = [f"{text[:start]}{MASK}{text[end:]}" for text, start, end in places]
        return [
            _sample(answer, text[start:end])
            for (text, start, end), answer in zip(places, module.fill(asked), strict=True)
        ]

    def sample_names(self) -> SampleNames:
        hidden = t("with a token hidden")
        return SampleNames(t("Filled in"), hidden, t("what it was"), t("the likeliest"))

    def next_steps(self, folder: Path) -> list[NextStep]:
        first = f'regard fill -m {folder} "… {MASK} …"', t("Fill in a text of your own.")
        then = f"regard evaluate -m {folder} --data texts.txt", t("Score it on other texts.")
        return [NextStep(*first), NextStep(*then)]

    # what it looks at

    def look_extent(self, question: Question) -> Extent:
        return self.extent({"text": question.text})

    def look(self, module: Masked, question: Question, *, model: str = "") -> AttentionRecord:
        from regard.tasks.masked.masked_look import look_at_masked

        return look_at_masked(module, question, model=model, language=self.recipe.data.source)


def _looked(module: Masked, text: str) -> Answer:
    with SeenAttention.by(cast(nn.Module, module.model)) as seen:
        (found,) = module.fill([text], top=1)
    answer, positions = _answer(found), len(found.tokens) + 1
    every = [batch_weights(each)[0].mean(0) for each in seen.attended]  # over heads
    whole = [weights for weights in every if weights.shape == (positions, positions)]
    if not whole:
        return answer
    weights = whole[-1].float().cpu()
    gaps = [place for place, token in enumerate(found.tokens.ids) if token == module.mask_token]
    names = [guesses[0].token for guesses in found.guesses]
    columns = [*found.tokens.pieces, "EOS"]
    return replace(answer, attention=weights[gaps], rows=names, columns=columns)


def _answer(found: Filling) -> Answer:
    sure = [guesses[0].probability for guesses in found.guesses]
    return Answer(found.text, found.filled, sum(sure) / len(sure))


def _sample(answer: Filling, was: str) -> Sample:
    best = answer.guesses[0]
    return Sample(
        source=answer.text,
        hypothesis=best[0].token,
        reference=was,
        scores={f"p({guess.token})": guess.probability for guess in best},
        asked=answer.text,
    )
