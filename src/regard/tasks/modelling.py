"""A language model in a run: texts, perplexity and bits per character."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from torch import nn

from regard.data.blocks import Block, block_rows, blocks
from regard.data.problems import Problems
from regard.data.spec import Corpus, Spec, parse_texts
from regard.data.store import Row, Store, store_rows
from regard.data.texts import Text, read_texts
from regard.measures import Likelihood, Score
from regard.recipe import task_sections
from regard.report.page import NextStep
from regard.report.samples import Sample, SampleNames
from regard.tasks.language import Language
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

if TYPE_CHECKING:
    from regard.runs.loading import LoadedRun

SAMPLES = 6  # texts continued
PROMPT, CONTINUED = 20, 150  # tokens
DRAW: dict[str, Any] = {"method": "sample", "temperature": 0.8, "seed": 1}
NAMES = SampleNames("Continued", "beginning", "how it went on", "the model's (temperature 0.8)")


@dataclass(frozen=True)
class LanguageEvaluation(Evaluation):
    """How well a run foretells one corpus."""

    corpus: str
    blocks: Sequence[Block]
    likelihood: Likelihood

    @property
    def characters(self) -> int:
        return sum(block.characters for block in self.blocks)

    @property
    def bits_per_character(self) -> float:
        return self.likelihood.bits(self.characters)

    @property
    def bits_per_byte(self) -> float:
        return self.likelihood.bits(sum(block.bytes for block in self.blocks))

    @property
    def text(self) -> str:
        found = self.likelihood
        return (
            f"{self.bits_per_character:.4f} bits per character, {self.bits_per_byte:.4f} per byte, "
            f"loss {found.loss:.4f}, perplexity {found.perplexity:.2f}  ({self.characters:,} "
            f"characters of {self.corpus}, {found.tokens:,} tokens)"
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "corpus": self.corpus,
            "characters": self.characters,
            "tokens": self.likelihood.tokens,
            "loss": self.likelihood.loss,
            "perplexity": self.likelihood.perplexity,
            "bits_per_character": self.bits_per_character,
            "bits_per_byte": self.bits_per_byte,
            "accuracy": self.likelihood.accuracy,
        }


class LanguageRun(RunTask[Block]):
    columns: ClassVar = ("perplexity", "bits_per_character", "accuracy")
    noun: ClassVar = "texts"
    kept_input: ClassVar = "standard-input.txt"
    command: ClassVar = "generate"

    @property
    def context(self) -> int | None:
        task = self.recipe.task
        return task.context if isinstance(task, task_sections.Language) else None

    def corpora(self, spec: Spec) -> list[Corpus]:
        return parse_texts(spec)

    def read(self, spec: Spec, problems: Problems | None = None) -> Iterator[Text]:
        return read_texts(spec, problems, blank=self.context is not None)

    def learn_tokenizers(self, spec: Spec) -> Tokenizers:
        end = "" if self.context is None else "\n"
        texts = (f"{text.text}{end}" for text in self.read(spec))
        one = train_tokenizer(self.recipe.tokenizer.source, texts, verbatim=True)
        return one, one

    def store(self, spec: Spec, tokenizers: Tokenizers, folder: Path) -> Store:
        context, longest = self.context, self.recipe.data.max_length

        def rows(problems: Problems) -> Iterator[Row]:
            for row in block_rows(spec, tokenizers[1], context, problems):
                if context is None and len(row.target) > longest:
                    problems.add(str(spec), f"lines over {longest} tokens", row.line)
                else:
                    yield row

        made_by = ["language", context, longest if context is None else None]
        return store_rows(folder, rows, parse_texts(spec), tokenizers, made_by, "text")

    def describe(self, store: Store, tokenizers: Tokenizers) -> str:
        unit = "lines" if self.context is None else f"blocks of {self.context} tokens"
        return (
            f"{len(store):,} {unit} to learn from ({int(store.target_lengths.sum()):,} tokens, "
            f"{len(tokenizers[1]):,} different)"
        )

    def examples(
        self,
        spec: Spec,
        tokenizers: Tokenizers,
        problems: Problems | None = None,
        *,
        join: int | None = None,
    ) -> list[Block]:
        return list(blocks(spec, tokenizers[1], self.context, problems))

    def trained(self, model: nn.Module, tokenizers: Tokenizers) -> Language:
        smoothing = self.recipe.training.label_smoothing
        running = self.context is not None
        return Language(model, tokenizers[1], running=running, label_smoothing=smoothing)

    def tally(self, module: TextTask, examples: Sequence[Block]) -> Tally:
        found = self._likelihood(module, examples)
        return Tally((found.nll, found.tokens, found.correct))

    def validation(self, found: Tally, examples: Sequence[Block]) -> Validation:
        total = Likelihood.summed(found.counts)
        measures = {
            "perplexity": total.perplexity,
            "bits_per_character": total.bits(sum(block.characters for block in examples)),
            "accuracy": total.accuracy,
        }
        return Validation(total.loss, measures)

    def words(self, found: Validation) -> str:
        of = found.measures
        return (
            f"perplexity {of['perplexity']:.2f}, {of['bits_per_character']:.4f} bits per "
            f"character, accuracy {100 * of['accuracy']:.1f} %"
        )

    def evaluate(
        self, run: LoadedRun, corpus: str, examples: Sequence[Block], *, beam: int | None = None
    ) -> LanguageEvaluation:
        return LanguageEvaluation(corpus, examples, self._likelihood(run.module, examples))

    def report(self, run: LoadedRun, found: Mapping[str, Any]) -> dict[str, Any]:
        one, folder = last(found), run.folder.path
        scores = [
            f"{one.bits_per_character:.3f} bits per character on {name}"
            for name, one in found.items()
        ]
        facts = {}
        for name, each in found.items():
            facts[f"{name} bits per byte"] = f"{each.bits_per_byte:.4f}"
            facts[f"{name} loss"] = f"{each.likelihood.loss:.4f}"
        return {
            "verdict": f"{' and '.join(scores)}." if scores else "",
            "scores": () if one is None else _scores(one),
            "facts": facts,
            "samples": () if one is None else _samples(run, one),
            "sample_names": NAMES,
            "next_steps": [
                NextStep(f"regard generate -m {folder} --sample", "Let it write."),
                NextStep(
                    f"regard evaluate -m {folder} --data book.txt", "Score it on another text."
                ),
            ],
        }

    def _likelihood(self, module: TextTask, examples: Sequence[Block]) -> Likelihood:
        assert isinstance(module, Language)
        return module.likelihood(examples, batch=self.recipe.search.batch)


def _scores(found: LanguageEvaluation) -> tuple[Score, Score]:
    of = f"{found.characters:,} characters"
    tokens = f"of a token, {found.likelihood.tokens:,} of them"
    return (
        Score("Bits per character", found.bits_per_character, of),
        Score("Perplexity", found.likelihood.perplexity, tokens),
    )


def _samples(run: LoadedRun, found: LanguageEvaluation) -> list[Sample]:
    """Beginnings from all over the corpus, how they went on, and how the model goes on."""
    step = max(1, len(found.blocks) // SAMPLES)
    chosen = found.blocks[::step][:SAMPLES]
    decode = run.module.target_tokenizer.decode
    prompts = [decode(block.ids[: min(PROMPT, len(block.ids) // 2)]) for block in chosen]
    written = run.generate(prompts, length=CONTINUED, **DRAW)
    return [
        Sample(
            source=prompt,
            reference=decode(block.ids[: PROMPT + CONTINUED])[len(prompt) :],
            hypothesis=answer.text[len(prompt) :],
        )
        for prompt, block, answer in zip(prompts, chosen, written, strict=True)
    ]
