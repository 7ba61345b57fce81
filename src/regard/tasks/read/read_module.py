"""Reading as a task: the loss of a batch, and how likely each answer is.

Legend: B examples, S words of a story, Q of a question, K candidates of up to L words, M markers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.data.fields.choice import NONE
from regard.data.fields.span import CUT_OFF
from regard.tasks.task_module import Loss, TaskModule


class Choose(TaskModule):
    """A model that gives logits (B, K) for a story, a question and candidates.

    words: how many tokens there are before the markers; markers: how many of them are permuted, for every
    example anew, in training. Chance is that of the update, so a run that goes on draws what it would have.
    """

    def __init__(
        self, model: nn.Module, *, words: int, markers: int = 0, label_smoothing: float = 0.0
    ) -> None:
        super().__init__(model)
        self.words, self.markers, self.label_smoothing = words, markers, label_smoothing

    def forward(
        self,
        story: Tensor,
        story_mask: Tensor,
        question: Tensor,
        question_mask: Tensor,
        candidates: Tensor,
        candidates_mask: Tensor,
        candidates_answer: Tensor,
    ) -> Loss:
        """candidates_answer (B,): the number of the right one, -100 where it is not known"""
        if self.training and self.markers:
            order = torch.rand(len(story), self.markers).argsort(-1).to(story.device)
            story, question, candidates = (
                permuted(ids, order, self.words) for ids in (story, question, candidates)
            )
        logits = self.model(
            story, story_mask, question, question_mask, candidates, candidates_mask
        ).float()
        loss = F.cross_entropy(logits, candidates_answer, ignore_index=NONE, reduction="sum")
        if self.training and self.label_smoothing:
            loss = torch.lerp(loss, _evenly(logits, candidates_answer), self.label_smoothing)
        return Loss(loss, (candidates_answer != NONE).sum())

    def log_probs(self, batch: Mapping[str, Tensor]) -> Tensor:
        """(B, K): -inf for candidates that an example has not"""
        names = (
            f"{name}{end}" for name in ("story", "question", "candidates") for end in ("", "_mask")
        )
        return self.model(*(batch[name] for name in names)).float().log_softmax(-1)


def permuted(ids: Tensor, order: Tensor, words: int) -> Tensor:
    """ids (B, …), the marker words + m of row b replaced by words + order[b, m]; order (B, M)"""
    flat = ids.flatten(1)
    new = words + order.gather(1, (flat - words).clamp(min=0))
    return torch.where(flat < words, flat, new).view_as(ids)


def _evenly(logits: Tensor, answers: Tensor) -> Tensor:
    """The loss if every candidate that there is were wanted alike, summed."""
    real = logits.isfinite()
    each = logits.log_softmax(-1).masked_fill(~real, 0.0).sum(-1) / real.sum(-1)
    return -each[answers != NONE].sum()


class Places(NamedTuple):
    first: Tensor  # (B,): the number of a word
    last: Tensor  # (B,): not before the first
    log_prob: Tensor  # (B,): of both; of a story without words it means nothing


class PointOut(TaskModule):
    """A model that gives logits (B, 2, S) of the first and the last word of the answer."""

    def forward(
        self,
        story: Tensor,
        story_mask: Tensor,
        question: Tensor,
        question_mask: Tensor,
        answer: Tensor,
    ) -> Loss:
        """answer (B, 2): the first and the last word; -1 where it is cut off"""
        logits = self._logits(story, story_mask, question, question_mask)
        total = F.cross_entropy(
            logits.flatten(0, 1), answer.flatten(), ignore_index=CUT_OFF, reduction="sum"
        )
        return Loss(total, (answer[:, 0] != CUT_OFF).sum())

    def places(self, batch: Mapping[str, Tensor], longest: int) -> Places:
        """The likeliest span of at most so many words."""
        names = (f"{name}{end}" for name in ("story", "question") for end in ("", "_mask"))
        first, last = self._logits(*(batch[name] for name in names)).log_softmax(-1).unbind(1)
        return likeliest_span(first, last, longest)

    def _logits(
        self, story: Tensor, mask: Tensor, question: Tensor, question_mask: Tensor
    ) -> Tensor:
        """Without the end of the story, its last position, which is no word."""
        logits = self.model(story, mask, question, question_mask).float()
        end = mask.sum(-1, keepdim=True) - 1
        is_end = torch.arange(story.shape[1], device=story.device) == end
        alone = (mask.sum(-1) <= 1)[:, None]  # an empty story: its end is all there is
        return logits.masked_fill((is_end & ~alone)[:, None], -math.inf)


def likeliest_span(first: Tensor, last: Tensor, longest: int) -> Places:
    """arg max over i <= j < i + longest of first_i + last_j: log-probabilities (B, S)

    In S · longest numbers of an example: a long story has many pairs of words.
    """
    width = min(longest, first.shape[-1])
    ends = F.pad(last, (0, width - 1), value=-math.inf).unfold(-1, width, 1)  # (B, S, width)
    best, place = (first[..., None] + ends).flatten(1).max(-1)
    start = place // width
    return Places(start, start + place % width, best)
