"""Several comparisons at once: Holm 1979, A simple sequentially rejective multiple test procedure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from regard.words import t


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values to be held against the error of the whole family, in the order that they came in.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():  # NaN too
        raise ValueError(t("p-values lie between 0 and 1: {p_values}", p_values=list(p_values)))
    order = np.argsort(p, kind="stable")
    raised = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1)
    adjusted = np.empty_like(p)
    adjusted[order] = raised
    return [float(value) for value in adjusted]
