"""Naming pictures: a picture and its label, accuracy, what is taken for what, and where was looked."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from regard.data.batch import Batch, collate
from regard.data.examples import Example
from regard.data.fields import Field, Label
from regard.data.fields.read_picture import like
from regard.data.problems import Problems
from regard.data.spec import Spec
from regard.data.store import Store
from regard.measures.accuracy import Accuracy
from regard.measures.measure import Measure
from regard.models.seeing.patch_options import PatchOptions
from regard.models.seeing.ram_options import RamOptions
from regard.recipe.mistakes import RecipeError
from regard.records.question import Question
from regard.records.record import AttentionRecord
from regard.tasks.answer import Answer, Examples
from regard.tasks.confused_labels import LabelEvaluation, confusion_drawings
from regard.tasks.report_part import Drawing, NextStep
from regard.tasks.see.patch_look import PatchWeights, sight_of_patches
from regard.tasks.see.picture_view import CLUTTERED, SUM, PictureView
from regard.tasks.see.scene_image import SceneImage
from regard.tasks.see.see_module import See
from regard.tasks.see.see_options import SeeOptions
from regard.tasks.task import Extent, Tally, Task, Validation
from regard.view.samples import SampleNames
from regard.words import t

KEPT = 512  # pictures that clutter is cut from, and up to twice as many
BASELINE_ERROR = "baseline_error"


class JudgedPicture(NamedTuple):
    """What is told of one picture."""

    log_probs: Tensor  # (K,) float64
    places: tuple[tuple[float, float], ...]  # where was looked, one after the other
    missed: float  # mean over glimpses of (reward expected before it)², for a reward of 0
    expected: float  # the mean of what was expected
    patches: PatchWeights | None = None  # if it was asked for, and the model attends to patches


class SeeTask(Task):
    columns: ClassVar[tuple[str, ...]] = ("accuracy",)
    inputs: ClassVar = ("image",)
    noun: ClassVar = "pictures"
    scored: ClassVar = "pictures"
    verb: ClassVar = "name pictures"
    learns: ClassVar = "pictures and labels"
    probable: ClassVar = True
    evaluation: ClassVar = LabelEvaluation

    image: SceneImage
    label: Label
    options: SeeOptions

    def make_fields(self) -> Sequence[Field]:
        self.options = self.recipe.task  # type: ignore[assignment]
        cut = self.options.view == CLUTTERED
        self.image = SceneImage(
            "image",
            channels=self.options.channels,
            size=self.options.size,
            kept=KEPT if cut else 0,
            beside=2 if self.options.view == SUM else 1,
        )
        self.label = Label("label")
        model = self.recipe.model
        if isinstance(model, RamOptions) and model.policy == "learned":
            self.diagnostics = (BASELINE_ERROR,)  # type: ignore[misc]
        return self.image, self.label

    @property
    def view(self) -> PictureView:
        """With what the fields know."""
        options = self.options
        return PictureView(
            options.view,
            ground=options.ground,
            pieces=options.pieces,
            piece=options.piece,
            bank=self.image.bank,
            grows=options.grows,
        )

    @property
    def names(self) -> list[str]:
        """What can be answered: the labels, or the sums of two."""
        if self.options.view != SUM:
            return self.label.labels
        if self.label.labels != [str(n) for n in range(len(self.label.labels))]:
            raise RecipeError(
                t(
                    "task.view=sum adds labels, which must be 0, 1, 2, … and are {named}",
                    named=self.label.named,
                )
            )
        return [str(n) for n in range(2 * len(self.label.labels) - 1)]

    @property
    def sizes(self) -> dict[str, Any]:
        """Of scenes, not of the pictures that they are made of."""
        if self.image.shape is None:
            return super().sizes
        try:
            shape = self.view.size((self.image.channels, *self.image.shape))
        except ValueError as error:
            raise RecipeError(str(error)) from None
        return {"image": shape, "label": len(self.names)}

    def for_training(self, model: nn.Module) -> See:
        self.image.scene = tuple(self.sizes["image"][1:])
        return See(model, self.view, label_smoothing=self.recipe.training.label_smoothing)

    def examples(
        self, spec: Spec, problems: Problems | None = None, *, join: int | None = None
    ) -> list[Any]:
        """Of sums, each picture beside the next one, and the last beside the first."""
        found = super().examples(spec, problems, join=join)
        if self.options.view != SUM:
            return found
        return [
            _added(one, other) for one, other in zip(found, [*found[1:], *found[:1]], strict=True)
        ]

    def describe(self, store: Store) -> str:
        """With the view, where pictures are not seen as they are."""
        there, options = super().describe(store), self.options
        if options.view == "plain":
            return there
        _, height, width = self.sizes["image"]
        plain = "task.view=plain task.grows=0" if options.grows else "task.view=plain"
        said = {"view": options.view, "width": width, "height": height, "plain": plain}
        if options.view == CLUTTERED:
            seen = t(
                "each seen as: {view}, {pieces} pieces of others, {width} x {height}; {plain} shows them as "
                "they are",
                **said,
                pieces=options.pieces,
            )
        else:
            seen = t(
                "each seen as: {view}, {width} x {height}; {plain} shows them as they are", **said
            )
        return t("; ").join([there, seen])

    # what it answers

    def predict(
        self, module: See, examples: Examples, *, attention: bool = False, batch: int
    ) -> list[Answer]:
        """Of examples of a corpus, in the view of the task."""
        return self._answered(module, examples, attention=attention, batch=batch)

    def reply(
        self, module: See, examples: Examples, *, attention: bool = False, batch: int
    ) -> list[Answer]:
        """Of pictures that somebody asks about, which are seen as they are, in the middle of the ground."""
        asked = [self.on_ground(example) for example in examples]
        return self._answered(module, asked, attention=attention, batch=batch, as_it_is=True)

    def on_ground(self, example: Mapping[str, Any]) -> dict[str, Any]:
        """A picture that is asked about in the middle of the ground, unless it is as large."""
        image, scene = example["image"], self.image.scene
        if scene is None or self.options.view == SUM:
            return dict(example)
        room = [(n - have) for n, have in zip(scene, image.shape, strict=False)]
        padded = np.pad(image, [*((n // 2, n - n // 2) for n in room), (0, 0)])
        return {**example, "image": like(padded, image)}

    def _answered(
        self,
        module: See,
        examples: Examples,
        *,
        attention: bool = False,
        batch: int,
        as_it_is: bool = False,
    ) -> list[Answer]:
        names = self.names
        answers = []
        found = self._named(module, examples, batch, attention=attention, as_it_is=as_it_is)
        for example, one in zip(examples, found, strict=True):
            best = int(one.log_probs.argmax())
            chance = float(one.log_probs[best].exp())
            shown = self.image.show(example["image"])
            answer = Answer(shown, names[best], chance, places=one.places)
            if one.patches is not None:
                cells = one.patches.cells
                rows = [names[best]] if one.patches.pooled else cells
                weights = one.patches.weights
                answer = replace(answer, attention=weights, rows=rows, columns=cells)
            answers.append(answer)
        return answers

    def _named(
        self,
        module: See,
        examples: Examples,
        batch: int,
        *,
        attention: bool = False,
        as_it_is: bool = False,
    ) -> list[JudgedPicture]:
        """Each example, in their order."""
        found: dict[int, JudgedPicture] = {}
        with module.inference():
            for rows, tensors in self.batches(examples, module.device, inputs=True, batch=batch):
                pictures = module.scene(tensors["image"], as_it_is=as_it_is).pictures
                seen, weights = (
                    sight_of_patches(module, pictures)
                    if attention
                    else (module.sight(pictures), None)
                )
                places = module.places(seen, pictures)
                chances = seen.logits.double().log_softmax(-1).cpu()
                paths = [()] * len(rows) if places is None else places.cpu().tolist()
                told = [(0.0, 0.0)] * len(rows)
                if seen.expected is not None:
                    each = seen.expected.double()
                    told = torch.stack((each.square().mean(1), each.mean(1)), 1).cpu().tolist()
                for row, chance, path, (square, mean) in zip(
                    rows, chances, paths, told, strict=True
                ):
                    at = tuple((x, y) for x, y in path)
                    found[row] = JudgedPicture(chance, at, square, mean)
                if weights is not None:
                    for row, of_patches in zip(rows, weights, strict=True):
                        found[row] = found[row]._replace(patches=of_patches)
        return [found[row] for row in range(len(examples))]

    def drawn(self, answer: Answer) -> str:
        """The answer, its probability, and where was looked."""
        line = self.line(answer)
        if not answer.places:
            return line
        path = " → ".join(f"({x:+.2f}, {y:+.2f})" for x, y in answer.places)
        return f"{line}\n{t('looked at {path}', path=path)}"

    # how good it is

    def batches(
        self,
        examples: Examples,
        device: torch.device,
        *,
        inputs: bool = False,
        batch: int | None = None,
    ) -> Iterator[tuple[list[int], Batch]]:
        """In their order: all pictures are of one size."""
        fields = [self.fields[name] for name in (self.inputs if inputs else self.fields)]
        size = batch or self._batch(device)
        for start in range(0, len(examples), size):
            some = examples[start : start + size]
            columns = {field.name: field.encode(some) for field in fields}
            parts = [
                {name: column[i] for name, column in columns.items()} for i in range(len(some))
            ]
            rows = list(range(start, start + len(some)))
            yield rows, collate(fields, parts, rows).to(device)

    def count_scored(self, examples: Examples) -> int:
        return len(examples)

    def measured_by(self) -> Sequence[Measure]:
        return (Accuracy(),)

    def tally(self, module: See, examples: Sequence[Any], *, beam: int | None = None) -> Tally:
        """The loss is that of the answers: what is seen is seen once."""
        start, names = time.monotonic(), self.names
        numbers = {name: number for number, name in enumerate(names)}
        found = self._named(module, examples, self.batch_for(module))
        answers = [names[int(one.log_probs.argmax())] for one in found]
        nll, missed = 0.0, 0.0
        for one, answer, example in zip(found, answers, examples, strict=True):
            wanted = example["label"]
            nll -= float(one.log_probs[numbers[wanted]])
            reward = float(answer == wanted)
            missed += one.missed + reward * (1 - 2 * one.expected)  # (R - b)², R is 0 or 1
        seconds = time.monotonic() - start
        return Tally((nll, float(len(examples)), missed), answers, seconds)

    def validation(self, found: Tally, examples: Sequence[Any]) -> Validation:
        nll, scored, missed = found.counts
        measures = self.measure(found.answers, examples)
        if BASELINE_ERROR in self.diagnostics:
            measures[BASELINE_ERROR] = missed / max(scored, 1)
        return Validation(nll / max(scored, 1), measures)

    # what is said of it

    def drawings(self, found: Mapping[str, Any]) -> Sequence[Drawing]:
        return confusion_drawings(found)

    def sample_names(self) -> SampleNames:
        return SampleNames(t("Wrong answers"), t("picture"), t("label"), t("answer"))

    def next_steps(self, folder: Path) -> Sequence[NextStep]:
        own = t("Name a picture of your own: bright on a dark ground, as those it learnt from.")
        look = t("See where it looked.")
        again = t("Score it on another test set.")
        return [
            NextStep(f"regard predict -m {folder} PICTURE.png", own),
            NextStep(f"regard look -m {folder} PICTURE.png", look),
            NextStep(f"regard evaluate -m {folder} --data IMAGES,LABELS", again),
        ]

    # what it looks at

    def extent(self, example: Mapping[str, Any]) -> Extent:
        """Of a model that reads patches, these; a label weighs each of them, or each of them all."""
        pixels, model = int(np.prod(example["image"].shape)), self.recipe.model
        if not isinstance(model, PatchOptions):
            return Extent(1 + pixels, weights=0)
        patches = math.prod(model.grid(*self.sizes["image"][1:]))
        pooled = model.pool == "attention" or model.encoder == "cnn"
        return Extent(1 + patches, weights=patches if pooled else patches**2)

    def look(self, module: See, question: Question, *, model: str = "") -> AttentionRecord:
        from regard.tasks.see.see_look import look_at_picture

        return look_at_picture(self, module, question, model=model)


def _added(one: Example, other: Example) -> Example:
    """Two pictures side by side, and the sum of their labels."""
    image = np.concatenate((one["image"], other["image"]), 1)
    label = str(int(one["label"]) + int(other["label"]))
    return replace(one, fields={**one.fields, "image": image, "label": label})
