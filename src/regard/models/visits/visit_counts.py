"""Places by how often they were visited: one number is learnt, everything else is counted.

Legend: B users, T questions of each, C candidates of a question, V places, G different things known before.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from regard.models.visits.place_question import PlaceModel, PlaceQuestion
from regard.models.visits.visit_options import VisitCounts


class CountedPlaces(PlaceModel):
    """score(v) = log p(v | g),  p(v | g) = (n_gv + μ p(v)) / (n_g + μ),  p(v) = (n_v + 1) / (n + V)

    n_gv counts the visits to v whose g is the same: the place right before (a Markov chain), the user, or
    nothing at all (popularity). μ is learnt.
    """

    def __init__(self, options: VisitCounts) -> None:
        super().__init__()
        self.given = options.given
        self.prior = nn.Parameter(torch.tensor(math.log(options.prior)))  # log μ

    def forward(self, asked: PlaceQuestion, candidates: Tensor | None = None) -> Tensor:
        before, place, count = asked.counted.T.contiguous()
        count, places = count.to(self.prior.dtype), len(asked.points) - 1
        every = count.new_zeros(places).index_add(0, place - 1, count)  # n_v
        share = (every + 1.0) / (every.sum() + places)  # p(v)
        known, row = self._known(asked).unique(return_inverse=True)  # (G,), (B, T)
        at = torch.searchsorted(known, before).clamp(max=len(known) - 1)
        met = known[at] == before
        own = count.new_zeros(len(known) * places)
        own = own.index_add(0, (at * places + place - 1)[met], count[met]).view(-1, places)  # n_gv
        prior = self.prior.exp()
        scores = ((own + prior * share) / (own.sum(-1, keepdim=True) + prior)).log()[row]
        return scores if candidates is None else scores.gather(-1, candidates - 1)

    def _known(self, asked: PlaceQuestion) -> Tensor:
        """g (B, T)"""
        if self.given == "place":
            return asked.last
        user = asked.user if self.given == "user" else torch.zeros_like(asked.user)
        return user[:, None].expand(asked.seen.shape)
