"""Translation: pairs of sentences, BLEU, chrF and perplexity."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, cast

from torch import nn

from regard.attention.normalizers import Reinforce
from regard.data.check.column_check import ExamplesSummary
from regard.data.check.pair_check import CorpusSummary
from regard.data.check.pair_check import check as check_pairs
from regard.data.examples import Example, read_examples
from regard.data.fields import Field, Text
from regard.data.problems import Problems
from regard.data.spec import Spec
from regard.data.tokenizer import SPECIALS, Tokenizer
from regard.explanations.model_readings import Reading
from regard.layers.contracts import Translator
from regard.measures import Likelihood, MeasuredScore
from regard.measures.measure import Measure
from regard.measures.translation_measures import CorpusBleu, CorpusChrf
from regard.measures.verse_form import VerseForm
from regard.recipe.recipe import Recipe
from regard.records.question import Question
from regard.records.record import AttentionRecord
from regard.search import Search
from regard.tasks.answer import Answer, Examples
from regard.tasks.asked_line import asked_line
from regard.tasks.evaluation import Measured, measure_name, set_name, with_beam
from regard.tasks.judged_items import item_scores, worst_first
from regard.tasks.likelihood_task import LikelihoodEvaluation, LikelihoodTask
from regard.tasks.prediction import Prediction
from regard.tasks.report_part import Drawing, NextStep
from regard.tasks.search_settings import search_settings
from regard.tasks.task import Extent, Tally
from regard.tasks.task_module import Unanswerable
from regard.tasks.task_report import spread
from regard.tasks.translate.text_translator import TextTranslator
from regard.tasks.translate.translate_evaluation import TranslationEvaluation, bleu_tokenizer
from regard.tasks.translate.translate_loss import Translate
from regard.view.charts.length_chart import length_section
from regard.view.samples import Sample, SampleNames
from regard.words import t

SAMPLES = 8  # sentences shown with their attention
LONG = 100  # tokens: kernels of long texts are used from here on
LONGEST = 30  # tokens of such a sentence: what still fits a page


class TranslateTask(LikelihoodTask):
    columns: ClassVar[tuple[str, ...]] = ("perplexity", "accuracy", "bleu", "chrf")
    inputs: ClassVar = ("source",)
    apart: ClassVar = ("target",)
    noun: ClassVar = "pairs"
    command: ClassVar = "translate"
    verb: ClassVar = "translate"
    searches: ClassVar = True
    evaluated_with: ClassVar[tuple[str, ...]] = ("join", "beam")
    evaluation: ClassVar[type[Measured]] = TranslationEvaluation
    trained: ClassVar[type[Translate]] = Translate

    source: Text
    target: Text

    @property
    def shared(self) -> bool:
        """Whether both sides have one vocabulary."""
        return self.recipe.tokenizer.shared

    def cut_by(self, name: str) -> str:
        return "target" if self.shared or name == "target" else "source"

    def make_fields(self) -> Sequence[Field]:
        given, longest = self.recipe.tokenizer, self.recipe.data.max_length
        file = "tokenizer.json" if self.shared else None
        made_as = given.target if self.shared else given.source
        common: dict[str, Any] = {"max_length": longest, "file": file}
        self.source = Text("source", **made_as.model_dump(), **common)
        self.target = Text("target", **given.target.model_dump(), **common, bos=True)
        if self._verses:
            self.columns = (*self.columns, VerseForm.name)  # type: ignore[misc]
        return self.source, self.target

    @property
    def tokenizers(self) -> tuple[Tokenizer, Tokenizer]:
        return self.source.tokenizer, self.target.tokenizer

    # the data

    def learn(self, spec: Spec) -> None:
        if not self.shared:
            return super().learn(spec)
        both = (text for found in self.read(spec) for text in (found["source"], found["target"]))
        self.target.learn(both)
        self.source.tokenizer = self.target.tokenizer
        return None

    def trained_on(self, spec: Spec, problems: Problems) -> Iterator[Example]:
        return self._joined(spec, problems, self.recipe.data.join)

    @property
    def made_by(self) -> list[int | str | None]:
        return [*super().made_by, self.recipe.data.join]

    def examples(
        self, spec: Spec, problems: Problems | None = None, *, join: int | None = None
    ) -> list[Example]:
        own = spec in (self.recipe.data.dev, self.recipe.data.test)
        return list(self._joined(spec, problems, join or (self.recipe.data.join if own else 1)))

    def check(
        self, spec: Spec, *, learnt: bool = False, train: Spec | None = None
    ) -> ExamplesSummary | CorpusSummary:
        """Of pairs there is more to tell, unless lengths in tokens are wanted."""
        return super().check(spec, learnt=True) if learnt else check_pairs(spec)

    def _joined(self, spec: Spec, problems: Problems | None, join: int) -> Iterator[Example]:
        sides = (self.source, self.target)
        return read_examples(spec, sides, problems, apart=self.apart, join=join)

    # the model

    def for_training(self, model: nn.Module) -> Translate:
        training = self.recipe.training
        given, forcing = training.reinforce, training.teacher_forcing
        baseline = None if given.baseline == "none" else given.baseline
        if hasattr(encoder := getattr(model, "encoder", None), "mark_ends"):
            encoder.mark_ends([*SPECIALS, *self.source.tokenizer.labels])  # type: ignore[union-attr]
        return self.trained(
            cast(Translator, model),
            *self.tokenizers,
            label_smoothing=training.label_smoothing,
            teacher_forcing=forcing.ratio,
            forcing_draw=forcing.draw,
            reinforce=Reinforce(baseline, entropy=given.entropy) if is_hard(self.recipe) else None,
            reinforce_weight=given.weight,
        )

    def for_inference(self, model: nn.Module) -> TextTranslator:
        return TextTranslator(cast(Translator, model), *self.tokenizers)

    def predict(
        self, module: TextTranslator, examples: Examples, *, attention: bool = False, batch: int
    ) -> list[Answer]:
        settings = search_settings(self.recipe, attention=attention)
        return [one.answer for one in self.write(module, examples, settings, batch=batch)]

    def write(
        self, module: TextTranslator, examples: Examples, settings: Search, *, batch: int
    ) -> list[Prediction]:
        """What is said to each, searched for or drawn as the settings say."""
        texts = [example["source"] for example in examples]
        return module.predict(texts, settings, batch=batch)

    # how good it is

    def likelihoods(self, module: TextTranslator, examples: Sequence[Example]) -> list[Likelihood]:
        return module.likelihoods(*_sides(examples), batch=self.batch_for(module))

    def measured_by(self) -> Sequence[Measure]:
        found = CorpusBleu(bleu_tokenizer(self.recipe)), CorpusChrf()
        return (*found, VerseForm()) if self._verses else found

    @property
    def _verses(self) -> bool:
        return bool(getattr(self.recipe.task, "verses", False))

    def tally(
        self, module: TextTranslator, examples: Sequence[Example], *, beam: int | None = None
    ) -> Tally:
        """beam: that of a validation if not given."""
        search, (sources, _) = self.recipe.search, _sides(examples)
        settings = search_settings(self.recipe, beam=beam or search.validation_beam)
        start = time.monotonic()
        texts = [p.text for p in module.predict(sources, settings, batch=self.batch_for(module))]
        seconds = time.monotonic() - start
        return super().tally(module, examples)._replace(answers=texts, seconds=seconds)

    def readings(self, module: TextTranslator, examples: Sequence[Any]) -> Iterator[Reading | None]:
        from regard.tasks.translate.translate_explain import translation_readings

        texts = [example["source"] for example in examples]
        if getattr(module.model.decoder, "static", False):
            raise Unanswerable(
                t(
                    "this model attends once for a whole translation: no token of it can be "
                    "explained by itself"
                ),
                t("regard look shows its one row of weights"),
            )
        return translation_readings(module, texts, search_settings(self.recipe))

    # what is said of it

    def verdict(self, name: str, one: Any) -> str:
        return t(
            "{bleu} BLEU with beam {beam} on {count} {set} sentences",
            bleu=f"{one.bleu.value:.1f}",
            beam=one.beam,
            count=f"{len(one.examples):,}",
            set=set_name(name),
        )

    def scores(self, one: Any) -> Sequence[MeasuredScore]:
        return [self._score(one, name, getattr(one, name).signature) for name in ("bleu", "chrf")]

    def facts(self, one: LikelihoodEvaluation) -> dict[str, str]:
        return {
            t("perplexity"): f"{one.likelihood.perplexity:.2f}",
            t("token accuracy"): f"{100 * one.likelihood.accuracy:.1f} %",
        }

    def drawings(self, found: Mapping[str, Any]) -> Sequence[Drawing]:
        curves = {name: one.by_length for name, one in found.items()}
        beam = next(iter(found.values())).beam
        section = length_section(curves, with_beam("BLEU", beam))
        return [Drawing(t("Short and long sentences"), section)]

    def samples(self, module: TextTranslator, one: LikelihoodEvaluation) -> list[Sample]:
        """Sentences from all over the corpus that are not too long to draw."""
        lengths = map(len, self.source.tokenizer.encode_ids(_sides(one.examples)[0]))
        known = zip(one.examples, lengths, strict=True)
        short = [each for each, length in known if 0 < length <= LONGEST]
        return self._translated(module, spread(short, SAMPLES))

    def worst(self, module: TextTranslator, one: LikelihoodEvaluation) -> list[Sample]:
        """Those whose answers are the worst by themselves: of BLEU and chrF by chrF."""
        names = [measure.name for measure in self.measured_by()]
        known = item_scores(one.items, names)
        if known is None:
            return []
        measure, scores = known
        rows = worst_first(one.items, names)[:SAMPLES]
        made = self._translated(module, [one.examples[row] for row in rows])
        factor = 100 if measure.share else 1
        return [
            replace(
                sample,
                scores={measure_name(measure.name): factor * float(scores[row]), **sample.scores},
                attention=sample.attention if len(sample.source_tokens) <= LONGEST else (),
            )
            for row, sample in zip(rows, made, strict=True)
        ]

    def worst_names(self) -> SampleNames:
        return replace(self.sample_names(), title=t("The worst of them, sentence by sentence"))

    def _translated(self, module: TextTranslator, chosen: Sequence[Example]) -> list[Sample]:
        settings = search_settings(self.recipe, attention=True)
        answers = module.predict([example["source"] for example in chosen], settings)
        return [
            replace(answer.sample(example["target"]), asked=asked_line(self, example))
            for answer, example in zip(answers, chosen, strict=True)
        ]

    def sample_names(self) -> SampleNames:
        return SampleNames(t("Translations"), t("source"), t("reference"), t("translation"))

    def next_steps(self, folder: Path) -> list[NextStep]:
        own = t("Translate sentences of your own, line by line.")
        seen = t("See what each word looks at, and whether that is an explanation.")
        again = t("Score it on another test set.")
        return [
            NextStep(f"regard translate -m {folder}", own),
            NextStep(f"regard look -m {folder} TEXT", seen),
            NextStep(f"regard evaluate -m {folder} --data SOURCE,TARGET", again),
        ]

    # what it looks at

    def extent(self, example: Mapping[str, Any]) -> Extent:
        return super().extent(example)._replace(target=None, beam=search_settings(self.recipe).beam)

    def look_extent(self, question: Question) -> Extent:
        source, target = self.tokenizers
        beam = question.beam or max(search_settings(self.recipe).beam, question.nbest or 1)
        given = None if question.target is None else len(target.encode(question.target)) + 1
        return Extent(len(source.encode(question.text)) + 1, given, beam, question.explain)

    def warm(self, module: TextTranslator) -> None:
        for attention in (False, True):
            settings = search_settings(self.recipe, beam=5, attention=attention, max_length=5)
            longest = getattr(getattr(module.model, "encoder", None), "longest", None)
            count = (
                LONG if longest is None else min(LONG, (longest - 1) // 3)
            )  # a word may be 3 tokens
            module.predict(["a " * max(count, 1)], settings)

    def look(
        self, module: TextTranslator, question: Question, *, model: str = ""
    ) -> AttentionRecord:
        from regard.tasks.translate.translate_look import look_at_translation

        data, settings = self.recipe.data, search_settings(self.recipe)
        return look_at_translation(
            module,
            question,
            settings,
            model=model,
            languages=(data.source, data.target),
            longest=data.max_length,
        )


def is_hard(recipe: Recipe) -> bool:
    """Whether attention is a choice that no gradient passes through."""
    attention = getattr(recipe.model, "attention", None)
    return str(getattr(attention, "normalize", "")).startswith("hard")


def _sides(examples: Sequence[Example]) -> tuple[list[str], list[str]]:
    return [each["source"] for each in examples], [each["target"] for each in examples]
