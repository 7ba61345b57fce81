"""Heads in which a number is not finite, computed again over the results of another kernel.

For a region of one stretch, without a mask or a bias, in which every head has keys of its own. The programs
are few: nearly always they have nothing to do, and read that from `found` (B, H, checks) at once.
"""

# ruff: noqa: N803  (sizes and compile-time constants are capitals)

from __future__ import annotations

import triton
import triton.language as tl

from regard.attention.kernels.region.region_check import all_finite, is_finite
from regard.attention.kernels.region.region_forward import NUMBERS, forward_tile
from regard.attention.kernels.region.region_key_gradient import key_tile
from regard.attention.kernels.region.region_query_gradient import query_tile

PROGRAMS = 264


@triton.jit(do_not_specialize=[*NUMBERS, "heads"])
def forward_again_kernel(
    q, k, v, out, lse, found, q_b, q_h, q_l, k_b, k_h, k_l, v_b, v_h, v_l, o_b, o_h, o_l,
    H, Lq, Lk, D, Dv, offset, lo_a, hi_a, cap_a, lo_b, hi_b, cap_b, scale, checks, heads,
    PRECISION: tl.constexpr, WHOLE: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr, BV: tl.constexpr,
):  # fmt: skip
    """Context and log-sum-exp."""
    if all_finite(found, heads * checks):
        return
    tiles = tl.cdiv(Lq, BM)
    for turn in range(tl.cdiv(heads * tiles, tl.num_programs(0))):
        tile = tl.program_id(0) + turn * tl.num_programs(0)
        if tile < heads * tiles and not is_finite(found + tile // tiles * checks, checks):
            forward_tile(
                tile, q, k, v, out, lse, lse, lse, q, q, q, q, q,
                q_b, q_h, q_l, k_b, k_h, k_l, v_b, v_h, v_l, o_b, o_h, o_l, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                H, Lq, Lk, D, Dv, offset, lo_a, hi_a, cap_a, lo_b, hi_b, cap_b, scale, 1.0, 0.0,
                True, 1, 1, False, False, False, 0, 0, False, False, False, PRECISION, WHOLE,
                0, 0, 0, BM, BN, BD, BV,
            )  # fmt: skip


@triton.jit(do_not_specialize=[*NUMBERS, "heads"])
def gradients_again_kernel(
    q, k, v, out, lse, do, dq, dk, dv, found,
    q_b, q_h, q_l, k_b, k_h, k_l, v_b, v_h, v_l, o_b, o_h, o_l, do_b, do_h, do_l,
    dq_b, dq_h, dq_l, dk_b, dk_h, dk_l, dv_b, dv_h, dv_l,
    H, Lq, Lk, D, Dv, offset, lo_a, hi_a, cap_a, lo_b, hi_b, cap_b, scale, checks, heads,
    PRECISION: tl.constexpr, WHOLE: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr, BV: tl.constexpr,
):  # fmt: skip
    """dq, dk and dv."""
    if all_finite(found, heads * checks):
        return
    queries, keys = tl.cdiv(Lq, BM), tl.cdiv(Lk, BN)
    both = queries + keys
    for turn in range(tl.cdiv(heads * both, tl.num_programs(0))):
        work = tl.program_id(0) + turn * tl.num_programs(0)
        head, tile = work // both, work % both
        if work < heads * both and not is_finite(found + head * checks, checks):
            if tile < queries:
                query_tile(
                    head * queries + tile, q, k, v, out, lse, do, lse, lse, dq, dq, lse, q, q, q, q,
                    q_b, q_h, q_l, k_b, k_h, k_l, v_b, v_h, v_l, o_b, o_h, o_l, do_b, do_h, do_l,
                    dq_b, dq_h, dq_l, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                    H, Lq, Lk, D, Dv, offset, lo_a, hi_a, cap_a, lo_b, hi_b, cap_b, scale, 1.0, 0.0, 0,
                    True, True, 1, 1, False, False, False, 0, 0, 0, False, False, PRECISION, WHOLE,
                    0, 0, 0, 0, BM, BN, BD, BV,
                )  # fmt: skip
            else:
                key_tile(
                    head * keys + tile - queries,
                    q, k, v, out, lse, do, lse, dk, dv, lse, lse, lse, lse, lse, q, q, q, q,
                    q_b, q_h, q_l, k_b, k_h, k_l, v_b, v_h, v_l, o_b, o_h, o_l, do_b, do_h, do_l,
                    dk_b, dk_h, dk_l, dv_b, dv_h, dv_l, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                    H, Lq, Lk, D, Dv, offset, lo_a, hi_a, cap_a, lo_b, hi_b, cap_b, scale, 1.0, 0.0,
                    0, 0, 0, 1,
                    True, True, False, 1, 1, False, False, False, 0, 0, 0, False, False, PRECISION, WHOLE,
                    0, 0, 0, 0, BM, BN, BD, BV,
                )  # fmt: skip
