"""Translation: pairs of sentences, BLEU, chrF and perplexity."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

from torch import nn

from regard.attention.normalizers import Reinforce
from regard.clock import clock
from regard.data.examples import Example, read_examples
from regard.data.fields import Field, Text
from regard.data.problems import Problems
from regard.data.spec import Spec
from regard.data.tokenizer import Tokenizer
from regard.layers.contracts import Translator
from regard.measures import BleuScore, LengthCurve, Likelihood, MeasuredScore, bleu, by_length, chrf
from regard.measures.likelihood_measures import Perplexity, TokenAccuracy, TokenLoss
from regard.measures.measure import Counts, Measure
from regard.measures.translation_measures import CorpusBleu, CorpusChrf
from regard.recipe.recipe import Recipe
from regard.records.question import Question
from regard.records.record import AttentionRecord
from regard.tasks.answer import Answer
from regard.tasks.evaluation import Evaluation, listed, on_set
from regard.tasks.judged_items import JudgedItems
from regard.tasks.prediction import Prediction
from regard.tasks.report_part import Drawing, NextStep, ReportPart
from regard.tasks.search_settings import search_settings
from regard.tasks.task import Extent, Tally, Task, Validation, last
from regard.tasks.translate.target_languages import bleu_tokenizer, length_unit
from regard.tasks.translate.text_translator import TextTranslator
from regard.tasks.translate.translate_loss import Translate
from regard.view.length_chart import length_section, length_table
from regard.view.samples import Sample, SampleNames
from regard.words import t

SAMPLES = 8  # sentences shown with their attention
LONG = 100  # tokens: kernels of long texts are used from here on
LONGEST = 30  # tokens of such a sentence: what still fits a page


@dataclass(frozen=True)
class TranslationEvaluation(Evaluation):
    """The scores of a run on one corpus."""

    corpus: str
    examples: Sequence[Example]
    predictions: Sequence[Prediction]
    bleu: BleuScore
    chrf: MeasuredScore
    likelihood: Likelihood
    by_length: LengthCurve
    seconds: float  # of translating

    @property
    def text(self) -> str:
        found = t(
            "perplexity {perplexity}, token accuracy {accuracy} %  ({count} sentences of {corpus}, "
            "{tokens} tokens, translated in {time})",
            perplexity=f"{self.likelihood.perplexity:.2f}",
            accuracy=f"{100 * self.likelihood.accuracy:.1f}",
            count=f"{len(self.examples):,}",
            corpus=self.corpus,
            tokens=f"{self.likelihood.tokens:,}",
            time=clock(self.seconds),
        )
        return f"{self.bleu.text}\n{self.chrf.text}\n{found}"

    @property
    def table(self) -> str:
        return length_table({"": self.by_length})

    def to_dict(self) -> dict[str, Any]:
        return {
            "corpus": self.corpus,
            "sentences": len(self.examples),
            "bleu": asdict(self.bleu),
            "chrf": asdict(self.chrf),
            "perplexity": self.likelihood.perplexity,
            "loss": self.likelihood.loss,
            "accuracy": self.likelihood.accuracy,
            "tokens": self.likelihood.tokens,
            "by_length": asdict(self.by_length),
            "seconds": self.seconds,
        }


class TranslateTask(Task):
    columns: ClassVar = ("perplexity", "accuracy", "bleu", "chrf")
    inputs: ClassVar = ("source",)
    apart: ClassVar = ("target",)
    noun: ClassVar = "pairs"
    command: ClassVar = "translate"
    verb: ClassVar = "translate"
    searches: ClassVar = True
    evaluated_with: ClassVar = ("join", "beam")

    source: Text
    target: Text

    def make_fields(self) -> Sequence[Field]:
        given, longest = self.recipe.tokenizer, self.recipe.data.max_length
        file = "tokenizer.json" if given.shared else None
        made_as = given.target if given.shared else given.source
        common: dict[str, Any] = {"max_length": longest, "file": file}
        self.source = Text("source", **made_as.model_dump(), **common)
        self.target = Text("target", **given.target.model_dump(), **common, bos=True)
        return self.source, self.target

    @property
    def tokenizers(self) -> tuple[Tokenizer, Tokenizer]:
        return self.source.tokenizer, self.target.tokenizer

    # the data

    def learn(self, spec: Spec) -> None:
        if not self.recipe.tokenizer.shared:
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

    def _joined(self, spec: Spec, problems: Problems | None, join: int) -> Iterator[Example]:
        sides = (self.source, self.target)
        return read_examples(spec, sides, problems, apart=self.apart, join=join)

    # the model

    def for_training(self, model: nn.Module) -> Translate:
        training = self.recipe.training
        reinforce = None
        if is_hard(self.recipe):
            given = training.reinforce
            baseline = None if given.baseline == "none" else given.baseline
            reinforce = Reinforce(baseline, entropy=given.entropy)
        return Translate(
            cast(Translator, model),
            *self.tokenizers,
            label_smoothing=training.label_smoothing,
            teacher_forcing=training.teacher_forcing.ratio,
            forcing_draw=training.teacher_forcing.draw,
            reinforce=reinforce,
            reinforce_weight=training.reinforce.weight,
        )

    def for_inference(self, model: nn.Module) -> TextTranslator:
        return TextTranslator(cast(Translator, model), *self.tokenizers)

    def predict(
        self,
        module: TextTranslator,
        examples: Sequence[Mapping[str, Any]],
        *,
        attention: bool = False,
        batch: int,
    ) -> list[Answer]:
        settings = search_settings(self.recipe, attention=attention)
        texts = [example["source"] for example in examples]
        return [_answer(found) for found in module.predict(texts, settings, batch=batch)]

    # how good it is

    def judge(self, module: TextTranslator, examples: Sequence[Example]) -> JudgedItems:
        sources, references = _sides(examples)
        size, settings = self.recipe.search.batch, search_settings(self.recipe)
        texts = [found.text for found in module.predict(sources, settings, batch=size)]
        likely = module.likelihoods(sources, references, batch=size)
        of_texts = CorpusBleu(bleu_tokenizer(self.recipe)), CorpusChrf()
        of_tokens = Perplexity(), TokenAccuracy(), TokenLoss()
        counts: list[tuple[Measure, Counts]] = []
        counts += [(one, one.counts(references, texts)) for one in of_texts]
        counts += [(one, one.counts(references, likely)) for one in of_tokens]
        return JudgedItems(counts, texts)

    def tally(self, module: TextTranslator, examples: Sequence[Example]) -> Tally:
        size = self.recipe.search.batch
        sources, targets = _sides(examples)
        total = module.likelihood(sources, targets, batch=size)
        settings = search_settings(self.recipe, beam=self.recipe.search.validation_beam)
        texts = [p.text for p in module.predict(sources, settings, batch=size)]
        return Tally((total.nll, total.tokens, total.correct), texts)

    def validation(self, found: Tally, examples: Sequence[Example]) -> Validation:
        total = Likelihood.summed(found.counts)
        _, references = _sides(examples)
        tokenize = bleu_tokenizer(self.recipe)
        measures = {
            "perplexity": total.perplexity,
            "accuracy": total.accuracy,
            "bleu": bleu(found.answers, references, tokenize=tokenize).value,
            "chrf": chrf(found.answers, references).value,
        }
        return Validation(total.loss, measures)

    def measures_line(self, found: Validation) -> str:
        of = found.measures
        return t(
            "perplexity {perplexity}, accuracy {accuracy} %, BLEU {bleu}, chrF {chrf}",
            perplexity=f"{of['perplexity']:.2f}",
            accuracy=f"{100 * of['accuracy']:.1f}",
            bleu=f"{of['bleu']:.2f}",
            chrf=f"{of['chrf']:.2f}",
        )

    def evaluate(
        self,
        module: TextTranslator,
        corpus: str,
        examples: Sequence[Example],
        *,
        beam: int | None = None,
    ) -> TranslationEvaluation:
        sources, references = _sides(examples)
        start, size = time.monotonic(), self.recipe.search.batch
        predictions = module.predict(sources, search_settings(self.recipe, beam=beam), batch=size)
        seconds = time.monotonic() - start
        texts, tokenize = [p.text for p in predictions], bleu_tokenizer(self.recipe)
        return TranslationEvaluation(
            corpus=corpus,
            examples=examples,
            predictions=predictions,
            bleu=bleu(texts, references, tokenize=tokenize),
            chrf=chrf(texts, references),
            likelihood=module.likelihood(sources, references, batch=size),
            by_length=by_length(
                sources, texts, references, unit=length_unit(self.recipe), tokenize=tokenize
            ),
            seconds=seconds,
        )

    def report(self, module: TextTranslator, found: Mapping[str, Any], folder: Path) -> ReportPart:
        scores = [
            t(
                "{bleu} BLEU on {count} {set} sentences",
                bleu=f"{one.bleu.value:.1f}",
                count=f"{len(one.examples):,}",
                set=name,
            )
            for name, one in found.items()
        ]
        facts = {}
        for name, one in found.items():
            facts[on_set(name, t("perplexity"))] = f"{one.likelihood.perplexity:.2f}"
            facts[on_set(name, t("token accuracy"))] = f"{100 * one.likelihood.accuracy:.1f} %"
        one = last(found)
        curves = {name: one.by_length for name, one in found.items()}
        return ReportPart(
            verdict=listed(scores),
            scores=() if one is None else (one.bleu, one.chrf),
            facts=facts,
            drawings=[Drawing(t("Short and long sentences"), length_section(curves))]
            if curves
            else (),
            samples=() if one is None else self._samples(module, one),
            sample_names=SampleNames(
                t("Translations"), t("source"), t("reference"), t("translation")
            ),
            next_steps=[
                NextStep(
                    f"regard translate -m {folder}",
                    t("Translate sentences of your own, line by line."),
                ),
                NextStep(
                    f"regard look -m {folder} TEXT",
                    t("See what each word looks at, and whether that is an explanation."),
                ),
                NextStep(
                    f"regard evaluate -m {folder} --data SOURCE,TARGET",
                    t("Score it on another test set."),
                ),
            ],
        )

    def _samples(self, module: TextTranslator, found: TranslationEvaluation) -> list[Sample]:
        """Sentences from all over the corpus that are not too long to draw."""
        short = [i for i, p in enumerate(found.predictions) if 0 < len(p.source_tokens) <= LONGEST]
        chosen = [found.examples[i] for i in short[:: max(1, len(short) // SAMPLES)][:SAMPLES]]
        settings = search_settings(self.recipe, attention=True)
        answers = module.predict([example["source"] for example in chosen], settings)
        pairs = zip(chosen, answers, strict=True)
        return [_sample(answer, example["target"]) for example, answer in pairs]

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
            module.predict(["a " * LONG], settings)

    def look(
        self, module: TextTranslator, question: Question, *, model: str = ""
    ) -> AttentionRecord:
        from regard.tasks.translate.translate_look import look_at_translation

        data, settings = self.recipe.data, search_settings(self.recipe)
        languages = data.source, data.target
        return look_at_translation(module, question, settings, model=model, languages=languages)


def is_hard(recipe: Recipe) -> bool:
    """Whether attention is a choice that no gradient passes through."""
    attention = getattr(recipe.model, "attention", None)
    return str(getattr(attention, "normalize", "")).startswith("hard")


def _sides(examples: Sequence[Example]) -> tuple[list[str], list[str]]:
    return [each["source"] for each in examples], [each["target"] for each in examples]


def _names(found: Prediction) -> tuple[list[str], list[str]]:
    """What the rows and the columns of its attention are called."""
    ended = ["EOS"] if found.finished else []
    return [*found.tokens.pieces, *ended], [*found.source_tokens.pieces, "EOS"]


def _answer(found: Prediction) -> Answer:
    rows, columns = _names(found)
    return Answer(found.source, found.text, found.score, found.attention, rows, columns)


def _sample(answer: Prediction, reference: str) -> Sample:
    rows, columns = _names(answer)
    return Sample(
        source=answer.source,
        hypothesis=answer.text,
        reference=reference,
        scores={"log p": answer.log_prob},
        source_tokens=columns,
        tokens=rows,
        attention=[] if answer.attention is None else answer.attention.tolist(),
    )
