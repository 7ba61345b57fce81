"""Where a search stands: the hypotheses that are open, and what is known of each sentence.

Legend: B sentences still searched, w open hypotheses of each (1 at the first step), C candidates of
each, S source positions. Rows (B·w) are the open hypotheses, those of a sentence side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from torch import Tensor

from regard.attention import beam_steps
from regard.layers.contracts import State, Step
from regard.layers.special_tokens import BOS, EOS, PAD
from regard.search.candidates import Candidates, best, draw, uniforms
from regard.search.rules import forced_tokens, restrict
from regard.search.settings import Search, coverage
from regard.words import t

KERNELS = "regard.search.candidates_cpu"
beam_steps.MODULES.append(KERNELS)


@dataclass(frozen=True)
class Open:
    """The open hypotheses before a step; a total of -inf marks an unused place."""

    state: State
    ids: list[int]  # of the sentences, in the batch that was given
    sentences: Tensor  # (B,): the same
    tokens: Tensor  # (B, w): the last of each
    totals: Tensor  # (B, w): log-probabilities so far
    said: Tensor | None = None  # (B·w, length): all tokens, if a rule asks for them
    attended: Tensor | None = None  # (B·w, S): sum of the weights, if a penalty asks for it

    def attending(self, step: Step) -> Open:
        """With the weights of this step added."""
        if self.attended is None:
            return self
        if step.attended is None or step.attended.weights is None:
            raise ValueError(t("coverage_penalty needs a decoder that attends; this one does not"))
        return replace(self, attended=self.attended + step.attended.weights)

    def weights(self, step: Step) -> Tensor | None:
        """(B, w, S), if the decoder attends."""
        if step.attended is None or step.attended.weights is None:
            return None
        return step.attended.weights.view(*self.tokens.shape, -1)

    def next(
        self, state: State, found: Candidates, kept: Tensor, totals: Tensor, still: Still
    ) -> Open:
        """The candidates `kept` (B, w') of the sentences `still` searched, in the places of their parents."""
        batch, width = self.tokens.shape
        first = torch.arange(0, batch * width, width, device=kept.device)
        rows, tokens = found.parents.gather(1, kept) + first[:, None], found.tokens.gather(1, kept)
        ids, sentences, at = self.ids, self.sentences, still.at
        if at is not None:
            ids = [ids[place] for place in still.places]
            rows, tokens, totals = rows[at], tokens[at], totals[at]
            sentences = sentences[at]
        rows = rows.flatten()
        if at is not None or kept.shape[1] > 1:  # a single hypothesis keeps its place
            state = state.select(rows, at)
        said = self.said
        if said is not None:
            said = torch.cat([said[rows], tokens.view(-1, 1)], 1)
        attended = None if self.attended is None else self.attended[rows]
        return Open(state, ids, sentences, tokens, totals, said, attended)


class Still(NamedTuple):
    """Which of the B sentences are searched further."""

    places: list[int]
    at: Tensor | None  # the same; None: all of them


class SearchJob:
    """The settings of a search, and what is known of each sentence of its batch.

    limits, ended, top and the penalties are those of the B sentences still searched.
    """

    def __init__(
        self,
        settings: Search,
        mask: Tensor,
        prefix: Sequence[Sequence[int]] | None,
        numbers: Sequence[int] | None,
        longest: int | None,
    ) -> None:
        self.settings, self.mask = settings, mask
        self.limits = settings.limits(mask.sum(1))
        if longest is not None:
            self.limits = self.limits.clamp(max=longest)
        self._least = int(self.limits.min())  # before it, nobody is at a limit
        self._penalties = settings.penalty(self.limits)
        self.forced = None if prefix is None else forced_tokens(prefix, self.limits)
        self.chances = None
        if settings.method == "sample":
            numbers = range(len(mask)) if numbers is None else numbers
            if len(numbers) != len(mask):
                raise ValueError(
                    t(
                        "{count} numbers were given for {mask} sentences",
                        count=len(numbers),
                        mask=len(mask),
                    )
                )
            self.chances = uniforms(settings, numbers, int(self.limits.max())).to(mask.device)
        self.ended = torch.zeros_like(self.limits)  # how many hypotheses
        shape = len(mask), settings.nbest
        self.top = torch.full(shape, -torch.inf, device=mask.device)  # the best scores among them

    def first(self, state: State) -> Open:
        """Nothing but BOS: one hypothesis for each sentence."""
        sentences = torch.arange(len(self.mask), device=self.mask.device)
        tokens = torch.full_like(sentences, BOS)[:, None]
        return Open(
            state,
            ids=[*range(len(self.mask))],
            sentences=sentences,
            tokens=tokens,
            totals=torch.zeros_like(tokens, dtype=torch.float32),
            said=tokens[:, :0] if self.settings.no_repeat_ngram else None,
            attended=torch.zeros_like(self.mask, dtype=torch.float32)
            if self.settings.coverage_penalty
            else None,
        )

    def candidates(
        self, logits: Tensor, now: Open, length: int, bonus: Tensor | None = None
    ) -> Candidates:
        """The candidates for token number `length`: logits (B·w, V) -> (B, C)

        bonus (B·w, V): what a beam is ranked by beside the log-probabilities; draws are the model's own.
        """
        quick = self._kernels(logits) if bonus is None else None
        if quick is not None:
            never = [PAD, BOS, *([EOS] if length <= self.settings.min_length else [])]
            return quick.best_of_logits(logits, now.totals, never, 2 * self.settings.beam)
        log_probs = torch.log_softmax(logits, -1, dtype=torch.float32)
        forced = None
        if self.forced is not None and length <= self.forced.shape[1]:
            forced = self.forced[now.sentences, length - 1].repeat_interleave(now.tokens.shape[1])
        restrict(log_probs, now.said, forced, length, self.settings)
        if self.chances is None:
            ranked = log_probs if bonus is None else log_probs + bonus.to(log_probs.dtype)
            found = best(ranked, now.totals, 2 * self.settings.beam)
            return found if bonus is None else found.with_chances(log_probs)
        return draw(
            log_probs, now.totals, self.chances[now.sentences, :, length - 1], self.settings
        )

    def _kernels(self, logits: Tensor) -> Any:
        """Those of `candidates_cpu`, where they are ready and nothing but the end is ruled out."""
        simple = self.chances is None and self.forced is None and not self.settings.no_repeat_ngram
        if simple and logits.device.type == "cpu" and logits.dtype == torch.float32:
            return beam_steps.kernels(KERNELS)
        return None

    def scores(
        self, found: Candidates, ends: Tensor, kept: Tensor, now: Open, length: int
    ) -> Tensor:
        """Of the candidates that end here, (B, C): by EOS among the first, or at the length limit."""
        ended = ends.clone()
        ended[:, self.settings.width :] = False
        if length >= self._least:
            cut = (self.limits <= length)[:, None] & ~ends
            ended |= cut & torch.zeros_like(ends).scatter(1, kept, True)
        covered = None
        if now.attended is not None:
            attended = now.attended.view(*now.tokens.shape, -1)
            covered = coverage(attended, self.mask[now.sentences, None]).gather(1, found.parents)
        scores = self.settings.score(found.totals, length, covered)
        return scores.masked_fill(~ended, -torch.inf)

    def going(self, scores: Tensor, totals: Tensor, length: int) -> Still:
        """Record what ended; returns which of the B sentences are searched further."""
        self.ended += (scores > -torch.inf).sum(1)
        self.top = torch.cat([self.top, scores], 1).topk(self.settings.nbest).values
        done = self.settings.bound(totals.amax(1), length, self._penalties) <= self.top[:, -1]
        done |= self.ended >= self.settings.width
        if length >= self._least:
            done |= self.limits <= length
        places = [place for place, over in enumerate(done.tolist()) if not over]
        if len(places) == len(done) or not places:
            return Still(places, None)
        at = torch.tensor(places, device=done.device)
        self.limits, self.ended, self.top, self._penalties = (
            x[at] for x in (self.limits, self.ended, self.top, self._penalties)
        )
        return Still(places, at)
