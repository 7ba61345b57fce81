"""A language model that has read a text, and is asked which name stood in it.

Legend: B texts, T positions, K names, V the vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.layers.contracts import Translator
from regard.tasks.task_module import Loss, TaskModule


class Cloze(TaskModule):
    """p(name | text) = softmax over the names of what the model expects as the next token."""

    model: Translator
    names: Tensor

    def __init__(
        self, model: nn.Module, names: Sequence[int], *, label_smoothing: float = 0.0
    ) -> None:
        super().__init__(model)
        self.label_smoothing = label_smoothing
        self.register_buffer("names", torch.tensor(names), persistent=False)  # (K,) tokens

    def forward(self, text: Tensor, text_mask: Tensor, name: Tensor) -> Loss:
        """text (B, T) = BOS w1 … wn PAD …, name (B,) from 0 to K - 1"""
        total = F.cross_entropy(
            self.logits(text, text_mask),
            name,
            reduction="sum",
            label_smoothing=self.label_smoothing if self.training else 0.0,
        )
        return Loss(total, name.new_tensor(len(name)))

    def logits(self, text: Tensor, mask: Tensor) -> Tensor:
        """(B, K) of the names, after the last real word"""
        encoded = self.model.encode(text, mask)  # no source: it only says how many rows there are
        outputs = self.model.decoder.forward(text, encoded).outputs  # (B, T, R)
        rows = torch.arange(len(text), device=text.device)
        last = outputs[rows, mask.sum(-1) - 1]
        return self.model.decoder.project(last)[:, self.names].float()
