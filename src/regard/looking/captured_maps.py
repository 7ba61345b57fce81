"""From what was captured of a Hugging Face model to the maps of a record.

Legend: L layers, H heads, Q queries, K keys, D features; N steps of a generation.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from regard.hf.attention_capture import Captured, CapturedLayer
from regard.hf.modules import KINDS
from regard.records.attention_map import Array, AttentionMap
from regard.words import t

CLOSE = 1e-3  # how far softmax(scores) may lie from the weights and still be what was computed


def captured_maps(
    captured: Captured,
    rows: Sequence[int],
    first: int,
    mask: Sequence[int] | None,
    *,
    changed: bool = False,
) -> tuple[list[AttentionMap], tuple[str, ...]]:
    """A map of each kind; the names of its sides are not said yet.

    rows: the row of the batch at each step, which changes under a beam search. first: the row of
    the input. mask: which tokens of the input are real; those that fill are left out. changed: weights
    were given or switched off, so that they are not what their scores lead to.
    """
    keep = None if mask is None or all(mask) else torch.tensor(mask, dtype=torch.bool)
    maps: list[AttentionMap] = []
    beyond: list[str] = []  # kinds whose scores alone do not make their weights
    for kind in ("cross", *(k for k in KINDS if k != "cross")):
        layers = [layer for layer in captured.layers if layer.kind == kind]
        if not layers:
            continue
        numbers = sorted({layer.layer for layer in layers})
        calls = [[layer for layer in layers if layer.layer == n] for n in numbers]
        if kind == "encoder":  # of a beam search, it ran once for each input
            stacked = [each[0].weights[first] for each in calls]
        else:
            stacked = [_over_steps(each, rows) for each in calls]
        filled = (keep if kind != "cross" else None, keep if _reads_input(kind, captured) else None)
        weights = _array(torch.stack([_kept(one, *filled) for one in stacked]))
        scores, values, queries, keys = _details(calls, rows[0], filled)
        allowed = _allowed(weights, kind, changed)
        if scores is not None and not changed and not _is_softmax(scores, allowed, weights):
            scores = None
            beyond.append(kind)
        maps.append(
            AttentionMap(
                kind,
                "",
                "",
                weights,
                layers=tuple(f"{kind} {n + 1}" for n in numbers),
                mechanism="" if scores is None else _mechanism(layers),
                normalizer="" if scores is None else "softmax",
                scores=scores,
                allowed=None if allowed.all() else allowed,
                values=values,
                query_vectors=None if scores is None else queries,
                key_vectors=None if scores is None else keys,
            )
        )
    return maps, _left_out(beyond) if beyond else ()


def _left_out(kinds: Sequence[str]) -> tuple[str]:
    note = t(
        "scores are left out of {kinds}: this model caps them or adds a sink, and softmax(scores) "
        "would not be its weights",
        kinds=t(" and ").join(kinds),
    )
    return (note,)


def _allowed(weights: Array, kind: str, changed: bool) -> NDArray[np.bool_]:
    """(L, 1, Q, K): which pairs any head gives a weight; of changed ones, which a decoder could."""
    if not changed:
        return np.asarray((weights > 0).any(1, keepdims=True))
    every = np.ones((len(weights), 1, *weights.shape[2:]), bool)
    return np.tril(every) if kind == "decoder" else every


def _mechanism(layers: Sequence[CapturedLayer]) -> str:
    added = any(layer.bias is not None and bool(layer.bias.any()) for layer in layers)
    return f"score: scaled-dot{' + bias' if added else ''} · normalize: softmax"


def _reads_input(kind: str, captured: Captured) -> bool:
    """Whether its keys are tokens of the input, some of which may fill."""
    translates = any(layer.kind == "cross" for layer in captured.layers)
    return kind != "decoder" or not translates


def _over_steps(calls: Sequence[CapturedLayer], rows: Sequence[int]) -> Tensor:
    """(H, Q, K): the queries of all steps below each other; keys that came later weigh 0."""
    steps = [call.weights[row] for call, row in zip(calls, rows, strict=False)]
    longest = max(step.shape[-1] for step in steps)
    return torch.cat([F.pad(step, (0, longest - step.shape[-1])) for step in steps], -2)


def _details(
    calls: Sequence[Sequence[CapturedLayer]],
    row: int,
    filled: tuple[Tensor | None, Tensor | None],
) -> tuple[Array | None, Array | None, Array | None, Array | None]:
    """Scores, values, scaled queries and keys, if the model was called once and vectors were kept."""
    if any(len(each) > 1 or each[0].query is None for each in calls):
        return None, None, None, None
    layers = [each[0] for each in calls]
    scores = [_kept(layer.scores[row], *filled) for layer in layers]
    parts = [
        [x for layer in layers if (x := getattr(layer, name)) is not None]
        for name in ("value", "scaled_query", "key")
    ]
    masks = (filled[1], filled[0], filled[1])
    vectors = [
        _array(torch.stack([_kept(x[row], mask, None) for x in part]))
        for part, mask in zip(parts, masks, strict=True)
    ]
    return _array(torch.stack(scores)), *vectors  # type: ignore[return-value]


def _kept(x: Tensor, rows: Tensor | None, columns: Tensor | None) -> Tensor:
    """(H, Q, K) without what fills; a generation has more rows and columns than its input."""
    x = x if rows is None else x[:, _longer(rows, x.shape[-2])]
    return x if columns is None else x[..., _longer(columns, x.shape[-1])]


def _longer(keep: Tensor, size: int) -> Tensor:
    return F.pad(keep, (0, size - len(keep)), value=True)


def _is_softmax(scores: Array, allowed: NDArray[np.bool_], weights: Array) -> bool:
    masked = np.where(allowed, scores, -np.inf)
    powers = np.exp(masked - masked.max(-1, keepdims=True))
    return bool(np.abs(powers / powers.sum(-1, keepdims=True) - weights).max() < CLOSE)


def _array(x: Tensor) -> Array:
    return x.detach().float().cpu().numpy()
