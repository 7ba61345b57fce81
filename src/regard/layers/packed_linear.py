"""Matrices made ready for answering on a CPU: laid out for its vector units, or rounded to 8 bits.

    pack(model)             # float32, by oneDNN: the same numbers to rounding
    pack(model, "int8")     # about three times as fast, and not the same numbers

Gradients, float64, autocast, graphs and other devices go through the matrix as it is: that stays there.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, get_args
from weakref import ref

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.attention import beam_steps
from regard.layers.names import check_name

Precision = Literal["float32", "int8"]
Product = Callable[[Tensor, Tensor | None], Tensor]  # x (..., K), bias (N,) -> (..., N)

ROWS = 64  # of x, that oneDNN lays a matrix out for; the layout serves any number
LEAST = 1 << 14  # numbers of a matrix: below, a call of either kind costs more than the product
LEVELS = 127  # of int8, to either side of 0
MIDDLE = 128  # of uint8
LONGEST = 1 << 16  # numbers of a row, whose sum is an int32
TOO_SLOW = 1e-3  # seconds for 16 rows and 16 columns of 128 numbers, which take microseconds

KERNELS = "regard.layers.rounded_cpu"
beam_steps.MODULES.append(KERNELS)


class KeptMatrix(NamedTuple):
    weights: tuple[ref[Tensor], ...]  # if one goes, so does this: another may take its place
    versions: tuple[int, ...]
    fingerprints: tuple[tuple[float, float], ...]
    product: Product


class PackedMatrices:
    """`linear(x, weight, bias)` over matrices that are packed when they are first used, and kept.

    A matrix that was changed since is packed again; one that was changed behind torch's back, through `.data`
    or numpy, when `forget_changed` is called, which every answer of a run begins with.
    """

    def __init__(self, precision: Precision = "float32") -> None:
        check_name("precision", precision, get_args(Precision))
        self.precision = precision
        self._kept: dict[tuple[Any, ...], KeptMatrix] = {}

    def __call__(self, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        if not _answers(x, weight):
            return F.linear(x, weight, bias)
        return self._packed(weight)(x, bias)

    def joined(self, x: Tensor, linears: Sequence[nn.Linear]) -> Tensor:
        """What several of the same input give, one behind the other: (..., K) -> (..., N_1 + N_2 + …)"""
        weights: list[Tensor] = [part.weight for part in linears]
        biases: list[Tensor] = [part.bias for part in linears]
        if not all(_answers(x, weight) for weight in weights):
            return torch.cat([self(x, *pair) for pair in zip(weights, biases, strict=True)], -1)
        return self._packed(*weights)(x, None if biases[0] is None else torch.cat(biases))

    def _packed(self, *weights: Tensor) -> Product:
        place = tuple((weight.data_ptr(), weight.shape, weight.stride()) for weight in weights)
        versions, kept = tuple(weight._version for weight in weights), self._kept.get(place)
        if kept is None or kept.versions != versions:
            every = tuple(weight.detach() for weight in weights)
            one = every[0] if len(every) == 1 else torch.cat(every)
            product = as_int8(one) if self.precision == "int8" else as_blocks(one)
            gone = self._forgetting(place)
            known = tuple(ref(weight, gone) for weight in weights)
            kept = KeptMatrix(known, versions, tuple(map(_fingerprint, every)), product)
            self._kept[place] = kept
        return kept.product

    def _forgetting(self, place: tuple[Any, ...]) -> Callable[[ref[Tensor]], None]:
        """What is called when a matrix is there no longer."""
        mine = ref(self)

        def forget(gone: ref[Tensor]) -> None:
            matrices = mine()
            kept = None if matrices is None else matrices._kept.get(place)
            if matrices is not None and kept is not None and gone in kept.weights:
                matrices._kept.pop(place, None)

        return forget

    def forget_changed(self) -> None:
        found = functools.cache(_fingerprint)  # a matrix can be in several that are kept
        for place, kept in list(self._kept.items()):
            weights = [weight() for weight in kept.weights]
            if [x if x is None else found(x) for x in weights] != list(kept.fingerprints):
                self._kept.pop(place, None)

    def __getstate__(self) -> dict[str, Any]:  # of a copy, whose matrices are elsewhere
        return {"precision": self.precision, "_kept": {}}


class PackedLinear(nn.Linear):
    """W x + b, with the parameters of the `nn.Linear` that it stands for."""

    def __init__(self, linear: nn.Linear, matrices: PackedMatrices) -> None:
        nn.Module.__init__(self)
        self.in_features, self.out_features = linear.in_features, linear.out_features
        self.weight, self.bias = linear.weight, linear.bias
        self.matrices = matrices
        self.train(linear.training)

    def forward(self, x: Tensor) -> Tensor:
        return self.matrices(x, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, {self.matrices.precision}"


def pack(model: nn.Module, precision: Precision = "float32") -> nn.Module:
    """The model with packed matrices in the place of its linear layers; its parameters are the same.

    Cells of recurrent networks multiply by parameters of their own, and are left as they are.
    """
    matrices = PackedMatrices(precision)
    for module in list(model.modules()):
        for name, part in list(module.named_children()):
            if isinstance(part, nn.Linear) and type(part) in (nn.Linear, PackedLinear):
                setattr(module, name, PackedLinear(part, matrices))
    return model


def forget_changed(model: nn.Module) -> None:
    """Matrices of a packed model that were changed since are packed again when they are used next."""
    for matrices in {part.matrices for part in model.modules() if isinstance(part, PackedLinear)}:
        matrices.forget_changed()


def _fingerprint(weight: Tensor) -> tuple[float, float]:
    """u · W v for two pairs of drawn vectors: for other numbers, or in another order, surely another one."""
    weight = weight.detach()
    (rows, size), drawn = weight.shape, _drawn(max(weight.shape), weight.dtype)
    products = weight @ drawn[:2, :size].T
    first, second = (products.T * drawn[2:, :rows]).sum(1).tolist()
    return first, second


@functools.lru_cache(maxsize=8)
def _drawn(count: int, dtype: torch.dtype) -> Tensor:
    """Four vectors of numbers from 1 to 2: the same in every process."""
    return 1 + torch.rand(4, count, dtype=dtype, generator=torch.Generator().manual_seed(0))


def _answers(x: Tensor, weight: Tensor) -> bool:
    """Whether this is a product of numbers that are here, of a size worth it, and nobody learns from it."""
    return (
        x.dtype == weight.dtype == torch.float32
        and x.device.type == weight.device.type == "cpu"
        and weight.numel() >= LEAST
        and weight.shape[1] > 1  # torch's product of integers is wrong for one
        and not weight.is_inference()
        and x.numel() > 0
        and not (torch.is_grad_enabled() and (x.requires_grad or weight.requires_grad))
        and not torch.is_autocast_enabled("cpu")
        and not torch.compiler.is_compiling()
        and not torch._C._functorch.is_functorch_wrapped_tensor(x)
        and x.shape[-1] == weight.shape[1]  # else torch says what is wrong
        and not x.is_neg()
    )


def as_blocks(weight: Tensor) -> Product:
    """W (N, K) in the blocks that oneDNN multiplies by; as it is where torch has no oneDNN."""
    if not torch.backends.mkldnn.is_available():
        return lambda x, bias: F.linear(x, weight, bias)
    packed = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous(), ROWS)
    multiply = torch.ops.mkldnn._linear_pointwise

    def product(x: Tensor, bias: Tensor | None) -> Tensor:
        return multiply(x, packed, bias, "none", [], "")

    return product


def as_int8(weight: Tensor) -> Product:
    """W ≈ t · Ŵ, x ≈ s · x̂: integers from -127 to 127, a scale t for each row of W and s for each of x.

    y_rn = s_r t_n Σ_k x̂_rk Ŵ_nk + b_n. The scale of x is its own, so no row depends on those beside it.
    """
    matrix, scale = _rounded(weight)
    zero = MIDDLE if _lays_out_int8() and weight.shape[1] <= LONGEST else 0
    multiply = _int8_product(matrix, scale, zero)

    def product(x: Tensor, bias: Tensor | None) -> Tensor:
        kernels = beam_steps.kernels(KERNELS)
        round_rows, scale_rows = (
            (kernels.rounded, kernels.scaled) if kernels else (_rounded, _scaled)
        )
        rows, each = round_rows(x.detach().reshape(-1, x.shape[-1]), zero)
        y: Tensor = scale_rows(multiply(rows), each, bias)
        return y.view(*x.shape[:-1], y.shape[-1])

    return product


def _int8_product(matrix: Tensor, scale: Tensor, zero: int) -> Callable[[Tensor], Tensor]:
    """Ŵ (N, K), t (N, 1) -> what makes of x̂ (R, K) the numbers t_n Σ_k x̂_rk Ŵ_nk (R, N): sums are exact.

    zero 0: x̂ is int8. 128: it is uint8, x̂ + 128, which oneDNN is quick at on every processor; what has a sign
    it multiplies a thousand times slower on those without AMX.
    """
    scale = scale.squeeze(1)
    if not zero:
        columns = matrix.t()
        return lambda rows: torch._int_mm(rows, columns).float().mul_(scale)
    packed = torch.ops.onednn.qlinear_prepack(matrix, None)
    multiply = torch.ops.onednn.qlinear_pointwise
    zeros = torch.zeros(len(matrix), dtype=torch.int32)

    def product(rows: Tensor) -> Tensor:
        found: Tensor = multiply(
            rows, 1.0, zero, packed, scale, zeros, None, 1.0, 0, torch.float32, "none", [], ""
        )
        return found

    return product


@functools.cache
def _lays_out_int8() -> bool:
    """Whether oneDNN is here, and multiplies integers that it has laid out exactly, and in good time."""
    if not torch.backends.mkldnn.is_available():
        return False
    (rows, _), (matrix, scale) = (_rounded(torch.ones(16, 128), zero) for zero in (MIDDLE, 0))
    try:
        laid_out = _int8_product(matrix, torch.ones_like(scale), MIDDLE)
        exact = bool((laid_out(rows) == 128 * LEVELS**2).all())
    except (AttributeError, RuntimeError):  # another build, another processor
        return False
    return exact and _time_of(lambda: laid_out(rows)) < TOO_SLOW


def _time_of(work: Callable[[], Any]) -> float:
    """Seconds, the least of some."""
    took = []
    for _ in range(5):
        begin = time.perf_counter()
        work()
        took.append(time.perf_counter() - begin)
    return min(took)


def _rounded(rows: Tensor, zero: int = 0) -> tuple[Tensor, Tensor]:
    """(R, K) -> integers (R, K) and the scale of each row (R, 1): its largest number becomes 127 + zero."""
    scale = rows.abs().amax(-1, keepdim=True).div_(LEVELS)
    scale.clamp_min_(torch.finfo(torch.float32).tiny)
    levels = (rows * scale.reciprocal()).round_()
    return (levels.add_(zero).to(torch.uint8) if zero else levels.to(torch.int8)), scale


def _scaled(y: Tensor, rows: Tensor, bias: Tensor | None) -> Tensor:
    """y (R, N), scales of the rows (R, 1), bias (N,) -> (R, N)"""
    y = y.mul_(rows)
    return y if bias is None else y.add_(bias)
