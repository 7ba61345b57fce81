"""How good captions are, and which score says nothing about short ones."""

from __future__ import annotations

from functools import cached_property

from regard.measures.translation_measures import ORDER, CorpusBleu
from regard.tasks.likelihood_task import LikelihoodEvaluation
from regard.words import t


class CaptionEvaluation(LikelihoodEvaluation):
    """With what is to be known of BLEU."""

    @cached_property
    def too_short(self) -> bool:
        """Whether no reference has an n-gram as long as the longest of BLEU, which is 0 of them then."""
        wanted = [self.task.wanted(example) for example in self.examples]
        found = [one for one in self.task.measured_by() if isinstance(one, CorpusBleu)]
        return bool(wanted and found) and not any(one.has_longest(wanted) for one in found)

    @property
    def reservations(self) -> list[str]:
        told = t(
            "BLEU says nothing here: it counts n-grams of up to {n} words, and no reference has so many; "
            "read exact_match",
            n=ORDER,
        )
        return super().reservations + [told] * self.too_short
