"""Attention flow: how much of each input can reach each position, if weights are the capacities of pipes.

    flow_ij = the largest flow from position i of the last layer to input j

— Abnar and Zuidema 2020, https://arxiv.org/abs/2005.00928. The pipes of a layer are ½ (mean over heads of
A + I), rows made to sum to 1, as in a rollout; a rollout multiplies along each path and adds the paths, a
flow is what all of them carry at once. Legend: L layers, N positions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from regard.explanations.work_done import worked


def attention_flow(weights: Sequence[Tensor] | Tensor) -> Tensor:
    """Layers (H, N, N), the first layer first -> (N, N): the largest flow from each position to each input

    It is at least what a rollout has there. Of one layer it is the pipes; of two, Σ_k min(Â²_ik, Â¹_kj);
    of more, for each pair the largest flow by Dinic 1970, compiled.
    """
    layers = list(weights)
    if not layers:
        raise ValueError("a flow needs the weights of at least one layer")
    pipes = torch.stack([_pipes(layer.double()) for layer in reversed(layers)]).cpu()
    if len(pipes) == 1:
        flows = pipes[0]
    elif len(pipes) == 2:
        above, below = pipes
        flows = torch.stack([torch.minimum(row[:, None], below).sum(0) for row in above])
    else:
        found = np.zeros(pipes.shape[1:])
        from regard.explanations.largest_flow import all_pairs  # numba takes half a second

        for row in range(len(found)):
            all_pairs(pipes.numpy(), found, row, row + 1)
            worked(flow_work(len(pipes), len(found)) / len(found))
        flows = torch.from_numpy(found)
    return flows.to(layers[0])


def flow_work(layers: int, tokens: int) -> float:
    """In multiplications, about: for each pair some looks at all pipes, one after the other."""
    return float(tokens**3 if layers < 3 else 10_000 * layers * tokens**4)


def _pipes(layer: Tensor) -> Tensor:
    mixed = layer.mean(-3)
    mixed = mixed + torch.eye(mixed.shape[-1], dtype=mixed.dtype, device=mixed.device)
    return mixed / mixed.sum(-1, keepdim=True)
