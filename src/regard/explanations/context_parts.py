"""What each key gives to a context, instead of what it weighs: the parts that attention sums.

    context_i = Σ_j part_ij (+ bias),   part_ij = Σ_h α^h_ij W^h v^h_j

A weight says how much of a value is taken, and nothing of how large the value is. Legend: H heads, Q queries,
K keys, D features of a value, C of a context.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from regard.attention.module import AttentionModule
from regard.attention.multi_head import MultiHead


def output_matrix(attention: AttentionModule) -> Tensor | None:
    """What brings the heads of an attention together, (C, H · D); None: its context is the sum itself."""
    return attention.output.weight.detach() if isinstance(attention, MultiHead) else None


def part_norms(weights: Tensor, values: Tensor, output: Tensor | None = None) -> Tensor:
    """‖part_ij‖ = ‖Σ_h α^h_ij W^h v^h_j‖₂: (H, Q, K), (H, K, D), (C, H · D) -> (Q, K)

    — Kobayashi et al. 2020, https://arxiv.org/abs/2004.10102. Without an output it is one head whose values
    are summed as they are. The parts, Q · K · C numbers, are never there: by the products of what the
    heads make of a value, ‖Σ_h α^h f^h‖² = Σ_hg α^h α^g f^h · f^g.
    """
    heads, _, size = values.shape
    made = values.double()  # a square of a difference of numbers that are nearly equal
    if output is not None:
        made = torch.einsum("hkd,chd->hkc", made, output.double().unflatten(1, (heads, size)))
    products = torch.einsum("hkc,gkc->khg", made, made)
    taken = weights.double()
    squares = torch.einsum("hqk,khg,gqk->qk", taken, products, taken)
    return squares.clamp(min=0).sqrt().to(weights.dtype)


def cosine_distance(a: Tensor, b: Tensor) -> Tensor:
    """1 - a · b / ‖a‖ ‖b‖ = ½ ‖a / ‖a‖ - b / ‖b‖‖²: (..., D), (..., D) -> (...), exact where it is small

    Of a vector without a direction it is 0 to another one, and 1/2 to any that has a direction.
    """
    a, b = (torch.nn.functional.normalize(x, dim=-1, eps=torch.finfo(x.dtype).tiny) for x in (a, b))
    return (a - b).square().sum(-1) / 2


def shares(sizes: Tensor) -> Tensor:
    """Rows (..., K) of sizes that sum to 1; a row of zeros stays one."""
    return sizes / sizes.sum(-1, keepdim=True).clamp(min=torch.finfo(sizes.dtype).tiny)


def rolled(layers: Sequence[Tensor]) -> Tensor:
    """C^L ⋯ C^1 of what each layer mixes of the one below it, (L, L) with rows that sum to 1"""
    product = layers[0]
    for layer in layers[1:]:
        product = layer @ product
    return product
