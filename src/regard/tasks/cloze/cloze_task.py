"""A cloze: which name stood in the text, so many words back; accuracy by that distance."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

from torch import nn

from regard.data.batch import Batch
from regard.data.cloze import NAMES, clozes
from regard.data.examples import Example, read_examples
from regard.data.fields import Field, Label, Text
from regard.data.problems import Problems
from regard.data.spec import Corpus, Spec, parse
from regard.data.tokenizer import UNK
from regard.measures.accuracy import Accuracy
from regard.measures.measure import Measure
from regard.recipe.mistakes import RecipeError
from regard.tasks.answer import Answer, Examples
from regard.tasks.cloze.cloze_module import Cloze
from regard.tasks.cloze.cloze_options import ClozeOptions
from regard.tasks.evaluation import Measured
from regard.tasks.report_part import Drawing
from regard.tasks.task import Task
from regard.view.charts import Axis, Chart, Line, Point
from regard.view.markup import element
from regard.words import t


@dataclass(frozen=True)
class ClozeEvaluation(Measured):
    """How often a run tells the name, and from how far."""

    @property
    def by_distance(self) -> dict[int, float]:
        """The accuracy at each distance."""
        pairs: dict[int, list[tuple[str, str]]] = {}
        for example, answer in zip(self.examples, self.answers, strict=True):
            pairs.setdefault(example["distance"], []).append((example["name"], answer))
        return {at: Accuracy().of(*zip(*pairs[at], strict=True)) for at in sorted(pairs)}

    @property
    def table(self) -> str:
        found = self.by_distance
        wide = [max(len(f"{at}"), 5) for at in found]
        heads = (f"{at:>{cells}}" for at, cells in zip(found, wide, strict=True))
        rows = (f"{100 * x:>{cells}.1f}" for x, cells in zip(found.values(), wide, strict=True))
        names = (t("words back"), f"{t('accuracy')}, %")
        first = max(map(len, names))
        return "\n".join(
            "  ".join([f"{name:<{first}}", *cells])
            for name, cells in zip(names, (heads, rows), strict=True)
        )

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "accuracy_by_distance": self.by_distance}


class ClozeTask(Task):
    columns: ClassVar = ("accuracy",)
    inputs: ClassVar = ("text",)
    noun: ClassVar = "texts"
    scored: ClassVar = "names"
    learns: ClassVar = "words"
    verb: ClassVar = "tell the name"
    kept_input: ClassVar = "standard-input.txt"
    evaluation: ClassVar = ClozeEvaluation

    text: Text
    name: Label

    @property
    def options(self) -> ClozeOptions:
        return cast(ClozeOptions, self.recipe.task)

    def make_fields(self) -> Sequence[Field]:
        given = {**self.recipe.tokenizer.source.model_dump(), "kind": "split"}
        self.text = Text("text", **given, bos=True, eos=False, file="tokenizer.json")
        self.name = Label("name")
        return self.text, self.name

    # the data

    def corpora(self, spec: Spec) -> list[Corpus]:
        return parse(spec, ["text"])

    def read(self, spec: Spec, problems: Problems | None = None) -> Iterator[Example]:
        lines = read_examples(spec, [Text("text")], problems)
        return clozes(lines, self.options.distances, NAMES[: self.options.names])

    @property
    def made_by(self) -> list[int | str | None]:
        return [self.options.names, *self.options.distances, *super().made_by]

    # the model

    def for_training(self, model: nn.Module) -> Cloze:
        tokens = [ids[0] for ids in self.text.tokenizer.encode_ids(self.name.labels)]
        if UNK in tokens:
            raise RecipeError(
                t(
                    "tokenizer.source.size={size} has no room for the names",
                    size=self.recipe.tokenizer.source.size,
                ),
                t("make it larger, or task.names smaller"),
            )
        return Cloze(model, tokens, label_smoothing=self.recipe.training.label_smoothing)

    def answers(self, module: Cloze, batch: Batch) -> Iterator[tuple[str, float]]:
        """A score is the log-probability of the name."""
        best, names = module.logits(batch["text"], batch["text_mask"]).log_softmax(-1).max(-1)
        for name, score in zip(names.tolist(), best.tolist(), strict=True):
            yield self.name.labels[name], score

    def predict(
        self,
        module: Cloze,
        examples: Examples,
        *,
        attention: bool = False,
        batch: int,
    ) -> list[Answer]:
        """attention: of the last word, after which the name is told."""
        found = super().predict(module, examples, attention=attention, batch=batch)
        return [
            one
            if one.attention is None
            else replace(one, attention=one.attention[-1:], rows=[one.line])
            for one in found
        ]

    def probability(self, answer: Answer) -> float | None:
        return None if answer.score is None else math.exp(answer.score)

    # how good it is

    def measured_by(self) -> Sequence[Measure]:
        return (Accuracy(),)

    def drawings(self, found: Mapping[str, Any]) -> Sequence[Drawing]:
        curves = {name: one.by_distance for name, one in found.items()}
        chart = element("figure", distance_chart(curves).inline())
        return [Drawing(t("How far back it remembers"), chart)]


def distance_chart(curves: Mapping[str, Mapping[int, float]]) -> Chart:
    """Accuracy by distance, one line for each that is compared."""
    distances = sorted({at for curve in curves.values() for at in curve})
    places = {at: float(place) for place, at in enumerate(distances)}
    lines = [
        Line(
            name, [Point(places[at], 100 * x, f"{at}: {100 * x:.1f} %") for at, x in curve.items()]
        )
        for name, curve in curves.items()
    ]
    ticks = [(place, [f"{at}"]) for at, place in places.items()]
    x = Axis(t("words back"), -0.4, len(distances) - 0.6, ticks)
    return Chart(t("accuracy by distance"), lines, x, Axis.of("%", [0.0, 100.0]))
