"""Translation in a run: pairs of sentences, BLEU, chrF and perplexity."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

from torch import nn

from regard.attention.normalizers import Reinforce
from regard.data.problems import Problems
from regard.data.spec import Corpus, Spec, parse
from regard.data.store import Store, prepare
from regard.data.text import Pair, read_pairs
from regard.layers.contracts import Translator
from regard.measures import BleuScore, LengthCurve, Likelihood, Score, bleu, by_length, chrf
from regard.models.attention_options import AttentionOptions
from regard.recipe.recipe import Recipe
from regard.recipe.search_settings import search_settings
from regard.report.length_chart import length_table
from regard.report.page import NextStep
from regard.report.samples import Sample
from regard.tasks.languages import bleu_tokenizer, length_unit
from regard.tasks.prediction import Prediction
from regard.tasks.run_task import (
    Evaluation,
    RunTask,
    Tally,
    Tokenizers,
    Validation,
    last,
    train_tokenizer,
)
from regard.tasks.text_task import TextTask
from regard.tasks.text_translator import TextTranslator
from regard.tasks.translate import Translate
from regard.training.progress import clock

if TYPE_CHECKING:
    from regard.runs.loading import LoadedRun

SAMPLES = 8  # sentences shown with their attention
LONGEST = 30  # tokens of such a sentence: what still fits a page


@dataclass(frozen=True)
class TranslationEvaluation(Evaluation):
    """The scores of a run on one corpus."""

    corpus: str
    pairs: Sequence[Pair]
    predictions: Sequence[Prediction]
    bleu: BleuScore
    chrf: Score
    likelihood: Likelihood
    by_length: LengthCurve
    seconds: float  # of translating

    @property
    def text(self) -> str:
        return (
            f"{self.bleu.text}\n{self.chrf.text}\nperplexity {self.likelihood.perplexity:.2f}, token "
            f"accuracy {100 * self.likelihood.accuracy:.1f} %  ({len(self.pairs):,} sentences of "
            f"{self.corpus}, {self.likelihood.tokens:,} tokens, translated in {clock(self.seconds)})"
        )

    @property
    def table(self) -> str:
        return length_table({"": self.by_length})

    def to_dict(self) -> dict[str, Any]:
        return {
            "corpus": self.corpus,
            "sentences": len(self.pairs),
            "bleu": asdict(self.bleu),
            "chrf": asdict(self.chrf),
            "perplexity": self.likelihood.perplexity,
            "loss": self.likelihood.loss,
            "accuracy": self.likelihood.accuracy,
            "tokens": self.likelihood.tokens,
            "by_length": asdict(self.by_length),
            "seconds": self.seconds,
        }


class TranslateRun(RunTask[Pair]):
    columns: ClassVar = ("perplexity", "accuracy", "bleu", "chrf")
    command: ClassVar = "translate"
    evaluated_with: ClassVar = ("join", "beam")

    def corpora(self, spec: Spec) -> list[Corpus]:
        return parse(spec)

    def read(self, spec: Spec, problems: Problems | None = None) -> Iterator[Pair]:
        return read_pairs(spec, problems)

    def learn_tokenizers(self, spec: Spec) -> Tokenizers:
        given = self.recipe.tokenizer
        if given.shared:
            both = (text for pair in read_pairs(spec) for text in (pair.source, pair.target))
            one = train_tokenizer(given.target, both)
            return one, one
        sources = (pair.source for pair in read_pairs(spec))
        targets = (pair.target for pair in read_pairs(spec))
        return train_tokenizer(given.source, sources), train_tokenizer(given.target, targets)

    def store(self, spec: Spec, tokenizers: Tokenizers, folder: Path) -> Store:
        data = self.recipe.data
        return prepare(spec, *tokenizers, folder, max_length=data.max_length, join=data.join)

    def describe(self, store: Store, tokenizers: Tokenizers) -> str:
        return (
            f"{len(store):,} pairs to learn from, {len(tokenizers[0]):,} source and "
            f"{len(tokenizers[1]):,} target tokens"
        )

    def examples(
        self,
        spec: Spec,
        tokenizers: Tokenizers,
        problems: Problems | None = None,
        *,
        join: int | None = None,
    ) -> list[Pair]:
        own = spec in (self.recipe.data.dev, self.recipe.data.test)
        return list(read_pairs(spec, problems, join=join or (self.recipe.data.join if own else 1)))

    def trained(self, model: nn.Module, tokenizers: Tokenizers) -> Translate:
        training = self.recipe.training
        reinforce = None
        if is_hard(self.recipe):
            given = training.reinforce
            baseline = None if given.baseline == "none" else given.baseline
            reinforce = Reinforce(baseline, entropy=given.entropy)
        return Translate(
            cast(Translator, model),
            *tokenizers,
            label_smoothing=training.label_smoothing,
            teacher_forcing=training.teacher_forcing.ratio,
            forcing_draw=training.teacher_forcing.draw,
            reinforce=reinforce,
            reinforce_weight=training.reinforce.weight,
        )

    def used(self, model: nn.Module, tokenizers: Tokenizers) -> TextTranslator:
        return TextTranslator(cast(Translator, model), *tokenizers)

    def tally(self, module: TextTask, examples: Sequence[Pair]) -> Tally:
        assert isinstance(module, TextTranslator)
        size = self.recipe.search.batch
        sources, targets = [p.source for p in examples], [p.target for p in examples]
        total = module.likelihood(sources, targets, batch=size)
        settings = search_settings(self.recipe, beam=self.recipe.search.validation_beam)
        texts = [p.text for p in module.predict(sources, settings, batch=size)]
        return Tally((total.nll, total.tokens, total.correct), texts)

    def validation(self, found: Tally, examples: Sequence[Pair]) -> Validation:
        total = Likelihood.summed(found.counts)
        references = [p.target for p in examples]
        tokenize = bleu_tokenizer(self.recipe)
        measures = {
            "perplexity": total.perplexity,
            "accuracy": total.accuracy,
            "bleu": bleu(found.answers, references, tokenize=tokenize).value,
            "chrf": chrf(found.answers, references).value,
        }
        return Validation(total.loss, measures)

    def words(self, found: Validation) -> str:
        of = found.measures
        return (
            f"perplexity {of['perplexity']:.2f}, accuracy {100 * of['accuracy']:.1f} %, "
            f"BLEU {of['bleu']:.2f}, chrF {of['chrf']:.2f}"
        )

    def evaluate(
        self, run: LoadedRun, corpus: str, examples: Sequence[Pair], *, beam: int | None = None
    ) -> TranslationEvaluation:
        sources, references = [p.source for p in examples], [p.target for p in examples]
        start = time.monotonic()
        predictions = run.translate(sources, beam=beam)
        seconds = time.monotonic() - start
        texts, tokenize = [p.text for p in predictions], bleu_tokenizer(self.recipe)
        return TranslationEvaluation(
            corpus=corpus,
            pairs=examples,
            predictions=predictions,
            bleu=bleu(texts, references, tokenize=tokenize),
            chrf=chrf(texts, references),
            likelihood=run.translator.likelihood(
                sources, references, batch=self.recipe.search.batch
            ),
            by_length=by_length(
                sources, texts, references, unit=length_unit(self.recipe), tokenize=tokenize
            ),
            seconds=seconds,
        )

    def report(self, run: LoadedRun, found: Mapping[str, Any]) -> dict[str, Any]:
        scores = [
            f"{one.bleu.value:.1f} BLEU on {len(one.pairs):,} {name} sentences"
            for name, one in found.items()
        ]
        facts = {}
        for name, one in found.items():
            facts[f"{name} perplexity"] = f"{one.likelihood.perplexity:.2f}"
            facts[f"{name} token accuracy"] = f"{100 * one.likelihood.accuracy:.1f} %"
        one = last(found)
        folder = run.folder.path
        return {
            "verdict": f"{' and '.join(scores)}." if scores else "",
            "scores": () if one is None else (one.bleu, one.chrf),
            "facts": facts,
            "by_length": {name: one.by_length for name, one in found.items()},
            "samples": () if one is None else _samples(run, one),
            "next_steps": [
                NextStep(
                    f"regard translate -m {folder}",
                    "Translate sentences of your own, line by line.",
                ),
                NextStep(
                    f"regard look -m {folder} TEXT",
                    "See what each word looks at, and whether that is an explanation.",
                ),
                NextStep(
                    f"regard evaluate -m {folder} --data SOURCE,TARGET",
                    "Score it on another test set.",
                ),
            ],
        }


def is_hard(recipe: Recipe) -> bool:
    """Whether attention is a choice that no gradient passes through."""
    attention = getattr(recipe.model, "attention", None)
    return isinstance(attention, AttentionOptions) and attention.normalize.startswith("hard")


def _samples(run: LoadedRun, found: TranslationEvaluation) -> list[Sample]:
    """Sentences from all over the corpus that are not too long to draw."""
    short = [i for i, p in enumerate(found.predictions) if 0 < len(p.source_tokens) <= LONGEST]
    chosen = short[:: max(1, len(short) // SAMPLES)][:SAMPLES]
    answers = run.translate([found.pairs[i].source for i in chosen], attention=True)
    return [
        _sample(answer, found.pairs[i].target) for i, answer in zip(chosen, answers, strict=True)
    ]


def _sample(answer: Prediction, reference: str) -> Sample:
    attention = [] if answer.attention is None else answer.attention.tolist()
    return Sample(
        source=answer.source,
        hypothesis=answer.text,
        reference=reference,
        scores={"log p": answer.log_prob},
        source_tokens=[*answer.source_tokens.pieces, "EOS"],
        tokens=[*answer.tokens.pieces, *(["EOS"] if answer.finished else [])],
        attention=attention,
    )
