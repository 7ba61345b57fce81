"""The options of models that tell the next place. `build` imports the networks, and torch with them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field

from regard.models.attention_options import AttentionOptions
from regard.options import Few, ModelOptions, NotNegative, Positive, Rate, Width
from regard.words import t

if TYPE_CHECKING:
    from torch import nn


def _rising(edges: list[float]) -> list[float]:
    if any(low >= high for low, high in pairwise(edges)):
        raise ValueError(
            t("each edge must be larger than the one before it, not {edges}", edges=edges)
        )
    return edges


Edges = Annotated[list[NotNegative], Field(min_length=2), AfterValidator(_rising)]


class VisitOptions(ModelOptions):
    """What all of them have."""

    task: ClassVar[str] = "visit"

    @property
    def counts(self) -> str:
        """What is counted of the training part for it: visits by "user", after a "place", "all", or ""."""
        return ""


class VisitCounts(VisitOptions):
    """The places that were visited most: by everybody, right after the last place (a Markov chain), or by the
    user. What is counted is kept in the run.
    """

    kind: Literal["visit-counts"] = "visit-counts"
    given: Literal["all", "place", "user"] = Field(
        "place", description="whose visits count: all, those right after the same place, the user's"
    )
    prior: Positive = Field(
        5.0,
        description="how many visits are added to these, shared out as all are; learnt from here on",
    )

    @property
    def counts(self) -> str:
        return self.given

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.visits.visit_counts import CountedPlaces

        return CountedPlaces(self)


class VisitVectors(VisitOptions):
    """What those have that know a place and a user by a vector: a score is (h + user) · place."""

    size: Width = Field(32, description="features of a place, and of a user")
    users: bool = Field(True, description="a vector for each user")
    dropout: Rate = Field(0.0, description="of the vectors of visits")


class VisitFactors(VisitVectors):
    """h is a vector of the last place (FPMC), or nothing (matrix factorisation)."""

    kind: Literal["visit-factors"] = "visit-factors"
    last: bool = Field(True, description="the last place counts; false: the user alone")

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.visits.visit_networks import FactoredPlaces

        return FactoredPlaces(sizes["place"], sizes["user"], self)


class VisitRnn(VisitVectors):
    """h is the state of a recurrent network that has read the places, one after the other."""

    kind: Literal["visit-rnn"] = "visit-rnn"
    cell: Literal["elman", "gru", "lstm"] = Field("gru", description="elman: the plain RNN")

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.visits.visit_networks import RecurrentPlaces

        return RecurrentPlaces(sizes["place"], sizes["user"], self)


class VisitAttention(VisitVectors):
    """h is what is attended to among the visits before, by the last place and the time that is asked about;
    how long ago a visit was is a bias.
    """

    attends_by: ClassVar[Mapping[str, str]] = {"attention": "the visits before"}
    kind: Literal["visit-attention"] = "visit-attention"
    heads: Few = Field(2, description="heads that share the features")
    times: Edges = Field(
        [0.0, 1.0, 6.0, 24.0, 72.0, 168.0, 720.0],
        description="hours ago that have a bias of their own; between them it is interpolated",
    )
    attention: AttentionOptions = Field(
        AttentionOptions(score="scaled-dot"), description="how the visits before are attended to"
    )

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.visits.visit_networks import AttendedPlaces

        return AttendedPlaces(sizes["place"], sizes["user"], self)


class StRnn(VisitVectors):
    """h of a candidate is a sum over the visits of the last hours, each through a matrix of how long ago it
    was and one of how far away the candidate is (Liu et al. 2016).
    """

    kind: Literal["st-rnn"] = "st-rnn"
    times: Edges = Field(
        [0.0, 1.0, 3.0, 6.0],
        description="hours ago that have a matrix of their own; the last is the width of the window",
    )
    distances: Edges = Field(
        [0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0],
        description="kilometres that have a matrix of their own; what is farther has the last",
    )
    temporal: bool = Field(
        True, description="false: no matrices of time, all visits of the window alike"
    )
    spatial: bool = Field(
        True, description="false: no matrices of distance, so that h knows no candidate"
    )

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.visits.st_rnn import StRnnPlaces

        return StRnnPlaces(sizes["place"], sizes["user"], self)
