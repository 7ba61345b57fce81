"""What all tasks have in common: a model and its tokenisers, asked in text and trained by batches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from regard.data.tokenizer import Tokenizer

BATCH = 64  # texts that are worked on side by side


class Unanswerable(ValueError):
    """A text or a wish that this model cannot answer; `status`: it was asked wrongly."""

    status = 2

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class Loss(NamedTuple):
    """Of a batch: a sum, so that batches of any size add up to the loss of the joined one (D17)."""

    total: Tensor
    tokens: Tensor  # how many target tokens were scored


class TextTask(nn.Module):
    """Called with source, source_mask, target and target_mask of a batch, a task gives its `Loss`."""

    model: Any  # what the task asks of it, the task says

    def __init__(
        self, model: nn.Module, source_tokenizer: Tokenizer, target_tokenizer: Tokenizer
    ) -> None:
        super().__init__()
        self.model = model
        self.source_tokenizer, self.target_tokenizer = source_tokenizer, target_tokenizer

    def weights(self) -> dict[str, Tensor]:
        """Of the model, as they are: not a copy."""
        return self.model.state_dict()

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    @contextmanager
    def answering(self) -> Iterator[None]:
        """No gradients and no dropout; training goes on afterwards as before."""
        training = self.training
        self.eval()
        try:
            with torch.no_grad():
                yield
        finally:
            self.train(training)
