"""How far a score may be from what other items of the same kind would give: items drawn again and again."""

from __future__ import annotations

import numpy as np

from regard.statistics.influence import Value

DRAWS, LEVEL, SEED = 1_000, 0.95, 1
CHUNK = 4_000_000  # numbers of drawn items that are held at once


def bootstrap_interval(
    counts: np.ndarray,
    value: Value,
    *,
    level: float = LEVEL,
    draws: int = DRAWS,
    seed: int = SEED,
) -> tuple[float, float] | None:
    """Between which two numbers `level` of the scores lie when as many items are drawn, with replacement.

    counts: (items, K), what a measure counts; value: its function of the sums, (..., K) -> (...). None where
    drawing tells nothing: of one item, or where the score is the same whatever is drawn.
    — Efron 1979; Koehn 2004, https://aclanthology.org/W04-3250

    >>> right = np.array([[1.0, 1.0]] * 80 + [[0.0, 1.0]] * 20)
    >>> bootstrap_interval(right, lambda sums: sums[..., 0] / sums[..., 1])
    (0.71, 0.87)
    """
    counts = np.asarray(counts, dtype=np.float64)
    if len(counts) < 2:
        return None
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        scores = np.asarray(value(_drawn_sums(counts, draws, seed)), dtype=np.float64)
    scores = scores[np.isfinite(scores)]
    if 2 * len(scores) < draws or np.ptp(scores) <= 1e-12 * np.abs(scores).max():
        return None
    low, high = np.quantile(scores, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _drawn_sums(counts: np.ndarray, draws: int, seed: int) -> np.ndarray:
    """(items, K) -> (draws, K)"""
    items, chance = len(counts), np.random.default_rng(seed)
    sums = np.empty((draws, counts.shape[1]))
    step = max(1, CHUNK // items)
    for start in range(0, draws, step):
        some = min(step, draws - start)
        chosen = chance.integers(items, size=(some, items))
        times = np.stack([np.bincount(row, minlength=items) for row in chosen])
        sums[start : start + some] = times @ counts
    return sums
