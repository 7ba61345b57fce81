"""Frames of a sound put together: every few of them as one row and one column."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from regard.records.attention_map import Array, AttentionMap


def pooled(each: AttentionMap, size: int, *, queries: bool, keys: bool) -> AttentionMap:
    """Weights summed over the `size` keys of a column and averaged over the queries of a row.

    So rows still sum to 1. Scores, values and vectors are of single frames, and go.
    """
    if size == 1:
        return each
    return replace(
        each,
        weights=pooled_weights(each.weights, size, queries=queries, keys=keys),
        scores=None,
        allowed=None,
        values=None,
        query_vectors=None,
        key_vectors=None,
        normalizer="",
    )


def pooled_weights(weights: Array, size: int, *, queries: bool, keys: bool) -> Array:
    """(L, H, Q, K)"""
    weights = _grouped(weights, 3, size) if keys else weights
    if queries:
        counts = _grouped(np.ones((1, 1, weights.shape[2], 1), np.float32), 2, size)
        weights = _grouped(weights, 2, size) / counts
    return weights


def _grouped(x: Array, axis: int, size: int) -> Array:
    """Sums over every `size` places of an axis; the last group may be smaller."""
    summed: Array = np.add.reduceat(x, np.arange(0, x.shape[axis], size), axis)
    return summed
