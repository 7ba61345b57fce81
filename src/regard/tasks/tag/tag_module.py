"""A label for every word: the loss of a batch, and how likely each label is.

Legend: B texts, L words, C characters of a word, K labels.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch.nn.functional as F
from torch import Tensor, nn

from regard.data.fields.labels import NONE
from regard.tasks.task_module import Loss, TaskModule


class Tag(TaskModule):
    """A model that gives logits (B, L, K) for words, their mask, and their characters."""

    def __init__(self, model: nn.Module, *, label_smoothing: float = 0.0) -> None:
        super().__init__(model)
        self.label_smoothing = label_smoothing

    def forward(
        self, words: Tensor, words_mask: Tensor, words_characters: Tensor, tags: Tensor
    ) -> Loss:
        """tags (B, L): -100 where there is no word."""
        logits = self.model(words, words_mask, words_characters).float()
        smoothing = self.label_smoothing if self.training else 0.0
        total = F.cross_entropy(
            logits.flatten(0, 1),
            tags.flatten(),
            ignore_index=NONE,
            reduction="sum",
            label_smoothing=smoothing,
        )
        return Loss(total, words_mask.sum())

    def log_probs(self, batch: Mapping[str, Tensor]) -> Tensor:
        """(B, L, K)"""
        logits = self.model(batch["words"], batch["words_mask"], batch["words_characters"])
        return logits.float().log_softmax(-1)
