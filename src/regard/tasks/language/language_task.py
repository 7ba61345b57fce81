"""A language model: texts, perplexity and bits per character."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

from torch import nn

from regard.data.fields import Field, Text
from regard.data.problems import Problems
from regard.data.spec import Spec
from regard.data.store import Rows, Store, Stored
from regard.data.text_blocks import TextBlock, blocks
from regard.explanations.model_readings import Reading
from regard.measures import Likelihood
from regard.measures.likelihood_measures import BitsPerCharacter, TokenLoss
from regard.records.question import Question
from regard.records.record import AttentionRecord
from regard.tasks.answer import Answer, Examples
from regard.tasks.language.language_module import LENGTH, Language
from regard.tasks.language.language_options import LanguageOptions
from regard.tasks.likelihood_task import LikelihoodEvaluation, LikelihoodTask
from regard.tasks.report_part import NextStep
from regard.tasks.search_settings import search_settings
from regard.tasks.task import Extent, Tally, Validation
from regard.tasks.task_report import spread
from regard.view.samples import Sample, SampleNames
from regard.words import t

SAMPLES = 6  # texts continued
LONGEST_EXPLAINED = (
    32  # tokens of a text whose answers are explained: each is read again many times
)
PROMPT, CONTINUED = 20, 150  # tokens
TEMPERATURE = 0.8
DRAW: dict[str, Any] = {"method": "sample", "temperature": TEMPERATURE, "seed": 1}


@dataclass(frozen=True)
class LanguageEvaluation(LikelihoodEvaluation):
    """How well a run predicts one corpus, whatever its tokens are."""

    @property
    def characters(self) -> int:
        return sum(block.characters for block in self.examples)

    @property
    def bits_per_character(self) -> float:
        return self.likelihood.bits(self.characters)

    @property
    def bits_per_byte(self) -> float:
        return self.likelihood.bits(sum(block.bytes for block in self.examples))

    @property
    def measured_on(self) -> str:
        characters = t("{count} characters", count=f"{self.characters:,}")
        return t("{characters}, {rest}", characters=characters, rest=super().measured_on)

    def to_dict(self) -> dict[str, Any]:
        return {
            **super().to_dict(),
            "characters": self.characters,
            "bits_per_byte": self.bits_per_byte,
        }


class LanguageTask(LikelihoodTask):
    columns: ClassVar = ("perplexity", "accuracy", "bits_per_character")
    inputs: ClassVar = ("text",)
    noun: ClassVar = "texts"
    kept_input: ClassVar = "standard-input.txt"
    command: ClassVar = "generate"
    verb: ClassVar = "continue texts"
    evaluation: ClassVar = LanguageEvaluation
    likely: ClassVar = (TokenLoss(), BitsPerCharacter(), *LikelihoodTask.likely[1:])

    text: Text

    @property
    def context(self) -> int | None:
        """Tokens of a block of running text; None: every line is a text by itself."""
        return cast(LanguageOptions, self.recipe.task).context

    def make_fields(self) -> Sequence[Field]:
        self.text = Text(
            "text",
            **self.recipe.tokenizer.source.model_dump(),
            verbatim=True,
            bos=True,
            blank=self.context is not None,
            max_length=self.recipe.data.max_length if self.context is None else None,
            file="tokenizer.json",
        )
        return (self.text,)

    # the data

    def learn(self, spec: Spec) -> None:
        end = "" if self.context is None else "\n"
        self.text.learn(f"{example['text']}{end}" for example in self.read(spec))

    @property
    def made_by(self) -> list[int | str | None]:
        return [self.context, *super().made_by]

    def rows(self, spec: Spec) -> Rows:
        def encoded(problems: Problems) -> Iterator[Stored]:
            for block in blocks(spec, self.text, self.context, problems, count=False):
                if why := self.text.too_long((block.ids,)):
                    problems.add(str(spec), why.format(""), block.line)
                else:
                    yield Stored(block.line, {"text": (block.ids,)})

        return encoded

    def describe(self, store: Store) -> str:
        known = {
            "count": f"{len(store):,}",
            "tokens": f"{int(store.counts('text')['ids'].sum()):,}",
            "different": f"{self.text.size:,}",
        }
        if self.context is None:
            return t(
                "{count} lines to learn from ({tokens} tokens, {different} different)", **known
            )
        return t(
            "{count} blocks of {size} tokens to learn from ({tokens} tokens, {different} different)",
            size=self.context,
            **known,
        )

    def examples(
        self, spec: Spec, problems: Problems | None = None, *, join: int | None = None
    ) -> list[TextBlock]:
        return list(blocks(spec, self.text, self.context, problems))

    # the model

    def for_training(self, model: nn.Module) -> Language:
        smoothing, running = self.recipe.training.label_smoothing, self.context is not None
        return Language(model, self.text.tokenizer, running=running, label_smoothing=smoothing)

    def predict(
        self, module: Language, examples: Examples, *, attention: bool = False, batch: int
    ) -> list[Answer]:
        """The prompts with what follows them, the likeliest token after the other.

        attention: what each token of the prompt looked at.
        """
        from regard.tasks.language.language_look import with_prompt_attention

        prompts = [example["text"] for example in examples]
        settings = search_settings(self.recipe, beam=1)
        written = module.generate(prompts, settings, batch=batch)
        answers = [Answer(found.source, found.text, found.log_prob) for found in written]
        return [with_prompt_attention(module, one) for one in answers] if attention else answers

    def extent(self, example: Mapping[str, Any]) -> Extent:
        return Extent(1, super().extent(example).source + LENGTH)

    def look_extent(self, question: Question) -> Extent:  # all of it is read by the decoder
        count = len(self.text.tokenizer.encode(question.text)) + 1
        return Extent(1, count, explain=question.explain)

    # how good it is

    def likelihoods(self, module: Language, examples: Sequence[TextBlock]) -> list[Likelihood]:
        return module.likelihoods(examples, batch=self.batch_for(module))

    def count_scored(self, examples: Sequence[Any]) -> int:
        return sum(len(block.ids) for block in examples)

    def wanted(self, example: TextBlock) -> int:
        """How many characters are to be told."""
        return example.characters

    def validation(self, found: Tally, examples: Sequence[TextBlock]) -> Validation:
        known = super().validation(found, examples)
        bits = Likelihood.summed(found.counts).bits(sum(map(self.wanted, examples)))
        return Validation(known.loss, {**known.measures, "bits_per_character": bits})

    def facts(self, one: LanguageEvaluation) -> dict[str, str]:
        return {t("bits per byte"): f"{one.bits_per_byte:.4f}", **super().facts(one)}

    def samples(self, module: Language, one: LanguageEvaluation) -> list[Sample]:
        """Beginnings from all over the corpus, how they went on, and how the model goes on."""
        chosen, decode = spread(one.examples, SAMPLES), module.tokenizer.decode
        prompts = [decode(block.ids[: min(PROMPT, len(block.ids) // 2)]) for block in chosen]
        settings = search_settings(self.recipe, **DRAW)
        written = module.generate(prompts, settings, length=CONTINUED)
        return [
            Sample(
                source=prompt,
                reference=decode(block.ids[: PROMPT + CONTINUED])[len(prompt) :],
                hypothesis=answer.text[len(prompt) :],
                asked=answer.text,
            )
            for prompt, block, answer in zip(prompts, chosen, written, strict=True)
        ]

    def sample_names(self) -> SampleNames:
        answer = t("the model's (temperature {temperature})", temperature=TEMPERATURE)
        return SampleNames(t("Continued"), t("beginning"), t("how it went on"), answer)

    def next_steps(self, folder: Path) -> list[NextStep]:
        first = f"regard generate -m {folder} --sample", t("Let it write.")
        then = f"regard evaluate -m {folder} --data book.txt", t("Score it on another text.")
        return [NextStep(*first), NextStep(*then)]

    # what it looks at

    def readings(self, module: Language, examples: Sequence[TextBlock]) -> Iterator[Reading | None]:
        from regard.tasks.language.language_explain import LanguageReading

        for block in examples:
            ids = list(block.ids)[:LONGEST_EXPLAINED]
            yield LanguageReading(module, ids) if ids else None

    def look(self, module: Language, question: Question, *, model: str = "") -> AttentionRecord:
        from regard.tasks.language.language_look import look_at_language

        return look_at_language(module, question, model=model, language=self.recipe.data.source)
