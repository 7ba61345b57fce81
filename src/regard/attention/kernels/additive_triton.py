"""Additive attention on CUDA:  s[n,i,j] = Σ_d w[d] · tanh(q[n,i,d] + k[n,j,d]),  its softmax, and gradients.

query (N, Lq, D), key (N, Lk, D), value (N, Lk, Dv), weight (G, D); G divides N, row n uses weight[n % G].
Computed in float32 (float64 by the definition); nothing of size Lq·Lk·D is stored, nothing is atomic:
results repeat exactly.
"""

# ruff: noqa: N803, N806  (sizes and compile-time constants are capitals)

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from regard.attention.kernels import additive_torch
from regard.attention.kernels.additive_triton_attention import attention, attention_backward
from regard.attention.kernels.additive_triton_gradient import Band, gradient
from regard.attention.kernels.additive_triton_tiles import (
    Patch,
    exponentials,
    fold_weights,
    patch_for,
    score_tile,
)

__all__ = ["attention", "attention_backward", "scores", "scores_backward"]


@triton.jit
def scores_kernel(
    q, k, w, power_q, power_k, peak_q, peak_k, level, total, out, Lq, Lk, D, Lqp, Lkp, Dp, G,
    RM: tl.constexpr, RN: tl.constexpr, TM: tl.constexpr, TN: tl.constexpr, UNROLL: tl.constexpr,
):  # fmt: skip
    columns = tl.cdiv(Lk, TN * RN)
    rows = tl.cdiv(Lq, TM * RM)
    n = (tl.program_id(0) // (columns * rows)).to(tl.int64)
    i0 = (tl.program_id(0) // columns % rows) * (TM * RM)
    j0 = (tl.program_id(0) % columns) * (TN * RN)
    tile = score_tile(
        q, k, w, power_q, power_k, peak_q, peak_k, level, total,
        n, n % G, i0, j0, Lq, Lk, D, Lqp, Lkp, Dp, RM, RN, TM, TN, UNROLL,
    )  # fmt: skip
    i = i0 + tl.arange(0, TM * RM)
    j = j0 + tl.arange(0, TN * RN)
    place = out + n * Lq * Lk + i[:, None].to(tl.int64) * Lk + j[None, :]
    tl.store(place, tile.to(out.dtype.element_ty), mask=(i < Lq)[:, None] & (j < Lk)[None, :])


def scores(query: Tensor, key: Tensor, weight: Tensor, *, patch: Patch | None = None) -> Tensor:
    """s[n,i,j] = Σ_d weight[n % G, d] · tanh(query[n,i,d] + key[n,j,d])

    query (N, Lq, D), key (N, Lk, D), weight (G, D) -> (N, Lq, Lk) in the dtype of query
    """
    if query.dtype == torch.float64:
        return additive_torch.scores(query, key, weight)
    query, key, weight = query.contiguous(), key.contiguous(), weight.contiguous()
    (N, Lq, D), Lk, G = query.shape, key.shape[1], weight.shape[0]
    out = query.new_empty((N, Lq, Lk))
    if out.numel() == 0 or D == 0:
        return out.zero_()
    patch = patch or patch_for(Lq)._replace(registers=128, unroll=4)  # measured on an H200
    folded = fold_weights(weight)
    E, F = exponentials(query, folded=folded), exponentials(key)
    scores_kernel[(N * triton.cdiv(Lq, patch.rows) * triton.cdiv(Lk, patch.columns),)](
        query, key, weight, E.power, F.power, E.peak, F.peak, folded.level, folded.total, out,
        Lq, Lk, D, E.Lp, F.Lp, E.Dp, G, **patch.constants,
    )  # fmt: skip
    return out


def scores_backward(
    grad: Tensor, query: Tensor, key: Tensor, weight: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of `scores`:  with r = 1 / (1 + e^{2q} e^{2k}),

        dq = 4 w Σ_j grad r (1 − r)     dk = 4 w Σ_i grad r (1 − r)     dw = Σ_ij grad (1 − 2r)

    grad (N, Lq, Lk), query (N, Lq, D), key (N, Lk, D), weight (G, D) -> as query, key, weight
    """
    if query.dtype == torch.float64:
        return additive_torch.scores_backward(grad, query, key, weight)
    query, key, weight = query.contiguous(), key.contiguous(), weight.contiguous()
    if grad.numel() == 0 or query.shape[2] == 0:
        return torch.zeros_like(query), torch.zeros_like(key), torch.zeros_like(weight)
    E, F = exponentials(query, row_major=True), exponentials(key, row_major=True)
    rows, columns = Band(0, query.shape[1]), Band(0, key.shape[1])
    d_query, d_weight = gradient(
        grad, query, key, weight, E, F, xs=rows, ys=columns, with_weight=True
    )
    d_key, _ = gradient(grad.mT, key, query, weight, F, E, xs=columns, ys=rows)
    return d_query.to(query.dtype), d_key.to(key.dtype), d_weight.to(weight.dtype)
