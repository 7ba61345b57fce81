"""The next place: what a wrong one costs, and how all places are ranked.

Legend: B users, L visits before, T questions of each, V places, C candidates.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.models.visits.place_question import PlaceModel, PlaceQuestion, at_seen
from regard.tasks.task_module import Loss, TaskModule


class Questions(NamedTuple):
    """What is asked of a batch, and the answers."""

    asked: PlaceQuestion
    wanted: Tensor  # (B, T): numbers of places; 0: not known
    real: Tensor  # (B, T): True where there is a question


class NextPlace(TaskModule):
    """points (V + 1, 3) and counted: what is known of all places, as `data.fields.place.Place` has it."""

    model: PlaceModel
    points: Tensor
    counted: Tensor

    def __init__(
        self,
        model: nn.Module,
        points: NDArray[np.float64],
        counted: NDArray[np.int64],
        *,
        loss: Literal["bpr", "softmax"] = "bpr",
        negatives: int = 1,
    ) -> None:
        super().__init__(model)
        self.loss, self.negatives = loss, negatives
        self.register_buffer("points", torch.from_numpy(points), persistent=False)
        self.register_buffer("counted", torch.from_numpy(counted), persistent=False)

    def forward(self, place: Tensor, **given: Tensor) -> Loss:
        """place (B,): the last place of each; the tensors of `question` beside it.

        While training, against places that are drawn, else against all others.
        """
        asked, wanted, real = self.questions(given, place)
        if not self.training or not self.negatives:
            return self.loss_of(self.scores(asked), wanted, real)
        drawn = torch.randint(
            len(self.points) - 2, (*wanted.shape, self.negatives), device=wanted.device
        )
        others = drawn + 1 + (drawn + 1 >= wanted[..., None])
        scores = self.scores(asked, torch.cat([wanted.clamp(min=1)[..., None], others], -1))
        real = real & (wanted > 0)
        return Loss(self._cost(scores[..., :1], scores[..., 1:], real), real.sum())

    def scores(self, asked: PlaceQuestion, candidates: Tensor | None = None) -> Tensor:
        """(B, T, C), or (B, T, V) of all places, in float32 or wider"""
        found: Tensor = self.model(asked, candidates)
        return found.float() if found.dtype in (torch.float16, torch.bfloat16) else found

    def questions(self, given: Mapping[str, Tensor], place: Tensor | None = None) -> Questions:
        """Of each trail the last visit, and `history_told` visits before it, which are told too."""
        visits, hours, mask = given["history"], given["history_hours"], given["history_mask"]
        told, count = given["history_told"], mask.sum(-1)  # (B,)
        number = torch.arange(int(told.max()) + 1 if len(told) else 1, device=told.device)
        real = number <= told[:, None]  # (B, T)
        seen = (count - told)[:, None] + number.where(real, 0)
        asked = PlaceQuestion(
            user=given["user"],
            places=visits,
            hours=hours,
            mask=mask,
            seen=seen,
            when=at_seen(_ended(hours, given["time"], count), seen),
            points=self.points,
            counted=self.counted,
        )
        last = torch.zeros_like(count) if place is None else place
        return Questions(asked, at_seen(_ended(visits, last, count), seen), real)

    def loss_of(self, scores: Tensor, wanted: Tensor, real: Tensor) -> Loss:
        """Of scores (B, T, V) of all places; what is wanted and not known costs nothing."""
        real = real & (wanted > 0)
        own = (wanted - 1).clamp(min=0)[..., None]
        others = torch.ones_like(scores, dtype=torch.bool).scatter(-1, own, False)
        rest = scores[others].view(*wanted.shape, -1)
        return Loss(self._cost(scores.gather(-1, own), rest, real), real.sum())

    def _cost(self, own: Tensor, others: Tensor, real: Tensor) -> Tensor:
        """own (B, T, 1), others (B, T, C), the mean over them of ln(1 + exp(-(own - other))), or a softmax"""
        if self.loss == "bpr":
            each = F.softplus(others - own).mean(-1)
        else:
            each = torch.cat([own, others], -1).logsumexp(-1) - own[..., 0]
        return each.masked_fill(~real, 0.0).sum()


def _ended(sequence: Tensor, last: Tensor, count: Tensor) -> Tensor:
    """(B, L), with `last` (B,) behind the first `count` (B,) of each -> (B, L + 1)"""
    whole = F.pad(sequence, (0, 1))
    return whole.scatter(1, count[:, None], last[:, None].to(whole.dtype))
