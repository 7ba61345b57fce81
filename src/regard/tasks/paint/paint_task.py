"""Pictures that are drawn: how many nats each costs, new ones, and how one comes to be."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
from torch import nn

from regard.data.fields import Field, Image
from regard.measures.bound_measures import BoundLoss, Divergence, PictureBound, Reconstruction
from regard.measures.measure import Measure
from regard.records.png_image import PngImage
from regard.records.question import Question
from regard.records.record import AttentionRecord
from regard.tasks.answer import Answer, Examples
from regard.tasks.evaluation import Measured, measure_name
from regard.tasks.judged_items import JudgedItems, item_scores, worst_first
from regard.tasks.paint.paint_module import Paint
from regard.tasks.paint.paint_options import PaintOptions
from regard.tasks.report_part import Drawing, NextStep, ReportPart
from regard.tasks.task import Extent, Tally, Task, Validation
from regard.tasks.task_report import SAMPLES
from regard.view.markup import element
from regard.view.picture_sheet import picture_sheet
from regard.view.samples import Sample, SampleNames
from regard.words import t

SHEET = 64  # new pictures in a report


@dataclass(frozen=True)
class PaintEvaluation(Measured):
    """How probable a run finds the pictures of one corpus; its counts are those of `PaintTask.tally`."""

    @property
    def samples(self) -> int:
        return cast(PaintOptions, self.task.recipe.task).samples

    @property
    def estimate(self) -> float:
        """-log p of a picture by weights of the draws: below the bound, and above the truth in the mean."""
        return self.counts[4] / max(self.counts[1], 1)

    @property
    def text(self) -> str:
        return t(
            "bound {loss} nats a picture ({measures}), {name} {estimate}  ({told}, {samples} draws of each)",
            loss=f"{self.loss:.2f}",
            measures=self.words,
            name=measure_name("estimate"),
            estimate=f"{self.estimate:.2f}",
            told=self.told,
            samples=self.samples,
        )

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "estimate": self.estimate, "samples": self.samples}


class PaintTask(Task):
    columns: ClassVar = ("reconstruction", "divergence")
    inputs: ClassVar = ("image",)
    noun: ClassVar = "pictures"
    scored: ClassVar = "pictures"
    learns: ClassVar = "size of pictures"
    verb: ClassVar = "draw pictures"
    command: ClassVar = "generate"
    evaluation: ClassVar = PaintEvaluation

    image: Image

    @property
    def options(self) -> PaintOptions:
        return cast(PaintOptions, self.recipe.task)

    def make_fields(self) -> Sequence[Field]:
        channels, size = self.options.channels, self.options.size
        self.image = Image("image", channels=channels, size=size, standardise=False)
        return (self.image,)

    @property
    def sizes(self) -> dict[str, Any]:
        if self.image.shape is None:
            raise ValueError(
                t("the pictures are of several sizes: task.size='[28, 28]' stretches them to one")
            )
        return super().sizes

    def for_training(self, model: nn.Module) -> Paint:
        return Paint(model, binary=self.options.binary, seed=self.options.binary_seed)

    # what it answers

    def predict(
        self, module: Paint, examples: Examples, *, attention: bool = False, batch: int
    ) -> list[Answer]:
        """The bound of each picture, in nats: the less, the more such pictures it expects."""
        found = self.bounds(module, examples, self.options.samples, batch=batch)
        pairs = zip(examples, found, strict=True)
        return [Answer(self.bare(each), one.bound, -one.bound) for each, one in pairs]

    def line(self, answer: Answer) -> str:
        return "" if answer.answer is None else t("{bound} nats", bound=f"{answer.answer:.2f}")

    def wanted(self, example: Any) -> None:
        """Nothing is answered: a picture is its own."""

    def extent(self, example: Mapping[str, Any]) -> Extent:
        return Extent(int(np.prod(example["image"].shape)), weights=0)  # it has no attention

    # how good it is

    def bounds(
        self, module: Paint, examples: Examples, samples: int, *, batch: int | None = None
    ) -> list[PictureBound]:
        """What each of them costs, in their order."""
        found: dict[int, PictureBound] = {}
        with module.inference():
            for rows, tensors in self.batches(examples, module.device, batch=batch):
                found |= zip(rows, module.bounds(tensors["image"], samples), strict=True)
        return [found[row] for row in range(len(examples))]

    def count_scored(self, examples: Sequence[Any]) -> int:
        return len(examples)

    def measured_by(self) -> Sequence[Measure]:
        return Reconstruction(), Divergence()

    def judge(self, module: Paint, examples: Sequence[Any]) -> JudgedItems:
        found = self.bounds(module, examples, self.options.samples)
        return self.judged_items(Tally((), each=found), examples)

    def judged_items(self, found: Tally, examples: Sequence[Any]) -> JudgedItems:
        measures: list[Measure] = [BoundLoss(), *self.measured_by()]
        return JudgedItems([(one, one.counts(found.each, found.each)) for one in measures])

    def tally(
        self, module: Paint, examples: Sequence[Any], *, beam: int | None = None, samples: int = 1
    ) -> Tally:
        """Summed: the bound, how many pictures, its two parts, and the estimate."""
        start = time.monotonic()
        found = self.bounds(module, examples, samples)
        parts = [(b.bound, 1.0, b.reconstruction, b.divergence, b.estimate) for b in found]
        counts = tuple(np.array(parts, np.float64).reshape(-1, 5).sum(0).tolist())
        return Tally(counts, (), time.monotonic() - start, each=found)

    def validation(self, found: Tally, examples: Sequence[Any]) -> Validation:
        total, count, reconstruction, divergence, _ = found.counts
        count = max(count, 1)
        measures = {"reconstruction": reconstruction / count, "divergence": divergence / count}
        return Validation(total / count, measures)

    def evaluate(
        self, module: Paint, corpus: str, examples: Sequence[Any], *, beam: int | None = None
    ) -> PaintEvaluation:
        tally = self.tally(module, examples, samples=self.options.samples)
        found = self.validation(tally, examples)
        return PaintEvaluation(
            task=self,
            corpus=corpus,
            examples=examples,
            answers=(),
            counts=tally.counts,
            loss=found.loss,
            measures=found.measures,
            seconds=tally.seconds,
            items=self.judged_items(tally, examples),
        )

    # what is said of it

    def facts(self, one: PaintEvaluation) -> dict[str, str]:
        return {
            t("bound, nats a picture"): f"{one.loss:.2f}",
            measure_name("estimate"): f"{one.estimate:.2f}",
            t("draws of each picture"): f"{one.samples}",
        }

    def samples(self, module: Paint, one: PaintEvaluation) -> list[Sample]:
        """The pictures that cost most."""
        known = item_scores(one.items, ["loss"])
        if known is None:
            return []
        rows = worst_first(one.items, ["loss"])[:SAMPLES]
        return [
            replace(
                self.sample_of(one.examples[row], None),
                hypothesis=t("{bound} nats", bound=f"{known[1][row]:.2f}"),
                reference="",
            )
            for row in rows
        ]

    def sample_names(self) -> SampleNames:
        return SampleNames(t("The pictures that cost most"), t("picture"), "", t("cost"))

    def report(self, module: Paint, found: Mapping[str, Any], folder: Path) -> ReportPart:
        """With a sheet of new pictures."""
        with module.inference():
            canvases, _ = module.imagine(SHEET)
        pixels = (255 * canvases[:, -1]).round().byte().cpu().numpy().transpose(0, 2, 3, 1)
        sheet = PngImage.of(picture_sheet(pixels))
        image = element("img", src=sheet.source, alt=t("new pictures"), width=2 * sheet.width)
        part = super().report(module, found, folder)
        return replace(part, drawings=(*part.drawings, Drawing(t("New pictures"), image)))

    def next_steps(self, folder: Path) -> list[NextStep]:
        new = f"regard generate -m {folder} --count 64 -o pictures.png"
        look = f"regard look -m {folder} picture.png"
        return [
            NextStep(new, t("Let it draw.")),
            NextStep(look, t("See how it draws a picture of yours, step by step.")),
        ]

    # what it looks at

    def look(self, module: Paint, question: Question, *, model: str = "") -> AttentionRecord:
        from regard.tasks.paint.paint_look import look_at_drawing

        return look_at_drawing(self, module, question, model=model)
