"""Which of two variants is better, from few seeds and many items, and how sure that is.

found = compare_scores(counts_a, counts_b, measure.value, error=measure.error)
found.difference, found.interval, found.better, found.resolves, found.seeds_for(0.3)

holm([found.p, other.p])                              # several variants

looks = Looks.planned(3, 20, comparisons=2)           # seeds until it is decided
verdicts = looks.verdicts({"dot": found, "cosine": other})
looks.next({"dot": found, "cosine": other}, verdicts)  # ("cosine", 5): it gets seeds, up to 5
"""

from regard.statistics.bootstrap import bootstrap_interval
from regard.statistics.difference import Difference, compare_scores
from regard.statistics.holm import holm
from regard.statistics.looks import Looks, Verdict

__all__ = [
    "Difference",
    "Looks",
    "Verdict",
    "bootstrap_interval",
    "compare_scores",
    "holm",
]
