"""Matrices made ready for answering on a CPU: laid out for its vector units, or rounded to 8 bits.

    pack(model)             # float32, by oneDNN: the same numbers to rounding
    pack(model, "int8")     # about three times as fast, and not the same numbers

Gradients, float64, autocast, graphs and other devices go through the matrix as it is: that stays there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.layers.names import check_name

Precision = Literal["float32", "int8"]
Product = Callable[[Tensor, Tensor | None], Tensor]  # x (R, K), bias (N,) -> (R, N)

ROWS = 64  # of x, that oneDNN lays a matrix out for; the layout serves any number
LEAST = 1 << 14  # numbers of a matrix: below, a call of either kind costs more than the product
LEVELS = 127  # of int8, to either side of 0


class PackedMatrices:
    """`linear(x, weight, bias)` over matrices that are packed when they are first used, and kept.

    A matrix that was changed since is packed again.
    """

    def __init__(self, precision: Precision = "float32") -> None:
        check_name("precision", precision, get_args(Precision))
        self.precision = precision
        self._kept: dict[tuple[Any, ...], tuple[Tensor, int, Product]] = {}

    def __call__(self, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        if not _answers(x, weight):
            return F.linear(x, weight, bias)
        product = self._packed(weight)
        y = product(x.reshape(-1, x.shape[-1]), bias)
        return y.view(*x.shape[:-1], y.shape[-1])

    def _packed(self, weight: Tensor) -> Product:
        place = (weight.data_ptr(), weight.shape, weight.stride())
        # the weight is kept as well, so that no other can come to stand in its place
        _, version, product = self._kept.get(place, (None, None, None))
        if product is None or version != weight._version:
            product = (as_int8 if self.precision == "int8" else as_blocks)(weight.detach())
            self._kept[place] = weight, weight._version, product
        return product

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


def _answers(x: Tensor, weight: Tensor) -> bool:
    """Whether this is a product of numbers that are here, of a size worth it, and nobody learns from it."""
    return (
        x.dtype == weight.dtype == torch.float32
        and x.device.type == weight.device.type == "cpu"
        and weight.numel() >= LEAST
        and x.numel() > 0
        and not (torch.is_grad_enabled() and (x.requires_grad or weight.requires_grad))
        and not torch.is_autocast_enabled("cpu")
        and not torch.compiler.is_compiling()
        and not torch._C._functorch.is_functorch_wrapped_tensor(x)
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
    scale = _scale(weight)  # (N, 1)
    rounded, scale = _rounded(weight, scale).t(), scale.squeeze(1)

    def product(x: Tensor, bias: Tensor | None) -> Tensor:
        each = _scale(x)  # (R, 1)
        sums = torch._int_mm(_rounded(x, each), rounded)  # (R, N), exact
        y = sums.float().mul_(each).mul_(scale)
        return y if bias is None else y.add_(bias)

    return product


def _scale(rows: Tensor) -> Tensor:
    """(R, K) -> (R, 1): the largest of each row becomes 127."""
    largest = rows.abs().amax(-1, keepdim=True)
    return largest.div_(LEVELS).clamp_min_(torch.finfo(torch.float32).tiny)


def _rounded(rows: Tensor, scale: Tensor) -> Tensor:
    return (rows / scale).round_().to(torch.int8)
