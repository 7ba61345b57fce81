"""How good summaries are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from regard.measures.rouge import Rouge, RougeScore
from regard.tasks.likelihood_task import LikelihoodEvaluation


@dataclass(frozen=True)
class SummaryEvaluation(LikelihoodEvaluation):
    """The scores of a run on one corpus."""

    @property
    def rouge(self) -> dict[str, RougeScore]:
        """Means over the examples: of the F1s, too, not the F1 of mean precision and recall."""
        found: dict[str, RougeScore] = {}
        wanted = [self.task.wanted(example) for example in self.examples]
        for one in self.task.measured_by():
            if isinstance(one, Rouge) and wanted:
                each = [one.compare(*pair) for pair in zip(wanted, self.answers, strict=True)]
                found[one.name] = RougeScore(*np.mean(each, 0).tolist())
        return found

    def to_dict(self) -> dict[str, Any]:
        parts = {name: score._asdict() for name, score in self.rouge.items()}
        return {**super().to_dict(), "rouge": parts}
