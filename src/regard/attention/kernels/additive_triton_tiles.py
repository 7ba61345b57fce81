"""What the CUDA kernels of additive attention share: preparation, and one tile of scores.

No transcendental is left in the inner loops. With E = e^{2q} and F = e^{2k}, computed once,

    tanh(q + k) = 1 − 2r,    r = 1 / (1 + E F)

The weight is folded into the fraction, w / (1 + EF) = 1 / (a + E'F) with a = 1/w and E' = E/w, and four
fractions are merged over one reciprocal, each further one for two instructions:

    n/p + 1/x = (n x + p) / (p x)

The merged form overflows where q + k is large or w is tiny. Each tile therefore first bounds its largest
product by the maxima of its q and k, and takes four, two or one fraction at a time; one at a time it
computes q + k before anything else, and is right for any magnitude.

N rows, Lq queries, Lk keys, D features, G weights (row n uses weight n % G); a p marks a padded size.
"""

# ruff: noqa: N803, N806  (sizes and compile-time constants are capitals)

from __future__ import annotations

import math
from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

BLOCK = 64  # rows that share one bound; every sequence is padded to a multiple of it
GROUP = 4  # features that share a reciprocal, at most

_BLOCK = tl.constexpr(BLOCK)
_TWO_LOG2E = tl.constexpr(2 / math.log(2))  # e^{2x} = 2^{x · this}
_TWO_LOG2E_LOW = tl.constexpr(2 / math.log(2) - 2.885390043258667)  # what float32 drops of it
_LN2 = tl.constexpr(math.log(2))
_INTERPRETED = tl.constexpr(triton.knobs.runtime.interpret)

_HIGHEST = tl.constexpr(30.0)  # of q or k alone: e^{60} times 1/w stays finite
_BITS = tl.constexpr(
    124.0
)  # of a merged product: float32 ends at 128, the numerator is 4 times larger
_DROPPED = tl.constexpr(2.0**-32)  # below this share of the largest weight a feature adds nothing
_DROPPED_LEVEL = tl.constexpr(256.0)  # such a feature becomes the constant fraction 1/256


@triton.jit
def reciprocal(x):
    """1/x to 1 ulp in one instruction: a plain division is refined, and costs eight."""
    if _INTERPRETED:
        return 1.0 / x
    return tl.inline_asm_elementwise(
        "rcp.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1
    )


@triton.jit
def exp_twice(x):
    """e^{2x}, accurate for large |x| too: the rounding of x·2log₂e is put back."""
    high = x * _TWO_LOG2E
    low = tl.fma(x, _TWO_LOG2E, -high) + x * _TWO_LOG2E_LOW
    power = tl.exp2(high)
    # beyond this range the power is 0 or infinite, and the correction would be 0 · ∞
    return tl.where(tl.abs(high) < 126.0, tl.fma(power, low * _LN2, power), power)


@triton.jit
def fraction(x):
    """r = 1 / (1 + e^{2x}) = (1 − tanh x) / 2, for any x."""
    return reciprocal(1.0 + tl.exp2(x * _TWO_LOG2E))


# A tile is held as (R0, R1, T0, T1): a thread owns an R0×R1 patch, so that one load of R0 + R1 numbers
# feeds R0·R1 elements, and the patch's numbers are neighbours in memory: 16-byte loads.
# The two vectors must have fewer elements than the block has threads, else they pass through shared memory.


@triton.jit
def along_rows(x, R: tl.constexpr, T: tl.constexpr):
    """(T·R,) -> (R, 1, T, 1)"""
    return tl.reshape(tl.permute(tl.reshape(x, [T, R]), [1, 0]), [R, 1, T, 1])


@triton.jit
def along_columns(x, R: tl.constexpr, T: tl.constexpr):
    """(T·R,) -> (1, R, 1, T)"""
    return tl.reshape(tl.permute(tl.reshape(x, [T, R]), [1, 0]), [1, R, 1, T])


@triton.jit
def as_matrix(tile, R0: tl.constexpr, R1: tl.constexpr, T0: tl.constexpr, T1: tl.constexpr):
    """(R0, R1, T0, T1) -> (T0·R0, T1·R1)"""
    return tl.reshape(tl.permute(tile, [2, 0, 3, 1]), [T0 * R0, T1 * R1])


# ---------------------------------------------------------------------------------------- preparation


@triton.jit
def fold_weights_kernel(weight, level, fold, total, D, Dp, SIZE: tl.constexpr):
    """level = max|w| / w (a above), fold = level or 0, total = (max|w|, the accumulator's start)."""
    g = tl.program_id(0)
    d = tl.arange(0, SIZE)
    w = tl.load(weight + g * D + d, mask=d < D, other=0.0).to(tl.float32)
    top = tl.max(tl.abs(w), 0)
    unit = w / tl.where(top == 0.0, 1.0, top)
    kept = tl.abs(unit) >= _DROPPED
    # weights too extreme to scale get an infinite level, which no bound admits
    usable = (top == 0.0) | ((top > 2.0**-100) & (top < 2.0**100))
    a = tl.where(kept, 1.0 / tl.where(kept, unit, 1.0), _DROPPED_LEVEL)
    a = tl.where(usable, a, float("inf"))
    tl.store(level + g * Dp + d, a, mask=d < Dp)
    tl.store(fold + g * Dp + d, tl.where(kept, a, 0.0), mask=d < Dp)
    # Σ w tanh = −2 (Σ w r − Σ w/2), and a dropped feature must leave nothing behind
    surplus = tl.where(kept, 0.5 * unit, 1.0 / _DROPPED_LEVEL)
    tl.store(total + 2 * g, top)
    tl.store(total + 2 * g + 1, -tl.sum(tl.where(d < Dp, surplus, 0.0), 0))


@triton.jit
def exponentials_kernel(
    x, fold, out, peak, L, D, Lp, Dp, G, row_stride, feature_stride,
    FOLD: tl.constexpr, FEATURES: tl.constexpr,
):  # fmt: skip
    """out = e^{2x} (times fold), 0 in the padding; peak[n, block, d] = the block's largest x."""
    blocks = Lp // _BLOCK
    n = (tl.program_id(0) // blocks).to(tl.int64)
    block = tl.program_id(0) % blocks
    row = block * _BLOCK + tl.arange(0, _BLOCK)
    d = tl.program_id(1) * FEATURES + tl.arange(0, FEATURES)
    inside = (row < L)[:, None] & (d < D)[None, :]
    value = tl.load(x + n * L * D + row[:, None] * D + d[None, :], mask=inside, other=0.0)
    value = value.to(tl.float32)
    power = exp_twice(value)
    if FOLD:
        share = tl.load(fold + (n % G) * Dp + d, mask=d < Dp, other=0.0)[None, :]
        power = tl.where(share == 0.0, 0.0, power * share)
    power = tl.where(inside, power, 0.0)
    place = tl.arange(0, _BLOCK)[:, None] * row_stride + d[None, :] * feature_stride
    place += out + (n * blocks + block) * _BLOCK * Dp
    tl.store(place, power, mask=(d < Dp)[None, :])
    highest = tl.max(tl.where(inside, value, -float("inf")), 0)
    tl.store(peak + (n * blocks + block) * Dp + d, highest, mask=d < Dp)


class Folded(NamedTuple):
    """Weights ready for the merged form."""

    level: Tensor  # (G, Dp)
    fold: Tensor  # (G, Dp)
    total: Tensor  # (G, 2)


class Exponentials(NamedTuple):
    """e^{2x} of a padded sequence, with the bounds of its blocks."""

    power: Tensor  # (N, Lp / BLOCK, Dp, BLOCK) feature-major, or (N, Lp, Dp) row-major
    peak: Tensor  # (N, Lp / BLOCK, Dp)
    Lp: int
    Dp: int


def round_up(size: int, multiple: int) -> int:
    return -(-size // multiple) * multiple


def fold_weights(weight: Tensor) -> Folded:
    G, D = weight.shape
    Dp = round_up(D, GROUP)
    level, fold = weight.new_empty((2, G, Dp), dtype=torch.float32).unbind(0)
    total = weight.new_empty((G, 2), dtype=torch.float32)
    fold_weights_kernel[(G,)](
        weight, level, fold, total, D, Dp, SIZE=triton.next_power_of_2(Dp), num_warps=4
    )
    return Folded(level, fold, total)


def exponentials(
    x: Tensor, *, folded: Folded | None = None, row_major: bool = False
) -> Exponentials:
    """e^{2x} feature-major for the scores (D padded to 4), row-major for the gradients (D padded to 64)."""
    N, L, D = x.shape
    Lp, Dp = round_up(L, BLOCK), round_up(D, BLOCK if row_major else GROUP)
    power = x.new_empty((N, Lp * Dp), dtype=torch.float32)
    peak = x.new_empty((N, Lp // BLOCK, Dp), dtype=torch.float32)
    features = 64 if row_major else 32
    row_stride, feature_stride = (Dp, 1) if row_major else (1, BLOCK)
    fold, G = (folded.fold, folded.fold.shape[0]) if folded else (power, 1)
    exponentials_kernel[(N * (Lp // BLOCK), triton.cdiv(Dp, features))](
        x, fold, power, peak, L, D, Lp, Dp, G, row_stride, feature_stride,
        FOLD=folded is not None, FEATURES=features, num_warps=4,
    )  # fmt: skip
    return Exponentials(power, peak, Lp, Dp)


# --------------------------------------------------------------------------------------------- scores


@triton.jit
def product_bits(peak_q, peak_k, level, Dp, TOGETHER: tl.constexpr):
    """log₂ of a bound on any product of TOGETHER neighbouring denominators in a tile."""
    highest = tl.full([64], 0.0, tl.float32)
    for start in range(0, Dp, 64 * TOGETHER):
        bits = tl.full([64], 0.0, tl.float32)
        for c in tl.static_range(TOGETHER):
            d = start + tl.arange(0, 64) * TOGETHER + c
            high_q = tl.load(peak_q + d, mask=d < Dp, other=-float("inf"))
            high_k = tl.load(peak_k + d, mask=d < Dp, other=-float("inf"))
            a = tl.abs(tl.load(level + d, mask=d < Dp, other=1.0))
            # |a (1 + EF)| <= 2^these
            bits += tl.log2(a) + tl.maximum((high_q + high_k) * _TWO_LOG2E, 0.0) + 1.0
            bits = tl.where(tl.maximum(high_q, high_k) <= _HIGHEST, bits, 1000.0)
        highest = tl.maximum(highest, bits)
    return tl.max(highest, 0)


@triton.jit
def merged_tile(
    e, f, level, start, Dp, TOGETHER: tl.constexpr,
    RM: tl.constexpr, RN: tl.constexpr, TM: tl.constexpr, TN: tl.constexpr, UNROLL: tl.constexpr,
):  # fmt: skip
    """start + Σ_d 1 / (a_d + E'_d F_d), TOGETHER fractions to a reciprocal."""
    tile = tl.zeros([RM, RN, TM, TN], tl.float32) + start
    for _ in tl.range(0, Dp, TOGETHER, loop_unroll_factor=UNROLL):
        for c in tl.static_range(TOGETHER):
            row = along_rows(tl.load(e + c * _BLOCK), RM, TM)
            column = along_columns(tl.load(f + c * _BLOCK), RN, TN)
            x = tl.fma(row, column, tl.load(level + c))
            if c == 0:
                above = x
            elif c == 1:
                below = above * x
                above = above + x
            else:
                above = tl.fma(above, x, below)
                below = below * x
        tile = tl.fma(above, reciprocal(below), tile)
        e += TOGETHER * _BLOCK
        f += TOGETHER * _BLOCK
        level += TOGETHER
    return tile


@triton.jit
def plain_tile(
    q, k, w, row, column, Lq, Lk, D,
    RM: tl.constexpr, RN: tl.constexpr, TM: tl.constexpr, TN: tl.constexpr,
):  # fmt: skip
    """Σ_d w_d tanh(q_d + k_d), the sum first."""
    tile = tl.zeros([RM, RN, TM, TN], tl.float32)
    for d in range(D):
        x = tl.load(q + row * D + d, mask=row < Lq, other=0.0).to(tl.float32)
        y = tl.load(k + column * D + d, mask=column < Lk, other=0.0).to(tl.float32)
        r = fraction(along_rows(x, RM, TM) + along_columns(y, RN, TN))
        tile = tl.fma(tl.load(w + d).to(tl.float32), 1.0 - 2.0 * r, tile)
    return tile


@triton.jit
def score_tile(
    q, k, w, power_q, power_k, peak_q, peak_k, level, total, n, g, i0, j0, Lq, Lk, D, Lqp, Lkp, Dp,
    RM: tl.constexpr, RN: tl.constexpr, TM: tl.constexpr, TN: tl.constexpr, UNROLL: tl.constexpr,
):  # fmt: skip
    """(TM·RM, TN·RN) scores of the queries from i0 and the keys from j0 of batch row n."""
    row = i0 + tl.arange(0, TM * RM)
    column = j0 + tl.arange(0, TN * RN)
    level += g * Dp
    block_q = (n * (Lqp // _BLOCK) + i0 // _BLOCK) * Dp
    block_k = (n * (Lkp // _BLOCK) + j0 // _BLOCK) * Dp
    peak_q += block_q
    peak_k += block_k
    # the compiler must see that these are aligned, or it loads number by number
    e = power_q + block_q * _BLOCK + tl.multiple_of(i0 % _BLOCK, TM * RM) + tl.arange(0, TM * RM)
    f = power_k + block_k * _BLOCK + tl.multiple_of(j0 % _BLOCK, TN * RN) + tl.arange(0, TN * RN)
    top = -2.0 * tl.load(total + 2 * g)
    start = tl.load(total + 2 * g + 1)
    if product_bits(peak_q, peak_k, level, Dp, 4) < _BITS:
        tile = top * merged_tile(e, f, level, start, Dp, 4, RM, RN, TM, TN, UNROLL)
    elif product_bits(peak_q, peak_k, level, Dp, 2) < _BITS:
        tile = top * merged_tile(e, f, level, start, Dp, 2, RM, RN, TM, TN, UNROLL)
    else:
        tile = plain_tile(
            q + n * Lq * D, k + n * Lk * D, w + g * D, row, column, Lq, Lk, D, RM, RN, TM, TN
        )
    return as_matrix(tile, RM, RN, TM, TN)


class Patch(NamedTuple):
    """How a tile of at most BLOCK×BLOCK is spread: R0×R1 elements to a thread, T0×T1 threads."""

    R0: int = 4
    R1: int = 4
    T0: int = 8
    T1: int = 16
    warps: int = 4
    registers: int | None = 96  # leaves room for 20 warps on a processor
    unroll: int = 1  # rounds of the loop over features that are scheduled together

    @property
    def rows(self) -> int:
        return self.R0 * self.T0

    @property
    def columns(self) -> int:
        return self.R1 * self.T1

    @property
    def constants(self) -> dict[str, int | None]:
        R0, R1, T0, T1, warps, registers, unroll = self
        return {
            "RM": R0, "RN": R1, "TM": T0, "TN": T1, "UNROLL": unroll, "num_warps": warps,
            "maxnreg": registers,
        }  # fmt: skip


def patch_for(rows: int) -> Patch:
    """Fewer rows to a thread where there are few queries."""
    return Patch(R0=4 if rows > 16 else 2)
