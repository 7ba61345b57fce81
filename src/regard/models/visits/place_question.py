"""What is asked of a model: which place comes next, after these visits, at this time?

Legend: B users, L visits before, T questions of each, C candidates of a question, V places, D features.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.models.visits.visit_options import VisitVectors


class PlaceQuestion(NamedTuple):
    """Question t of a user knows the first `seen` visits, in the order of time, and the time `when`.

    Numbers of places and users begin with 1, and 0 is an unknown user. `points` and `counted` are known of
    all places, from training: where they are, and what was counted (see `data.fields.place.Place`).
    """

    user: Tensor  # (B,)
    places: Tensor  # (B, L)
    hours: Tensor  # (B, L) float64
    mask: Tensor  # (B, L) True where there is a visit
    seen: Tensor  # (B, T)
    when: Tensor  # (B, T) float64
    points: Tensor  # (V + 1, 3) km
    counted: Tensor  # (counts, 3)

    @property
    def last(self) -> Tensor:
        """(B, T): the place right before; 0 where nothing is."""
        return at_seen(F.pad(self.places, (1, 0)), self.seen)


class PlaceModel(nn.Module):
    """Scores of places, higher is likelier."""

    def forward(self, asked: PlaceQuestion, candidates: Tensor | None = None) -> Tensor:
        """candidates (B, T, C), numbers of places -> (B, T, C); None: all, from 1 on, -> (B, T, V)"""
        raise NotImplementedError

    def contributions(
        self, asked: PlaceQuestion, candidates: Tensor
    ) -> tuple[Tensor, Tensor] | None:
        """What the score of a candidate loses without each visit (B, T, C, L), and without all that is
        remembered beside them (B, T, C); None: it cannot be told.
        """
        return None


class VectorPlaces(PlaceModel):
    """score(v) = (h + p_u) · q_v,  q_v the vector of a place and p_u of a user, 0 of an unknown one

    A subclass gives h.
    """

    def __init__(self, places: int, users: int, options: VisitVectors) -> None:
        super().__init__()
        self.options, size = options, options.size
        self.places = nn.Embedding(places, size, padding_idx=0)
        self.users = nn.Embedding(users, size, padding_idx=0) if options.users else None
        for table in filter(None, (self.places, self.users)):
            nn.init.normal_(table.weight, std=size**-0.5)
            with torch.no_grad():
                table.weight[0].zero_()

    def states(self, asked: PlaceQuestion) -> Tensor:
        """h (B, T, D)"""
        raise NotImplementedError

    def forward(self, asked: PlaceQuestion, candidates: Tensor | None = None) -> Tensor:
        wanted = self.states(asked) + self.liking(asked)[:, None]
        if candidates is None:
            return wanted @ self.places.weight[1:].T
        return torch.einsum("btd,btcd->btc", wanted, self.places(candidates))

    def liking(self, asked: PlaceQuestion) -> Tensor:
        """p_u (B, D)"""
        if self.users is not None:
            return self.users(asked.user)
        return self.places.weight.new_zeros(len(asked.user), self.options.size)

    def visited(self, places: Tensor) -> Tensor:
        """(..., D) of visits"""
        return F.dropout(self.places(places), self.options.dropout, self.training)


def at_seen(states: Tensor, seen: Tensor) -> Tensor:
    """states (B, L + 1, …), before the first visit, after it, … -> (B, T, …): those of each question"""
    row = torch.arange(len(states), device=states.device)[:, None]
    return states[row, seen]
