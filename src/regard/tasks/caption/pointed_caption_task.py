"""Captions of pictures where it is known what words name: does the model look at it meanwhile?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from regard.measures import Likelihood
from regard.measures.pointing_score import Pointing, PointingInside, PointingPeak
from regard.tasks.caption.caption_evaluation import CaptionEvaluation
from regard.tasks.caption.caption_task import CaptionTask
from regard.tasks.caption.captioner import PictureCaptioner, ReadCaption
from regard.tasks.judged_items import JudgedItems
from regard.tasks.task import Tally, Validation
from regard.words import t


@dataclass(frozen=True)
class PointedEvaluation(CaptionEvaluation):
    """Captions of pictures where it is known what the words name."""

    @property
    def likelihood(self) -> Likelihood:
        return Likelihood.summed(self.counts[:3])

    @property
    def pointing(self) -> Pointing:
        return Pointing(*self.counts[3:])  # type: ignore[arg-type]

    @property
    def text(self) -> str:
        found, count = self.pointing, max(self.pointing.words, 1)
        chance = t(
            "by chance, pointing would be {peaks} % and weight inside {inside} %, of {words} words that "
            "name something",
            peaks=f"{100 * found.peaks_by_chance / count:.1f}",
            inside=f"{100 * found.inside_by_chance / count:.1f}",
            words=f"{int(found.words):,}",
        )
        return f"{super().text}\n{chance}"

    def to_dict(self) -> dict[str, Any]:
        found, count = self.pointing, max(self.pointing.words, 1)
        chance = {
            "pointing_by_chance": found.peaks_by_chance / count,
            "weight_inside_by_chance": found.inside_by_chance / count,
        }
        return {**super().to_dict(), **chance, "named": int(found.words)}


class PointedCaptionTask(CaptionTask):
    """With the boxes of what words name: the pointing score, of the captions that the examples have."""

    columns: ClassVar[tuple[str, ...]] = (*CaptionTask.columns, "pointing", "weight_inside")
    evaluation: ClassVar = PointedEvaluation
    pointed_by: ClassVar = (PointingPeak(), PointingInside())

    @property
    def shares(self) -> Set[str]:
        return super().shares | {one.name for one in self.pointed_by}

    def read_and_pointed(
        self, module: PictureCaptioner, examples: Sequence[Any]
    ) -> tuple[list[Likelihood], list[Pointing]]:
        read, pointed = dict[int, Likelihood](), dict[int, Pointing]()
        for row, one in self.read_captions(module, examples, weights=True):
            read[row], pointed[row] = one.likelihood, self.pointing(module, examples[row], one)
        order = range(len(examples))
        return [read[row] for row in order], [pointed[row] for row in order]

    def pointing(
        self, module: PictureCaptioner, example: Mapping[str, Any], read: ReadCaption
    ) -> Pointing:
        """Of each word that names something; one that is several tokens looks at the mean of theirs."""
        if read.weights is None:
            return Pointing()
        found, grid = Pointing(), self.grid(module, example)
        height, width = example["image"].shape[:2]
        cell = module.model.encoder.cell
        (tokens,) = self.caption.tokens([example["caption"]])
        for start, end, *box in example["boxes"].tolist():
            rows = [i for i, (a, b) in enumerate(tokens.offsets) if a < end and b > start]
            if rows:
                weights = read.weights[rows].mean(0).double().numpy()
                found += Pointing.of_word(weights, box, grid, (cell / height, cell / width))
        return found

    def judge(self, module: PictureCaptioner, examples: Sequence[Any]) -> JudgedItems:
        judged = super().judge(module, examples)
        _, pointed = self.read_and_pointed(module, examples)
        return self._with_pointed(judged, pointed, examples)

    def judged_items(self, found: Tally, examples: Sequence[Any]) -> JudgedItems:
        if len(found.each) != len(examples):
            return super().judged_items(found, examples)
        read, pointed = [one for one, _ in found.each], [one for _, one in found.each]
        judged = super().judged_items(found._replace(each=read), examples)
        return self._with_pointed(judged, pointed, examples)

    def _with_pointed(
        self, judged: JudgedItems, pointed: Sequence[Pointing], examples: Sequence[Any]
    ) -> JudgedItems:
        more = [(one, one.counts(examples, pointed)) for one in self.pointed_by]
        return replace(judged, counts=[*judged.counts, *more])

    def tally(
        self, module: PictureCaptioner, examples: Sequence[Any], *, beam: int | None = None
    ) -> Tally:
        read, pointed = self.read_and_pointed(module, examples)
        tally = self.counted(module, examples, read, beam)
        counts = (*tally.counts, *sum(pointed, Pointing()).counts)
        return tally._replace(counts=counts, each=list(zip(read, pointed, strict=True)))

    def validation(self, found: Tally, examples: Sequence[Any]) -> Validation:
        base = super().validation(found._replace(counts=found.counts[:3]), examples)
        words, peaks, inside, *_ = found.counts[3:]
        pointed = {"pointing": peaks / max(words, 1), "weight_inside": inside / max(words, 1)}
        return replace(base, measures={**base.measures, **pointed})
