"""The region whose place is predicted from the query: local-p. It has parameters, and weighs its keys."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import UninitializedParameter

from regard.attention.region import Region
from regard.attention.shapes import at_least_single
from regard.words import t

WIDEST = 1e15  # keys: its square is a number that float32 has


class PredictedWindow(nn.Module, Region):
    """|j - p| <= width, weights times exp(-(j - p)² / 2σ²), p = S · sigmoid(v · tanh(W q)), σ = width/2

    Local-p of Luong et al. 2015, https://arxiv.org/abs/1508.04025. S is the length of each row's
    source: the last key that its mask allows. The weights are not renormalised (`renormalize=True`
    does it), and the gradient reaches W and v through the Gaussian. Without `query_size` the
    parameters take their size from the first query they see, like those of `torch.nn.LazyLinear`.
    """

    predicts = True
    forgets_positions = True

    def __init__(
        self, width: float, query_size: int | None = None, *, renormalize: bool = False
    ) -> None:
        super().__init__()
        if not 0 < width <= WIDEST:
            raise ValueError(
                t(
                    "the width of a predicted window must be above 0, and at most {widest}, not "
                    "{width}",
                    widest=f"{WIDEST:g}",
                    width=width,
                )
            )
        self.width, self.renormalize = float(width), renormalize
        self.weight: Tensor = UninitializedParameter()
        self.vector: Tensor = UninitializedParameter()
        if query_size is not None:
            self._give_size(query_size)

    def _give_size(self, size: int, like: Tensor | None = None) -> None:
        for parameter, shape in ((self.weight, (size, size)), (self.vector, (size, 1))):
            if isinstance(parameter, UninitializedParameter):
                if like is None:
                    parameter.materialize(shape)
                else:
                    parameter.materialize(shape, device=like.device, dtype=like.dtype)
                nn.init.xavier_uniform_(parameter)

    def _load_from_state_dict(self, state: dict[str, Any], prefix: str, *rest: Any) -> None:
        if (saved := state.get(f"{prefix}vector")) is not None:
            self._give_size(saved.shape[0])
        super()._load_from_state_dict(state, prefix, *rest)

    def centre(self, query: Tensor, lengths: Tensor | int) -> Tensor:
        """p of each query: (..., Lq, 1), for lengths (..., Lq or 1, 1), in float32 at least.

        In bfloat16 neighbours beyond position 256 are one number.
        """
        with torch.autocast(query.device.type, enabled=False):
            q, weight, vector = (at_least_single(x) for x in (query, self.weight, self.vector))
            return lengths * torch.sigmoid(torch.tanh(q @ weight) @ vector)

    def place(self, query: Tensor, keys: int, lengths: Tensor | None) -> tuple[Tensor, Tensor]:
        return self(query, keys, lengths)

    def forward(self, query: Tensor, keys: int, lengths: Tensor | None) -> tuple[Tensor, Tensor]:
        """Which keys lie in the window, and the Gaussian: two tensors (..., Lq, keys).

        A query that is NaN stands nowhere: its window is everywhere, and its Gaussian NaN.
        """
        self._give_size(query.shape[-1], like=query)
        distance = torch.arange(keys, device=query.device) - self.centre(
            query, keys if lengths is None else lengths
        )
        sigma = self.width / 2
        return ~(distance.abs() > self.width), torch.exp(-(distance**2) / (2 * sigma**2))

    def extra_repr(self) -> str:
        return f"width={self.width:g}, renormalize={self.renormalize}"
