"""A number as the answer: the loss of a batch, and the number itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.data.fields import Field, Numbers
from regard.data.fields.number_text import number_text
from regard.tasks.classify.judge import Judge, Judgement
from regard.tasks.task_module import Loss


class Estimate(Judge):
    """A model whose decoder answers with one number, standardised as `number` is."""

    answered: ClassVar = "number"

    def __init__(self, model: nn.Module, given: Field, number: Numbers) -> None:
        super().__init__(model, given)
        self.number = number

    def forward(self, number: Tensor, **batch: Tensor) -> Loss:
        """Σ (y - ŷ)²; number (B, 1), standardised."""
        outputs, penalty, *_ = self.judge_batch(batch)
        total = F.mse_loss(outputs, number.to(outputs.dtype), reduction="sum")
        if penalty is not None and self.training:
            total = total + penalty.sum()
        return Loss(total, torch.tensor(len(number), device=number.device))

    def numbers(self, batch: Mapping[str, Tensor]) -> Tensor:
        """(B,), as they were before they were standardised."""
        return self.number.original(self.judge_batch(batch).outputs).squeeze(-1)

    def said(self, found: Judgement) -> tuple[str, str]:
        number = number_text(self.number.original(found.outputs).item())
        return number, number
