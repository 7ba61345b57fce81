"""How to search, and what a hypothesis is worth."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeVar, get_args

from torch import Tensor

from regard.suggestions import meant
from regard.words import t

Method = Literal["beam", "sample"]
Length = TypeVar("Length", float, Tensor)

UNCOVERED = 1e-6  # a word that was never attended counts as log(1e-6), not as -inf
EXTRA_LENGTH = 10  # what short sources may add to `max_ratio` times their length


class NoSuchSearch(ValueError):
    """Settings that make no sense for a search. `status`: the user's mistake."""

    status = 2
    hint = "help(regard.search.Search) says what each setting may be"


@dataclass(frozen=True)
class Search:
    """score = log_prob / ((5 + length) / 6)^α + β · Σ_j log(min(Σ_i a_ij, 1))

    — Wu et al. 2016, https://arxiv.org/abs/1609.08144. log_prob and length count EOS; a_ij is the
    weight of source position j (its EOS too) at target token i. α = 0 ranks by log_prob alone; with
    α = 1 a hypothesis is judged by its mean, nearly.

    method            beam: the best hypotheses (beam=1 is greedy search). sample: draws from the model
    beam              hypotheses kept open, per sentence
    nbest             hypotheses returned per sentence: the best, or this many draws less repeated ones
    length_penalty    α
    coverage_penalty  β, at least 0; needs a decoder that attends
    min_length        EOS is allowed after this many other tokens
    max_length        most tokens, EOS counted: min(max_length, 10 + max_ratio · source length).
    max_ratio         What has no EOS by then is returned unfinished, behind all that are finished
    no_repeat_ngram   no n tokens in a row twice; 0: no such rule
    temperature       of the draws: p^(1/temperature), renormalised. Reported are the model's own log_probs
    top_k, top_p      draw among the k most probable tokens (0: all), the fewest whose mass reaches p
    seed              a draw is a function of the seed, the sentence's number and the step alone
    attention         return the weights of every hypothesis
    """

    method: Method = "beam"
    beam: int = 5
    nbest: int = 1
    length_penalty: float = 1.0
    coverage_penalty: float = 0.0
    min_length: int = 0
    max_length: int = 100
    max_ratio: float = 3.0
    no_repeat_ngram: int = 0
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0
    attention: bool = False

    def __post_init__(self) -> None:
        if self.method not in get_args(Method):
            raise NoSuchSearch(
                t(
                    "method is 'beam' or 'sample', not {method}{meant}",
                    method=repr(self.method),
                    meant=self._meant(),
                )
            )
        for name, least in _LEAST.items():
            if not (value := getattr(self, name)) >= least or not math.isfinite(value):
                raise NoSuchSearch(
                    t(
                        "{name} must be at least {least}, not {value}",
                        name=name,
                        least=least,
                        value=value,
                    )
                )
        if self.max_length <= self.min_length:
            raise NoSuchSearch(
                t(
                    "max_length counts EOS and must be above min_length, not {max_length} with "
                    "min_length={min_length}",
                    max_length=self.max_length,
                    min_length=self.min_length,
                )
            )
        if not 0 < self.temperature < math.inf:
            raise NoSuchSearch(
                t(
                    "temperature must be above 0, not {temperature}; greedy search is beam=1",
                    temperature=self.temperature,
                )
            )
        if not 0 < self.top_p <= 1:
            raise NoSuchSearch(
                t("top_p must be above 0 and at most 1, not {top_p}", top_p=self.top_p)
            )
        if not math.isfinite(self.length_penalty):
            raise NoSuchSearch(
                t(
                    "length_penalty must be a finite number, not {length_penalty}",
                    length_penalty=self.length_penalty,
                )
            )
        if self.method == "beam":
            self._check_beam()

    def _meant(self) -> str:
        method = str(self.method)
        if method == "greedy":
            return t("; greedy search is beam=1")
        return (hint := meant(method, get_args(Method))) and f".{hint}"

    def _check_beam(self) -> None:
        if self.nbest > self.beam:
            raise NoSuchSearch(
                t(
                    "nbest={nbest} hypotheses need a beam at least as wide, not beam={beam}",
                    nbest=self.nbest,
                    beam=self.beam,
                )
            )
        if (self.temperature, self.top_k, self.top_p) != (1.0, 0, 1.0):
            raise NoSuchSearch(
                t("temperature, top_k and top_p change what is drawn: they need method='sample'")
            )

    @property
    def width(self) -> int:
        """How many hypotheses of a sentence are kept open."""
        return self.beam if self.method == "beam" else self.nbest

    @property
    def weighs(self) -> bool:
        """Whether the attention weights are needed."""
        return self.attention or self.coverage_penalty > 0

    def limits(self, source_lengths: Tensor) -> Tensor:
        """The most tokens for sources of these lengths: (B,) -> (B,)"""
        by_source = EXTRA_LENGTH + (self.max_ratio * source_lengths).floor().long()
        return by_source.clamp(min=self.min_length + 1).clamp(max=self.max_length)

    def penalty(self, length: Length) -> Length:
        """((5 + length) / 6)^α"""
        return ((5 + length) / 6) ** self.length_penalty

    def score(self, log_prob: Tensor, length: int, coverage: Tensor | None = None) -> Tensor:
        """What a hypothesis of `length` tokens is ranked by; coverage is Σ_j log(min(Σ_i a_ij, 1))."""
        score = log_prob / self.penalty(float(length))
        return score if coverage is None else score + self.coverage_penalty * coverage

    def bound(self, log_prob: Tensor, length: int, penalties: Tensor) -> Tensor:
        """No continuation of a hypothesis with this log_prob and length can have a higher score.

        penalties: those of the most tokens that are allowed.

        It adds 1 … limit - length tokens, each at a log-probability of at most 0, its score is
        monotone in its length for a given log_prob, and the coverage penalty is at most 0.
        """
        return log_prob / penalties.clamp(min=self.penalty(length + 1.0))


_LEAST = {
    "beam": 1,
    "nbest": 1,
    "coverage_penalty": 0,
    "min_length": 0,
    "max_ratio": 0,
    "no_repeat_ngram": 0,
    "top_k": 0,
    "seed": 0,
}


def coverage(attended: Tensor, mask: Tensor) -> Tensor:
    """Σ_j log(min(Σ_i a_ij, 1)) over the real j: attended = Σ_i a_ij (..., S), mask (..., S) -> (...)"""
    return attended.clamp(UNCOVERED, 1.0).log().masked_fill(~mask, 0.0).sum(-1)
