"""A judgement of two texts: the loss of a batch, and what is answered.

Legend: B pairs, L and M words of the two texts, K labels.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.tasks.task_module import Loss, TaskModule
from regard.words import t


class Match(TaskModule):
    """A model that gives `Judged` outputs (B, K) for two texts and their masks."""

    def __init__(self, model: nn.Module, *, label_smoothing: float = 0.0) -> None:
        super().__init__(model)
        self.label_smoothing = label_smoothing

    def forward(
        self,
        first: Tensor,
        first_mask: Tensor,
        second: Tensor,
        second_mask: Tensor,
        label: Tensor | None = None,
        number: Tensor | None = None,
    ) -> Loss:
        """label (B,), or number (B, 1): its squared error, in deviations of the training part."""
        judged = self.model(first, first_mask, second, second_mask)
        outputs = _at_least_single(judged.outputs)
        if label is not None:
            smoothing = self.label_smoothing if self.training else 0.0
            total = F.cross_entropy(outputs, label, reduction="sum", label_smoothing=smoothing)
        elif number is not None:
            total = F.mse_loss(outputs, number.to(outputs), reduction="sum")
        else:
            raise ValueError(t("a loss needs a label or a number: give one of them"))
        if judged.penalty is not None and self.training:
            total = total + judged.penalty.sum()
        return Loss(total, first.new_tensor(len(first)))

    def outputs(self, batch: Mapping[str, Tensor]) -> Tensor:
        """(B, K) in float32 or wider"""
        texts = (batch[name] for name in ("first", "first_mask", "second", "second_mask"))
        return _at_least_single(self.model(*texts).outputs)


def _at_least_single(x: Tensor) -> Tensor:
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
