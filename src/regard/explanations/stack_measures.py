"""What can be said of a stack of self-attention as a whole: where its layers lead, together.

Legend: as in `self_stacks`.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from regard.explanations.attention_flow import attention_flow, flow_work
from regard.explanations.context_parts import rolled, shares
from regard.explanations.self_stacks import StackLayer
from regard.measures.explanation_measures import rollout
from regard.records.attention_map import Array
from regard.records.explanation import Explanation
from regard.words import t

MOST_FLOW = 5e11  # multiplications: some 5 seconds of a small machine


def stack_measures(layers: Sequence[StackLayer], of: str) -> tuple[Explanation, ...]:
    """Of two layers or more: rollout, flow, value zeroing rolled, and the norms of parts."""
    if len(layers) < 2:
        return ()
    weights = [layer.weights for layer in layers]
    return (
        stack_rollout(weights, of),
        stack_flow(weights, of),
        stack_zeroing([layer.zeroed for layer in layers], of),
        stack_norms([layer.norms for layer in layers], of),
    )


def stack_work(layers: int, tokens: int, whole: float) -> float:
    """Of all of them; whole: of reading the text once."""
    if layers < 2:
        return 0.0
    flow = flow_work(layers, tokens)
    return tokens * whole + (flow if layers > 2 and flow <= MOST_FLOW else 0.0)


def stack_rollout(layers: Sequence[Tensor], of: str) -> Explanation:
    """Rollout of the layers (H, N, N) of a stack of self-attention"""
    rolled_out = rollout(layers)
    said = t(
        "Through all {layers} layers a position has {own} of itself on average, heads averaged and residual "
        "paths counted as half; this follows self-attention alone, so it does not reach from an encoder "
        "through its decoder to a target.",
        layers=len(layers),
        own=_own(rolled_out),
    )
    return Explanation("rollout", t("Attention rollout"), said, of, _numbers(rolled_out))


def stack_flow(layers: Sequence[Tensor], of: str) -> Explanation:
    """The largest flow from each position to each input, as rows that sum to 1"""
    tokens, title = layers[0].shape[-1], t("Attention flow")
    if flow_work(len(layers), tokens) > MOST_FLOW:
        why = t(
            "Left out: the flows between {tokens} tokens through {layers} layers take too long.",
            tokens=tokens,
            layers=len(layers),
        )
        return Explanation("flow", title, why, of)
    flows = shares(attention_flow(layers))
    said = t(
        "If weights are pipes, {own} of what reaches a position through {layers} layers is from itself on "
        "average: a rollout multiplies along each path, a flow is what all paths carry at once.",
        own=_own(flows),
        layers=len(layers),
    )
    return Explanation("flow", title, said, of, _numbers(flows))


def stack_zeroing(layers: Sequence[Tensor], of: str) -> Explanation:
    """What each layer mixes, by the values that turn its output (N, N), rolled out"""
    mixed = rolled([shares(layer) for layer in layers])
    said = t(
        "By how far the output of each of {layers} blocks turns if the value of one position is 0, rolled "
        "out: {own} of a position is from itself on average, what its residual path carries not counted.",
        layers=len(layers),
        own=_own(mixed),
    )
    return Explanation("value-zeroing", t("Value zeroing, rolled out"), said, of, _numbers(mixed))


def stack_norms(layers: Sequence[Tensor], of: str) -> Explanation:
    """The norms of parts (N, N) of each layer as rows that sum to 1, their mean"""
    mean = torch.stack([shares(layer) for layer in layers]).mean(0)
    said = t(
        "By the size of what each layer takes, the mean over {layers} layers: {own} is from the position "
        "itself on average, residual paths not counted.",
        layers=len(layers),
        own=_own(mean),
    )
    return Explanation("norm", t("Norm of what is taken"), said, of, _numbers(mean))


def _own(matrix: Tensor) -> str:
    return f"{float(matrix.diagonal().mean()):.2f}"


def _numbers(matrix: Tensor) -> Array:
    numbers: Array = matrix.float().cpu().numpy()
    return numbers
