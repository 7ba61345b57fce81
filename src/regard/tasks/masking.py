"""A masked language model in a run: texts, and how often what is hidden of them is told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from torch import nn

from regard.data.problems import Problems
from regard.data.spec import Corpus, Spec, parse_texts
from regard.data.store import CHUNK, Row, Store, store_rows
from regard.data.texts import Text, read_texts
from regard.data.tokenizer import MASK
from regard.measures import Likelihood, Score
from regard.recipe import task_sections
from regard.report.page import NextStep
from regard.report.samples import Sample, SampleNames
from regard.tasks.masked import Filling, Masked
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

if TYPE_CHECKING:
    from regard.runs.loading import LoadedRun

SAMPLES = 8  # texts shown, each with its middle token hidden
NAMES = SampleNames("Filled in", "with a token hidden", "what it was", "the likeliest")


@dataclass(frozen=True)
class MaskedEvaluation(Evaluation):
    """How well a run tells what is hidden of one corpus."""

    corpus: str
    texts: Sequence[Text]
    likelihood: Likelihood

    @property
    def text(self) -> str:
        found = self.likelihood
        return (
            f"accuracy {100 * found.accuracy:.2f} %, loss {found.loss:.4f}, perplexity "
            f"{found.perplexity:.2f}  ({found.tokens:,} hidden tokens in {len(self.texts):,} texts "
            f"of {self.corpus})"
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "corpus": self.corpus,
            "texts": len(self.texts),
            "hidden": self.likelihood.tokens,
            "loss": self.likelihood.loss,
            "perplexity": self.likelihood.perplexity,
            "accuracy": self.likelihood.accuracy,
        }


class MaskedRun(RunTask[Text]):
    columns: ClassVar = ("perplexity", "accuracy")
    noun: ClassVar = "texts"
    kept_input: ClassVar = "standard-input.txt"
    command: ClassVar = "fill"

    def corpora(self, spec: Spec) -> list[Corpus]:
        return parse_texts(spec)

    def read(self, spec: Spec, problems: Problems | None = None) -> Iterator[Text]:
        return read_texts(spec, problems)

    def learn_tokenizers(self, spec: Spec) -> Tokenizers:
        texts = (text.text for text in read_texts(spec))
        one = train_tokenizer(self.recipe.tokenizer.source, texts, mask=True)
        return one, one

    def store(self, spec: Spec, tokenizers: Tokenizers, folder: Path) -> Store:
        longest = self.recipe.data.max_length

        def rows(problems: Problems) -> Iterator[Row]:
            texts = read_texts(spec, problems)
            while chunk := list(islice(texts, CHUNK)):
                every = tokenizers[0].encode_ids([text.text for text in chunk])
                for text, ids in zip(chunk, every, strict=True):
                    yield Row(text.line, ids[:longest], [])

        return store_rows(folder, rows, parse_texts(spec), tokenizers, ["masked", longest], "text")

    def describe(self, store: Store, tokenizers: Tokenizers) -> str:
        return (
            f"{len(store):,} texts to learn from, {len(tokenizers[0]):,} tokens"
            f"{cut_texts(store, self.recipe.data.max_length)}"
        )

    def examples(
        self,
        spec: Spec,
        tokenizers: Tokenizers,
        problems: Problems | None = None,
        *,
        join: int | None = None,
    ) -> list[Text]:
        return list(read_texts(spec, problems))

    def trained(self, model: nn.Module, tokenizers: Tokenizers) -> Masked:
        task = self.recipe.task
        assert isinstance(task, task_sections.Masked)
        return Masked(
            model,
            tokenizers[0],
            rate=task.rate,
            label_smoothing=self.recipe.training.label_smoothing,
            max_length=self.recipe.data.max_length,
        )

    def tally(self, module: TextTask, examples: Sequence[Text]) -> Tally:
        found = self._likelihood(module, examples)
        return Tally((found.nll, found.tokens, found.correct))

    def validation(self, found: Tally, examples: Sequence[Text]) -> Validation:
        total = Likelihood.summed(found.counts)
        return Validation(total.loss, {"perplexity": total.perplexity, "accuracy": total.accuracy})

    def words(self, found: Validation) -> str:
        of = found.measures
        return f"perplexity {of['perplexity']:.2f}, accuracy {100 * of['accuracy']:.2f} %"

    def evaluate(
        self, run: LoadedRun, corpus: str, examples: Sequence[Text], *, beam: int | None = None
    ) -> MaskedEvaluation:
        return MaskedEvaluation(corpus, examples, self._likelihood(run.module, examples))

    def report(self, run: LoadedRun, found: Mapping[str, Any]) -> dict[str, Any]:
        one, folder = last(found), run.folder.path
        scores = [
            f"{100 * one.likelihood.accuracy:.1f} % of {one.likelihood.tokens:,} hidden {name} tokens"
            for name, one in found.items()
        ]
        return {
            "verdict": f"{' and '.join(scores)} told." if scores else "",
            "scores": () if one is None else _scores(one.likelihood),
            "facts": {f"{name} loss": f"{one.likelihood.loss:.4f}" for name, one in found.items()},
            "samples": () if one is None else _samples(run, one),
            "sample_names": NAMES,
            "next_steps": [
                NextStep(f'regard fill -m {folder} "… {MASK} …"', "Fill in a text of your own."),
                NextStep(
                    f"regard evaluate -m {folder} --data texts.txt", "Score it on other texts."
                ),
            ],
        }

    def _likelihood(self, module: TextTask, examples: Sequence[Text]) -> Likelihood:
        assert isinstance(module, Masked)
        texts, numbers = [text.text for text in examples], [text.line for text in examples]
        return module.likelihood(texts, numbers, batch=self.recipe.search.batch)


def _scores(found: Likelihood) -> tuple[Score, Score]:
    of = f"{found.correct:,} of {found.tokens:,} hidden tokens"
    return (
        Score("Accuracy, %", 100 * found.accuracy, of),
        Score("Perplexity", found.perplexity, "of a hidden token"),
    )


def _samples(run: LoadedRun, found: MaskedEvaluation) -> list[Sample]:
    """Texts from all over the corpus, one token of each hidden."""
    longest = run.recipe.data.max_length
    chosen = found.texts[:: max(1, len(found.texts) // SAMPLES)][:SAMPLES]
    every = run.module.source_tokenizer.encode_many([text.text for text in chosen])
    shown = [(one.text, tokens) for one, tokens in zip(chosen, every, strict=True)]
    places = [
        (text, *tokens.offsets[len(tokens) // 2])
        for text, tokens in shown
        if 0 < len(tokens) < longest
    ]
    answers = run.fill([f"{text[:start]}{MASK}{text[end:]}" for text, start, end in places])
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
