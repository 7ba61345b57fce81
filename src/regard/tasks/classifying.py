"""Classification in a run: texts and their labels, accuracy, macro-F1 and what is taken for what."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from torch import nn

from regard.data.problems import Problems
from regard.data.spec import Corpus, Spec, parse
from regard.data.store import CHUNK, Row, Store, store_rows
from regard.data.text import Pair, read_labelled
from regard.data.tokenizer import Tokenizer
from regard.measures import Confusion, Score
from regard.recipe.mistakes import RecipeError
from regard.report.confusion_chart import confusion_text
from regard.report.page import NextStep
from regard.report.samples import Sample, SampleNames
from regard.suggestions import meant
from regard.tasks.classify import Classification, Classify
from regard.tasks.run_task import (
    Evaluation,
    RunTask,
    Tally,
    Tokenizers,
    Validation,
    cut_texts,
    last,
    train_tokenizer,
)
from regard.tasks.text_task import TextTask
from regard.training.progress import clock

if TYPE_CHECKING:
    from regard.runs.loading import LoadedRun

SAMPLES = 8  # texts shown
SHOWN = 12  # labels named
NAMES = SampleNames("Most confidently wrong", "text", "label", "answer")


@dataclass(frozen=True)
class ClassifyEvaluation(Evaluation):
    """How well a run labels one corpus."""

    corpus: str
    pairs: Sequence[Pair]
    predictions: Sequence[Classification]
    confusion: Confusion
    loss: float  # nats per text
    seconds: float  # of classifying

    @property
    def text(self) -> str:
        return (
            f"accuracy {100 * self.confusion.accuracy:.2f} %, macro-F1 "
            f"{100 * self.confusion.macro_f1:.2f} %, loss {self.loss:.4f}  ({len(self.pairs):,} "
            f"texts of {self.corpus}, classified in {clock(self.seconds)})"
        )

    @property
    def table(self) -> str:
        return confusion_text(self.confusion)

    def to_dict(self) -> dict[str, Any]:
        labels = self.confusion.labels
        return {
            "corpus": self.corpus,
            "texts": len(self.pairs),
            "accuracy": self.confusion.accuracy,
            "macro_f1": self.confusion.macro_f1,
            "loss": self.loss,
            "labels": labels,
            "confusion": [[self.confusion.count(a, b) for b in labels] for a in labels],
            "f1": {label: self.confusion.f1(label) for label in labels},
            "seconds": self.seconds,
        }


class ClassifyRun(RunTask[Pair]):
    columns: ClassVar = ("accuracy", "macro_f1")
    noun: ClassVar = "texts"
    scored: ClassVar = "texts"
    command: ClassVar = "classify"

    def corpora(self, spec: Spec) -> list[Corpus]:
        return parse(spec)

    def read(self, spec: Spec, problems: Problems | None = None) -> Iterator[Pair]:
        return read_labelled(spec, problems)

    def learn_tokenizers(self, spec: Spec) -> Tokenizers:
        labels = Tokenizer.of_labels(pair.target for pair in read_labelled(spec))
        texts = (pair.source for pair in read_labelled(spec))
        return train_tokenizer(self.recipe.tokenizer.source, texts), labels

    def store(self, spec: Spec, tokenizers: Tokenizers, folder: Path) -> Store:
        longest = self.recipe.data.max_length

        def rows(problems: Problems) -> Iterator[Row]:
            pairs = read_labelled(spec, problems)
            while chunk := list(islice(pairs, CHUNK)):
                texts = tokenizers[0].encode_ids([pair.source for pair in chunk])
                labels = tokenizers[1].encode_ids([pair.target for pair in chunk])
                for pair, text, label in zip(chunk, texts, labels, strict=True):
                    yield Row(pair.line, text[:longest], label)

        return store_rows(folder, rows, parse(spec), tokenizers, ["labelled", longest], "text")

    def describe(self, store: Store, tokenizers: Tokenizers) -> str:
        labels = tokenizers[1].labels
        named = ", ".join(labels[:SHOWN]) + (", …" if len(labels) > SHOWN else "")
        return (
            f"{len(store):,} texts to learn from, {len(tokenizers[0]):,} tokens, {len(labels):,} "
            f"labels: {named}{cut_texts(store, self.recipe.data.max_length)}"
        )

    def examples(
        self,
        spec: Spec,
        tokenizers: Tokenizers,
        problems: Problems | None = None,
        *,
        join: int | None = None,
    ) -> list[Pair]:
        known = tokenizers[1].labels
        pairs = []
        for pair in read_labelled(spec, problems):
            label = pair.target.strip()
            if label not in known:
                raise RecipeError(
                    f"{pair.corpus}, line {pair.line}: no text to learn from has the label "
                    f"{label[:60]!r}.{meant(label, known)} There are {', '.join(known[:SHOWN])}",
                    "text and label stand as in data.train: #0,1 is text in column 0, label in 1",
                )
            pairs.append(pair._replace(target=label))
        return pairs

    def check_held_out(self, spec: Spec, tokenizers: Tokenizers) -> None:
        self.examples(spec, tokenizers)

    def trained(self, model: nn.Module, tokenizers: Tokenizers) -> Classify:
        recipe = self.recipe
        return Classify(
            model,
            *tokenizers,
            label_smoothing=recipe.training.label_smoothing,
            max_length=recipe.data.max_length,
        )

    def tally(self, module: TextTask, examples: Sequence[Pair]) -> Tally:
        assert isinstance(module, Classify)
        texts = [pair.source for pair in examples]
        found = module.classify(texts, batch=self.recipe.search.batch)
        return Tally((_nll(examples, found),), [one.label for one in found])

    def validation(self, found: Tally, examples: Sequence[Pair]) -> Validation:
        confusion = Confusion.of([pair.target for pair in examples], found.answers)
        measures = {"accuracy": confusion.accuracy, "macro_f1": confusion.macro_f1}
        return Validation(found.counts[0] / len(examples), measures)

    def words(self, found: Validation) -> str:
        of = found.measures
        return f"accuracy {100 * of['accuracy']:.2f} %, macro-F1 {100 * of['macro_f1']:.2f} %"

    def evaluate(
        self, run: LoadedRun, corpus: str, examples: Sequence[Pair], *, beam: int | None = None
    ) -> ClassifyEvaluation:
        start = time.monotonic()
        found = run.classify([pair.source for pair in examples])
        return ClassifyEvaluation(
            corpus=corpus,
            pairs=examples,
            predictions=found,
            confusion=Confusion.of([p.target for p in examples], [one.label for one in found]),
            loss=_nll(examples, found) / len(examples),
            seconds=time.monotonic() - start,
        )

    def report(self, run: LoadedRun, found: Mapping[str, Any]) -> dict[str, Any]:
        one, folder = last(found), run.folder.path
        scores = [
            f"{100 * one.confusion.accuracy:.1f} % of {len(one.pairs):,} {name} texts right"
            for name, one in found.items()
        ]
        return {
            "verdict": f"{' and '.join(scores)}." if scores else "",
            "scores": () if one is None else _scores(one.confusion),
            "facts": {f"{name} loss": f"{one.loss:.4f}" for name, one in found.items()},
            "confusions": {name: one.confusion for name, one in found.items()},
            "samples": () if one is None else _samples(run, one),
            "sample_names": NAMES,
            "next_steps": [
                NextStep(f"regard classify -m {folder}", "Label texts of your own, line by line."),
                NextStep(
                    f"regard evaluate -m {folder} --data TEXTS,LABELS",
                    "Score it on another test set.",
                ),
            ],
        }


def _nll(pairs: Sequence[Pair], found: Sequence[Classification]) -> float:
    return -sum(one.log_probs[pair.target] for pair, one in zip(pairs, found, strict=True))


def _scores(found: Confusion) -> tuple[Score, Score]:
    right = f"{found.correct:,} of {found.total:,} texts"
    mean = f"mean of {len(found.labels):,} labels"
    return (
        Score("Accuracy, %", 100 * found.accuracy, right),
        Score("Macro-F1, %", 100 * found.macro_f1, mean),
    )


def _samples(run: LoadedRun, found: ClassifyEvaluation) -> list[Sample]:
    """The wrong answers that the model was surest of."""
    wrong = [
        (one.probability, pair)
        for pair, one in zip(found.pairs, found.predictions, strict=True)
        if one.label != pair.target
    ]
    worst = [pair for _, pair in sorted(wrong, key=lambda each: -each[0])[:SAMPLES]]
    answers = run.classify([pair.source for pair in worst], attention=True)
    return [_sample(pair, answer) for pair, answer in zip(worst, answers, strict=True)]


def _sample(pair: Pair, answer: Classification) -> Sample:
    weights = [] if answer.attention is None else answer.attention.tolist()
    places = answer.tokens.offsets
    return Sample(
        source=pair.source,
        hypothesis=answer.label,
        reference=pair.target,
        scores={
            f"p({label})": answer.probabilities[label] for label in (answer.label, pair.target)
        },
        marks=[(*place, weight) for place, weight in zip(places, weights, strict=False)],
    )
