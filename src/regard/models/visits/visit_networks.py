"""What ST-RNN is compared with: factors, recurrent networks, and attention over the visits before.

Legend: B users, L visits before, T questions of each, D features, H heads.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from regard.attention.multi_head import MultiHead
from regard.layers.recurrent import Recurrent
from regard.models.visits.interpolation import interpolation
from regard.models.visits.place_question import PlaceQuestion, VectorPlaces, at_seen
from regard.models.visits.visit_options import VisitAttention, VisitFactors, VisitRnn

DAY, WEEK = 24, 7


class FactoredPlaces(VectorPlaces):
    """h = l_(last place)      — FPMC, Rendle et al. 2010; without it h = 0, matrix factorisation"""

    options: VisitFactors

    def __init__(self, places: int, users: int, options: VisitFactors) -> None:
        super().__init__(places, users, options)
        self.after = nn.Embedding(places, options.size, padding_idx=0) if options.last else None
        if self.after is not None:
            nn.init.normal_(self.after.weight, std=options.size**-0.5)
            with torch.no_grad():
                self.after.weight[0].zero_()

    def states(self, asked: PlaceQuestion) -> Tensor:
        if self.after is None:
            return self.places.weight.new_zeros(*asked.seen.shape, self.options.size)
        return self.after(asked.last)


class RecurrentPlaces(VectorPlaces):
    """h_k = cell(q_(v_k), h_(k-1)), h_0 learnt"""

    def __init__(self, places: int, users: int, options: VisitRnn) -> None:
        super().__init__(places, users, options)
        self.network = Recurrent(options.size, options.size, cell=options.cell, initial="learned")

    def states(self, asked: PlaceQuestion) -> Tensor:
        outputs = self.network(self.visited(asked.places), asked.mask).outputs  # (B, L, D)
        ((first, *_),) = self.network.start(len(asked.user))
        return at_seen(torch.cat([first[:, None], outputs], 1), asked.seen)


class AttendedPlaces(VectorPlaces):
    """h = x + Σ_i a_i W q_(v_i),  x = q_(last place) + hour and day of the question

    a: attention of x to the visits that are before it, each a place with its hour and day, with a bias that
    is interpolated by how long ago it was: one for every head.
    """

    options: VisitAttention
    times: Tensor

    def __init__(self, places: int, users: int, options: VisitAttention) -> None:
        super().__init__(places, users, options)
        size = options.size
        self.hour, self.day = nn.Embedding(DAY, size), nn.Embedding(WEEK, size)
        for table in (self.hour, self.day):
            nn.init.normal_(table.weight, std=0.1 * size**-0.5)
        self.ago = nn.Parameter(torch.zeros(options.heads, len(options.times)))
        self.register_buffer("times", torch.tensor(options.times), persistent=False)
        self.attention = MultiHead(
            size, size, size, heads=options.heads, **options.attention.mechanism
        )

    def states(self, asked: PlaceQuestion) -> Tensor:
        query = self.places(asked.last) + self.moments(asked.when)
        visits = self.visited(asked.places)  # (B, L, D)
        before = torch.arange(visits.shape[1], device=visits.device) < asked.seen[..., None]
        gaps = (asked.when[..., None] - asked.hours[:, None]).clamp(min=0.0)  # (B, T, L)
        shares = interpolation(gaps.to(visits.dtype), self.times.to(visits.dtype))
        bias = torch.einsum("btle,he->bhtl", shares, self.ago)
        memory = self.attention.remember(
            visits + self.moments(asked.hours), asked.mask, values=visits
        )
        return query + self.attention(query, memory, mask=before, bias=bias).context

    def moments(self, hours: Tensor) -> Tensor:
        """(..., D) of the hour and the day"""
        hour = hours.floor().long()
        return self.hour(hour % DAY) + self.day(hour // DAY % WEEK)
