"""Captions: pictures, or what else there is to tell of, and what is said of them; exact match, BLEU and
perplexity.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from torch import nn

from regard.data.fields import Field, Image, Label, Numbers, Text
from regard.data.spec import Spec
from regard.data.store import Store
from regard.data.unspaced import LOOKED_AT, is_unspaced
from regard.measures import Likelihood
from regard.measures.exact_match import ExactMatch
from regard.measures.measure import Measure
from regard.measures.translation import MeasuredScore
from regard.measures.translation_measures import CorpusBleu
from regard.measures.verse_form import VerseForm
from regard.records.question import Question
from regard.records.record import AttentionRecord
from regard.records.side import cell_names
from regard.search import Search
from regard.tasks.answer import Answer, Examples
from regard.tasks.caption.caption_evaluation import CaptionEvaluation
from regard.tasks.caption.caption_loss import CaptionTraining, ChosenCells
from regard.tasks.caption.caption_options import CaptionOptions
from regard.tasks.caption.captioner import PictureCaptioner, ReadCaption
from regard.tasks.likelihood_task import LikelihoodTask
from regard.tasks.prediction import Prediction
from regard.tasks.report_part import NextStep
from regard.tasks.search_settings import search_settings
from regard.tasks.task import Extent, Tally
from regard.tasks.translate.translate_evaluation import bleu_tokenizer
from regard.tasks.translate.translate_task import is_hard
from regard.view.samples import SampleNames
from regard.words import t


class OfTexts:
    """What examples that are texts, as titles, are called."""

    noun: ClassVar = "texts"
    learns: ClassVar = "words"


class OfVectors:
    """What examples that are vectors are called."""

    noun: ClassVar = "vectors"
    learns: ClassVar = "sizes of vectors and words"


class OfVectorSequences:
    """What examples that are sequences of vectors are called."""

    noun: ClassVar = "sequences"
    learns: ClassVar = "sizes of vectors and words"


class OfLabels:
    """What examples that are labels, each with its text, are called."""

    noun: ClassVar = "examples"
    learns: ClassVar = "labels and words"


CALLED: dict[str, Any] = {
    "text": OfTexts,
    "vector": OfVectors,
    "numbers": OfVectorSequences,
    "label": OfLabels,
}


class CaptionTask(LikelihoodTask):
    columns: ClassVar[tuple[str, ...]] = ("perplexity", "accuracy", "exact_match", "bleu")
    inputs: ClassVar[tuple[str, ...]] = ("image",)
    noun: ClassVar = "pictures"
    verb: ClassVar = "describe pictures"
    learns: ClassVar = "pixels and words"
    searches: ClassVar = True
    evaluated_with: ClassVar = ("beam",)
    evaluation: ClassVar[type[CaptionEvaluation]] = CaptionEvaluation

    source: Image | Numbers | Label | Text  # what is told of
    caption: Text

    @property
    def options(self) -> CaptionOptions:
        assert isinstance(self.recipe.task, CaptionOptions)
        return self.recipe.task

    def make_fields(self) -> Sequence[Field]:
        given, longest = self.options, self.recipe.data.max_length
        self.source = self._make_source()
        self.inputs = (given.source,)  # type: ignore[misc]  # by the recipe, not by the class
        if given.verses:
            self.columns = (*self.columns, VerseForm.name)  # type: ignore[misc]
        if given.input in CALLED:
            called = CALLED[given.input]
            self.noun, self.learns = called.noun, called.learns  # type: ignore[misc]
        tokenizer = self.recipe.tokenizer.target.model_dump()
        self.caption = Text("caption", **tokenizer, max_length=longest, bos=True)
        fields: list[Field] = [self.source, self.caption]
        if given.prompt:
            self.inputs = (given.source, "prompt")  # type: ignore[misc]
            fields.insert(1, Text("prompt", like=self.caption, eos=False, blank=True))
        if given.boxes:
            fields.append(Numbers("boxes", 6, sequence=True))
        return fields

    def cut_by(self, name: str) -> str:
        return "source" if name == self.source.name else "target"

    def _make_source(self) -> Image | Numbers | Label | Text:
        given, name = self.options, self.options.source
        match given.input:
            case "image":
                return Image(name, channels=given.channels, size=given.size)
            case "numbers" | "vector":
                return Numbers(name, sequence=given.input == "numbers", standardise=True)
            case "label":
                return Label(name)
            case _:
                cut: dict[str, Any] = self.recipe.tokenizer.source.model_dump()
                return Text(name, **cut, max_length=self.recipe.data.max_length, cut=True)

    def learn(self, spec: Spec) -> None:
        """In one pass, since pictures take their time. Words of prompts are learnt with those of captions."""
        names = ("caption", "prompt") if self.options.prompt else ("caption",)
        texts, boxes = list[str](), list[Any]()

        def pictures() -> Iterator[Any]:
            for one in self.read(spec):
                texts.extend(one[name] for name in names)
                if self.options.boxes:
                    boxes.append(one["boxes"])
                yield one[self.source.name]

        self.source.learn(pictures())
        self.caption.learn(texts)
        if self.caption.settings["kind"] == "bpe" and self._says_clauses(texts):
            self.caption.settings["kind"] = "character"
            self.caption.learn(texts)
        if self.options.boxes:
            self.fields["boxes"].learn(boxes)

    def _says_clauses(self, texts: Sequence[str]) -> bool:
        """Whether pieces that were learnt of a script without spaces are longer than its words.

        Of few captions whole ones are put together, which are then said at once, at one look.
        """
        first = texts[:LOOKED_AT]
        if not self.caption.unspaced(first):
            return False
        return is_unspaced(" ".join(each.pieces) for each in self.caption.tokens(first))

    @property
    def chosen_characters(self) -> bool:
        """Whether captions are said by character though the recipe has it otherwise."""
        return (
            self.recipe.tokenizer.target.kind == "bpe"
            and self.caption.tokenizer.kind == "character"
        )

    def describe(self, store: Store) -> str:
        found = super().describe(store)
        if not self.chosen_characters:
            return found
        told = t(
            "captions without spaces between words are said by character "
            "(tokenizer.target.kind=character): pieces would be whole clauses, each said at one look"
        )
        return t("; ").join([found, told])

    def wanted(self, example: Any) -> str:
        text: str = example["caption"]
        return text

    # the model

    def for_training(self, model: nn.Module) -> CaptionTraining:
        training = self.recipe.training
        given, reinforce = training.reinforce, None
        if is_hard(self.recipe):
            reinforce = ChosenCells(baseline=given.baseline != "none", entropy=given.entropy)
        return CaptionTraining(
            model,
            self.caption.tokenizer,
            source=self.source.name,
            label_smoothing=training.label_smoothing,
            reinforce=reinforce,
            reinforce_weight=given.weight,
        )

    def for_inference(self, model: nn.Module) -> PictureCaptioner:
        return PictureCaptioner(model, self.caption.tokenizer, source=self.source.name)

    def predict(
        self, module: PictureCaptioner, examples: Examples, *, attention: bool = False, batch: int
    ) -> list[Answer]:
        return self._described(module, examples, attention=attention, batch=batch)

    def _described(
        self,
        module: PictureCaptioner,
        examples: Examples,
        *,
        attention: bool = False,
        batch: int,
        beam: int | None = None,
    ) -> list[Answer]:
        settings = search_settings(self.recipe, beam=beam, attention=attention)
        answers = []
        for example, one in zip(
            examples, self.write(module, examples, settings, batch=batch), strict=True
        ):
            answer = Answer(self.bare(example), one.text, one.score)
            if one.attention is not None:
                cells = self.cell_names(module, example)
                answer = replace(answer, attention=one.attention, rows=one.rows, columns=cells)
            answers.append(answer)
        return answers

    def write(
        self, module: PictureCaptioner, examples: Examples, settings: Search, *, batch: int
    ) -> list[Prediction]:
        """A caption of each, searched for or drawn as the settings say."""
        found: dict[int, Prediction] = {}
        with module.inference():
            for rows, tensors in self.batches(examples, module.device, inputs=True, batch=batch):
                found |= zip(rows, module.captions(tensors, settings, rows), strict=True)
        shown = (self.fields[self.source.name].show(one[self.source.name]) for one in examples)
        return [replace(found[row], source=source) for row, source in enumerate(shown)]

    def bare(self, example: Mapping[str, Any]) -> Any:
        """Of a picture, what it is like: its pixels are with whoever gave it."""
        shown = {name: self.fields[name].show(example[name]) for name in self.inputs}
        return shown if len(shown) > 1 else shown[self.source.name]

    def drawn(self, answer: Answer) -> str:
        """The caption; what it looked at is a picture, which `regard look` shows."""
        return self.line(answer)

    def grid(self, module: PictureCaptioner, example: Mapping[str, Any]) -> tuple[int, int]:
        """Rows and columns of the cells of a picture; vectors stand in one row."""
        value = example[self.source.name]
        if self.options.input != "image":
            return 1, len(value)
        grid: tuple[int, int] = module.model.encoder.grid(*value.shape[:2])
        return grid

    def cell_names(self, module: PictureCaptioner, example: Mapping[str, Any]) -> list[str]:
        rows, columns = self.grid(module, example)
        if self.options.input != "image":
            return [str(number + 1) for number in range(columns)]
        return cell_names(rows, columns)

    # how good it is

    def read_captions(
        self, module: PictureCaptioner, examples: Sequence[Any], *, weights: bool = False
    ) -> Iterator[tuple[int, ReadCaption]]:
        """The captions that the examples have, as the model reads them, with their numbers."""
        with module.inference():
            for rows, tensors in self.batches(examples, module.device):
                yield from zip(rows, module.read(tensors, weights=weights), strict=True)

    def likelihoods(self, module: PictureCaptioner, examples: Sequence[Any]) -> list[Likelihood]:
        found = {row: one.likelihood for row, one in self.read_captions(module, examples)}
        return [found[row] for row in range(len(examples))]

    def measured_by(self) -> Sequence[Measure]:
        known = "zh" if self.chosen_characters else bleu_tokenizer(self.recipe)
        tokenize = self.options.bleu_tokenize or known
        found = ExactMatch(self.recipe.data.target), CorpusBleu(tokenize)
        return (*found, VerseForm()) if self.options.verses else found

    def tally(
        self, module: PictureCaptioner, examples: Sequence[Any], *, beam: int | None = None
    ) -> Tally:
        """beam: that of a validation if not given."""
        return self.counted(module, examples, self.likelihoods(module, examples), beam)

    def counted(
        self,
        module: PictureCaptioner,
        examples: Sequence[Any],
        read: Sequence[Likelihood],
        beam: int | None,
    ) -> Tally:
        start, beam = time.monotonic(), beam or self.recipe.search.validation_beam
        found = self._described(module, examples, batch=self.batch_for(module), beam=beam)
        total, texts = sum(read, Likelihood()), [one.answer for one in found]
        seconds = time.monotonic() - start
        return Tally((total.nll, total.tokens, total.correct), texts, seconds, each=read)

    # what is said of it

    def scores(self, one: CaptionEvaluation) -> Sequence[MeasuredScore]:
        """Without a BLEU that says nothing."""
        shown = [name for name in one.measures if name != CorpusBleu.name or not one.too_short]
        return [self._score(one, name, one.corpus) for name in shown]

    def sample_names(self) -> SampleNames:
        title, told = t("Pictures with another caption"), t("picture")
        if self.options.input in CALLED:
            title, told = t("What was told otherwise"), t("told of")
        return SampleNames(title, told, t("reference"), t("caption"))

    def next_steps(self, folder: Path) -> list[NextStep]:
        what = self.options.source.upper() if self.options.input in CALLED else "PICTURE"
        own = (
            t("Tell of others.")
            if self.options.input in CALLED
            else t("Describe pictures of your own.")
        )
        steps = [NextStep(f"regard predict -m {folder} {what}", own)]
        if getattr(self.recipe.model, "attention", None) is not None:
            seen = t("See what each word looks at.")
            steps.append(NextStep(f"regard look -m {folder} {what}", seen))
        scored = t("Score it on another test set.")
        return [*steps, NextStep(f"regard evaluate -m {folder} --data SPEC", scored)]

    # what it looks at

    def extent(self, example: Mapping[str, Any]) -> Extent:
        return super().extent(example)._replace(target=None, beam=search_settings(self.recipe).beam)

    def look(
        self, module: PictureCaptioner, question: Question, *, model: str = ""
    ) -> AttentionRecord:
        from regard.tasks.caption.caption_look import look_at_caption

        return look_at_caption(self, module, question, model=model)
