"""BLEU and chrF from what sacreBLEU counts of every sentence: of all of them, or of any choice of them.

They equal `bleu` and `chrf` of the same sentences.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from regard.measures.measure import Counts, Measure

ORDER = 4  # the longest n-grams of BLEU
BETA2 = 4.0  # of chrF2: recall counts twice as much


class SacrebleuCounts(Measure):
    """What one of sacreBLEU's metrics counts of a sentence."""

    _metric: BLEU | CHRF

    def count(self, wanted: str, answer: str) -> Sequence[float]:
        return self.counts([wanted], [answer])[0].tolist()

    def counts(self, wanted: Iterable[Any], answers: Iterable[Any]) -> Counts:
        """(items, 10) of BLEU, (items, 18) of chrF"""
        found = self._metric._extract_corpus_statistics(list(answers), [list(wanted)])
        return np.array(found, dtype=np.float64)


class BleuParts(NamedTuple):
    """BLEU = brevity · (p₁ p₂ p₃ p₄)^¼"""

    precisions: tuple[float, ...]  # p₁ … p₄, in per cent
    brevity: float
    length_ratio: float  # hypotheses / references, in tokens


class CorpusBleu(SacrebleuCounts):
    """BLEU-4, smoothed; of a sentence: its length, the reference's, n-grams right and n-grams made."""

    name: ClassVar = "bleu"

    def __init__(self, tokenize: str = "13a") -> None:
        self._metric = BLEU(tokenize=tokenize, force=True)

    def has_longest(self, texts: Sequence[str]) -> bool:
        """Whether any of them has n-grams of `ORDER`; where none has, BLEU is 0."""
        return bool(self.counts(texts, texts)[:, -1].any())

    def parts(self, sums: Counts) -> BleuParts:
        """Of the sums of some sentences, (10,)."""
        made, wanted = float(sums[0]), float(sums[1])
        return BleuParts(
            precisions=tuple(np.nan_to_num(_precisions(sums)).tolist()),
            brevity=math.exp(min(0.0, 1 - wanted / made)) if made else 0.0,
            length_ratio=made / wanted if wanted else 0.0,
        )

    def value(self, sums: Counts) -> np.ndarray:
        made, wanted = sums[..., 0], sums[..., 1]
        right, total = sums[..., 2 : 2 + ORDER], sums[..., 2 + ORDER :]
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = np.log(_precisions(sums)).sum(-1) / ORDER
            short = np.where(made < wanted, np.exp(1 - wanted / made), 1.0)
            whole = (total > 0).all(-1) & (right > 0).any(-1)
        return np.where(whole, short * np.exp(np.where(whole, mean, 0.0)), 0.0)


def _precisions(sums: Counts) -> np.ndarray:
    """(..., 10) -> (..., 4), in per cent: the first order without a match counts as half of one."""
    right, total = sums[..., 2 : 2 + ORDER], sums[..., 2 + ORDER :]
    none = (right == 0) & (total > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        smoothed: np.ndarray = 100.0 * np.where(none, 0.5 ** none.cumsum(-1), right) / total
    return smoothed


class CorpusChrf(SacrebleuCounts):
    """chrF2; of a sentence: n-grams of characters made, wanted and right, for every n."""

    name: ClassVar = "chrf"

    def __init__(self) -> None:
        self._metric = CHRF()

    def value(self, sums: Counts) -> np.ndarray:
        made, wanted, right = (sums[..., i::3] for i in range(3))
        there = (made > 0) & (wanted > 0)
        orders = np.maximum(there.sum(-1), 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            precision = np.where(there, right / made, 0.0).sum(-1) / orders
            recall = np.where(there, right / wanted, 0.0).sum(-1) / orders
            score = (1 + BETA2) * precision * recall / (BETA2 * precision + recall)
        return np.where(precision + recall > 0, 100 * score, 0.0)
