"""A model and what turns its outputs into a loss and into answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

BATCH = 64  # examples that are worked on side by side


class Unanswerable(ValueError):
    """An example or a wish that this model cannot answer; `status`: it was asked wrongly."""

    status = 2

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class Loss(NamedTuple):
    """Of a batch: a sum, so that batches of any size add up to the loss of the joined one."""

    total: Tensor
    tokens: Tensor  # how many were scored


class TaskModule(nn.Module):
    """Called with the tensors of a batch by their names, it gives the `Loss`."""

    model: Any  # what the task asks of it, the task says

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def model_state(self) -> dict[str, Tensor]:
        """The weights of the model, as they are: not a copy."""
        return self.model.state_dict()

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    @contextmanager
    def inference(self) -> Iterator[None]:
        """No gradients and no dropout; training goes on afterwards as before."""
        training = self.training
        self.eval()
        try:
            with torch.no_grad():
                yield
        finally:
            self.train(training)
