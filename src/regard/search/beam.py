"""One search for every decoder: greedy, beam and sampling differ in how candidates are chosen.

Legend: B sentences still searched, w open hypotheses of each (1 at the first step), C candidates of
each, S source positions. Rows (B·w) are the open hypotheses, those of a sentence side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import torch

from regard.attention import beam_steps
from regard.layers.contracts import Decoder, Encoded, longest_target
from regard.layers.special_tokens import EOS
from regard.search.hypothesis import Hypothesis, Moment, assemble
from regard.search.prefill import prefill
from regard.search.progress import SearchJob
from regard.search.settings import Search


def search(
    decoder: Decoder,
    encoded: Encoded,
    settings: Search | None = None,
    *,
    prefix: Sequence[Sequence[int]] | None = None,
    numbers: Sequence[int] | None = None,
) -> list[list[Hypothesis]]:
    """The nbest hypotheses of each sentence, best first.

    prefix: the first tokens of each sentence, forced. numbers: a number for each sentence that stays
    the same however the text is batched, for sampling; 0 … B - 1 if not given.

    At each step the 2 · beam best candidates are made, so that `beam` are left when EOS takes some. An
    EOS among the first `beam` finishes a hypothesis; the first `beam` others go on. A sentence leaves
    the batch when `beam` hypotheses are finished, when it reaches its length limit, or as soon as no
    open hypothesis can overtake the nbest finished ones (`Search.bound`). Equal candidates are taken in
    the order of their hypotheses, then of their tokens.
    """
    settings = settings or Search()
    history = explore(decoder, encoded, settings, prefix=prefix, numbers=numbers)
    return assemble(history, encoded.mask, settings.nbest)


@torch.no_grad()
def explore(
    decoder: Decoder,
    encoded: Encoded,
    settings: Search,
    *,
    prefix: Sequence[Sequence[int]] | None = None,
    numbers: Sequence[int] | None = None,
) -> list[Moment]:
    """All steps of a search, as `search` and `search_trees` read them."""
    if not len(encoded.mask):
        return []
    if encoded.mask.device.type == "cpu":
        beam_steps.begin(len(encoded.mask))
    if prefix is None and not settings.weighs and hasattr(decoder, "for_search"):
        decoder = decoder.for_search(encoded)
    job = SearchJob(settings, encoded.mask, prefix, numbers, longest_target(decoder))
    history, now = prefill(decoder, job, job.first(decoder.start(encoded)))
    for length in count(1 + len(history)):
        step = decoder.step(now.tokens.flatten(), now.state, weights=settings.weighs)
        found = job.candidates(step.logits, now, length, step.bonus)
        now = now.attending(step)

        ends = found.tokens == EOS
        kept = ends.byte().argsort(stable=True, dim=1)[:, : settings.width]  # the first without EOS
        scores = job.scores(found, ends, kept, now, length)
        weights = now.weights(step) if settings.attention else None
        history.append(Moment(now.ids, *found, scores, kept, weights))

        totals = found.totals.masked_fill(ends, -torch.inf).gather(1, kept)
        still = job.going(scores, totals, length)
        if not still.places:
            break
        now = now.next(step.state, found, kept, totals, still)
    return history
