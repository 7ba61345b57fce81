"""ST-RNN: a recurrent network whose matrices depend on how long ago a visit was, and on how far away.

    h_(t,v) = σ( Σ_(i: t-w < t_i < t) S_‖v-v_i‖ T_(t-t_i) q_(v_i) + C h_(t',v') )
    score   = (h_(t,v) + p_u) · q_v

(t', v') is the last visit before the window, h_0 is learnt, and S and T are linear between the matrices of
the edges: S_x = [S_L (U - x) + S_U (x - L)] / (U - L).
— Liu et al. 2016, https://doi.org/10.1609/aaai.v30i1.9971

h depends on the candidate v by its distances alone. So with x_i = T_(t-t_i) q_i all S_e x_i are made once,
and the sum for a candidate is a blend of them: no matrix is made for a pair. A window is a stretch of its
trail, since visits are in the order of time, and states are made level by level: the visits whose window
begins at the start of the trail first, then those whose last visit before the window was one of them.
Visits of one time are one after the other, as they stand in the trail.

Legend: B users, L visits, T questions of each, N = B · T, W visits in the widest window, C candidates,
V places, D features, E edges.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.models.visits.interpolation import interpolation
from regard.models.visits.place_question import PlaceQuestion, VectorPlaces
from regard.models.visits.visit_options import StRnn

EARTH = 2 * 6371.0  # km, its diameter
TOGETHER = 1 << 23  # numbers of a blend that are made at a time, where all places are candidates


class VisitWindows(NamedTuple):
    """What N questions know: the visits of their windows, the latest first, and what was before."""

    terms: Tensor  # (N, W, E, D): S_e T_(t-t_i) q_i, 0 where there is no visit
    points: Tensor  # (N, W, 3): where the visits were, km
    memory: Tensor  # (N, D): C h of the last visit before the window
    visits: Tensor  # (N, W): their places in the trail, from 0; -1: none

    @property
    def widths(self) -> Tensor:
        """(N,): how many visits each has."""
        return (self.visits >= 0).sum(-1)

    def of(self, rows: Tensor) -> VisitWindows:
        """Of some questions, no wider than the widest of them."""
        wide = int(self.widths[rows].max()) if len(rows) else 0
        terms, points, memory, visits = (part[rows] for part in self)
        return VisitWindows(terms[:, :wide], points[:, :wide], memory, visits[:, :wide])


class StRnnPlaces(VectorPlaces):
    """times, distances: edges. Without `temporal` or `spatial` its matrix is the identity."""

    options: StRnn
    times: Tensor
    distances: Tensor

    def __init__(self, places: int, users: int, options: StRnn) -> None:
        super().__init__(places, users, options)
        size = options.size
        self.register_buffer("times", torch.tensor(options.times), persistent=False)
        self.register_buffer("distances", torch.tensor(options.distances), persistent=False)
        self.temporal = _matrices(len(options.times), size) if options.temporal else None
        self.spatial = _matrices(len(options.distances), size) if options.spatial else None
        self.recurrent = nn.Linear(size, size, bias=False)  # C
        self.first = nn.Parameter(torch.zeros(size))  # h_0

    def forward(self, asked: PlaceQuestion, candidates: Tensor | None = None) -> Tensor:
        windows = self.windows(asked)
        liking = self.liking(asked).repeat_interleave(asked.seen.shape[1], 0)  # (N, D)
        if candidates is not None:
            chosen = self.places(candidates.flatten(0, 1))  # (N, C, D)
            where = asked.points[candidates.flatten(0, 1)]
            states = (self.sums(windows, where) + windows.memory[:, None]).sigmoid()
            scores = ((states + liking[:, None]) * chosen).sum(-1)
            return scores.view(candidates.shape)
        every, where = self.places.weight[1:], asked.points[1:]
        found, order = [], windows.widths.argsort()
        for rows in order.split(self._together(windows, len(every))):
            some = windows.of(rows)  # windows of like widths, without what they have not
            states = (self.sums(some, where) + some.memory[:, None]).sigmoid()
            found.append(torch.einsum("nvd,vd->nv", states + liking[rows, None], every))
        return torch.cat(found)[order.argsort()].view(*asked.seen.shape, len(every))

    def _together(self, windows: VisitWindows, places: int) -> int:
        """How many questions are answered at a time, where all places are candidates."""
        _, width, edges, size = windows.terms.shape
        return max(TOGETHER // (places * max(width * edges, size)), 1)

    def windows(self, asked: PlaceQuestion) -> VisitWindows:
        """Of the questions."""
        states = self.trail_states(asked)  # (B, L, D)
        first = self.first_visits(asked, asked.seen, asked.when)
        before = torch.cat([self.first.expand(len(states), 1, -1), states], 1)
        row = torch.arange(len(states), device=states.device)[:, None]
        memory = self.recurrent(before[row, first])  # the state after visit first - 1
        return self.within(asked, asked.seen, asked.when, first, memory.flatten(0, 1))

    def first_visits(self, asked: PlaceQuestion, seen: Tensor, when: Tensor) -> Tensor:
        """(B, T): where the window begins, the number of the first visit with t_i > t - w, from 0."""
        sorted_hours = asked.hours.masked_fill(~asked.mask, torch.inf).contiguous()
        begins = when - self.times[-1].to(when.dtype)
        return torch.searchsorted(sorted_hours, begins.contiguous(), right=True).minimum(seen)

    def within(
        self, asked: PlaceQuestion, seen: Tensor, when: Tensor, first: Tensor, memory: Tensor
    ) -> VisitWindows:
        """The visits from `first` up to `seen`, each (B, T), for questions at the times `when`."""
        width = int((seen - first).max()) if seen.numel() else 0
        visits = seen[..., None] - 1 - torch.arange(width, device=seen.device)  # (B, T, W)
        real = visits >= first[..., None]
        at = visits.clamp(min=0)
        row = torch.arange(len(seen), device=seen.device)[:, None, None]
        places = asked.places[row, at]
        vectors = self.visited(places)  # (B, T, W, D)
        if self.temporal is not None:
            gaps = (when[..., None] - asked.hours[row, at]).to(vectors.dtype)
            shares = interpolation(gaps, self.times.to(vectors.dtype))  # (B, T, W, E)
            turned = torch.einsum("edc,btwc->btwed", self.temporal, vectors)
            vectors = torch.einsum("btwe,btwed->btwd", shares, turned)
        vectors = vectors.masked_fill(~real[..., None], 0.0)
        terms = vectors[..., None, :]
        if self.spatial is not None:
            terms = torch.einsum("edc,btwc->btwed", self.spatial, vectors)
        return VisitWindows(
            terms.flatten(0, 1),
            asked.points[places].flatten(0, 1),
            memory,
            visits.masked_fill(~real, -1).flatten(0, 1),
        )

    def shares(self, windows: VisitWindows, where: Tensor) -> Tensor:
        """(N, C, W, E): how much each matrix of distance counts; where (N, C, 3), or (C, 3) of all alike"""
        if self.spatial is None:
            shape = len(windows.points), where.shape[-2], windows.points.shape[1], 1
            return windows.terms.new_ones(shape)
        kind = windows.terms.dtype
        apart = "donot_use_mm_for_euclid_dist"
        chord = torch.cdist(where.to(kind), windows.points.to(kind), compute_mode=apart)
        distances = chord.div_(EARTH).clamp_(max=1.0).asin_().mul_(EARTH)
        return interpolation(distances, self.distances.to(kind))

    def sums(self, windows: VisitWindows, where: Tensor) -> Tensor:
        """Σ_i S_‖v-v_i‖ T_(t-t_i) q_i (N, C, D)"""
        shares = self.shares(windows, where)
        return shares.flatten(-2) @ windows.terms.flatten(1, 2)

    def trail_states(self, asked: PlaceQuestion) -> Tensor:
        """h (B, L, D) at every visit, of the place that it was to; what is no visit has any."""
        users, length = asked.places.shape
        if not length:
            return self.places.weight.new_zeros(users, 0, self.options.size)
        seen = torch.arange(length, device=asked.places.device).where(asked.mask, 0)
        when = asked.hours
        first = self.first_visits(asked, seen, when)
        none = self.places.weight.new_zeros(users * length, 0)
        windows = self.within(asked, seen, when, first, none)
        where = asked.points[asked.places].flatten(0, 1)[:, None]  # (N, 1, 3)
        sums = self.sums(windows, where).squeeze(1)  # (N, D)
        return self._recurred(sums, first).view(users, length, -1)

    def _recurred(self, sums: Tensor, first: Tensor) -> Tensor:
        """h_k = σ(sum_k + C h_(first_k - 1)) of all visits, level by level; sums (B · L, D), first (B, L)"""
        users, length = first.shape
        row = torch.arange(users, device=first.device)[:, None]
        level = levels(first)
        order = level.flatten().argsort(stable=True)
        counts = level.flatten().bincount().tolist()
        slot = torch.empty_like(order)
        slot[order] = torch.arange(len(order), device=order.device)
        parent = slot[(row * length + first - 1).clamp(min=0).flatten()[order]]
        before, found, start = self.first[None], list[Tensor](), 0
        for number, count in enumerate(counts):
            here = slice(start, start + count)
            at = parent[here] - (start - len(before)) if number else torch.zeros_like(parent[here])
            before = (sums[order[here]] + self.recurrent(before)[at]).sigmoid()
            found.append(before)
            start += count
        return torch.cat(found)[slot]

    def contributions(self, asked: PlaceQuestion, candidates: Tensor) -> tuple[Tensor, Tensor]:
        """What a score loses without a visit of the window, or without all that was before it.

        candidates (B, T, C) -> (B, T, C, L) of visits, 0 outside the window, and (B, T, C)
        """
        windows = self.windows(asked)
        chosen = candidates.flatten(0, 1)
        shares = self.shares(windows, asked.points[chosen])  # (N, C, W, E)
        terms = torch.einsum("ncwe,nwed->ncwd", shares, windows.terms)
        sums, memory = terms.sum(-2), windows.memory[:, None]
        whole, vectors = (sums + memory).sigmoid(), self.places(chosen)
        without = (sums[..., None, :] - terms + memory[..., None, :]).sigmoid()  # (N, C, W, D)
        lost = ((whole[..., None, :] - without) * vectors[..., None, :]).sum(-1)  # (N, C, W)
        length = asked.places.shape[1]
        spread = lost.new_zeros(*lost.shape[:2], length + 1)  # the last is of what is no visit
        at = windows.visits.masked_fill(windows.visits < 0, length)[:, None].expand(lost.shape)
        spread = spread.scatter_add(-1, at, lost)[..., :length]
        forgotten = ((whole - sums.sigmoid()) * vectors).sum(-1)
        return spread.view(*candidates.shape, length), forgotten.view(candidates.shape)


def levels(first: Tensor) -> Tensor:
    """(B, L): how many windows lie between a visit and the start of its trail, by where windows begin.

    Visit k follows visit first_k - 1, if there is one: pointers that are doubled until all have arrived.
    """
    length = first.shape[1]
    before = F.pad(first, (1, 0))  # 0: the start, which follows itself
    count = (before > 0).long()
    for _ in range(max(length, 1).bit_length()):
        count = count + count.gather(1, before)
        before = before.gather(1, before)
    return count[:, 1:]


def _matrices(edges: int, size: int) -> nn.Parameter:
    """(E, D, D): nearly the identity, so that what was visited is remembered before anything is learnt."""
    return nn.Parameter(torch.eye(size) + torch.randn(edges, size, size) * 0.1 * size**-0.5)
