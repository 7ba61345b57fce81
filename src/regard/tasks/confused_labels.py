"""How well labels are told, and what is taken for what: for every task whose answers are labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from regard.measures import Confusion
from regard.tasks.evaluation import Measured
from regard.tasks.report_part import Drawing
from regard.view.charts.confusion_chart import confusion_section, confusion_text
from regard.words import t


@dataclass(frozen=True)
class LabelEvaluation(Measured):
    """How well a run labels one corpus."""

    @property
    def confusion(self) -> Confusion:
        return Confusion.of([example["label"] for example in self.examples], self.answers)

    @property
    def table(self) -> str:
        return confusion_text(self.confusion)

    def to_dict(self) -> dict[str, Any]:
        found = self.confusion
        labels = found.labels
        return {
            **super().to_dict(),
            "macro_f1": found.macro_f1,
            "labels": labels,
            "confusion": [[found.count(a, b) for b in labels] for a in labels],
            "f1": {label: found.f1(label) for label in labels},
        }


def confusion_drawings(found: Mapping[str, Any]) -> Sequence[Drawing]:
    """Of the evaluations, by the name of their set."""
    confusions = {name: one.confusion for name, one in found.items()}
    return [Drawing(t("What is taken for what"), confusion_section(confusions))]
