"""A label for every word: the loss of a batch, and the likeliest labels.

Legend: B texts, L words, C characters of a word, K labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import torch.nn.functional as F
from torch import Tensor, nn

from regard.attention.recording import recording
from regard.data.fields.labels import NONE
from regard.tasks.task_module import Loss, TaskModule


class TaggedWords(NamedTuple):
    """What was found for a batch."""

    labels: list[list[int]]  # of every word of each text
    log_probs: list[float]  # of all labels of a text
    attention: list[Tensor] | None  # (L, L) of each text: the last layer, mean over its heads


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

    def tag(self, batch: Mapping[str, Tensor], *, attention: bool = False) -> TaggedWords:
        """The likeliest label of every word."""
        words, mask = batch["words"], batch["words_mask"]
        with self.inference(), recording(self.model) as recorded:
            logits = self.model(words, mask, batch["words_characters"])
        best, labels = logits.float().log_softmax(-1).max(-1)
        lengths = mask.sum(-1).tolist()
        weights = None
        if attention and recorded:
            every = recorded[-1].weights
            mean = (every.mean(1) if every.dim() == 4 else every).float().cpu()
            weights = [w[:n, :n] for w, n in zip(mean, lengths, strict=True)]
        rows = zip(labels.tolist(), lengths, strict=True)
        sums = best.masked_fill(~mask, 0.0).sum(-1).tolist()
        return TaggedWords([row[:n] for row, n in rows], sums, weights)
