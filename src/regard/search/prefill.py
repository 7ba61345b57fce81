"""The beginning of a search that is given: it is read some hundred tokens at a time, not token by token.

Legend: B sentences, one hypothesis each, T tokens that are read at once, S source positions.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from regard.layers.contracts import Prefilled, Step
from regard.search.hypothesis import Moment
from regard.search.progress import Open, SearchJob
from regard.search.rules import FREE

AT_ONCE = 512  # tokens of a sentence: what attends to all before it stays small
ROWS = 8192  # tokens of all sentences: so do their logits


def prefill(decoder: Any, job: SearchJob, now: Open) -> tuple[list[Moment], Open]:
    """The moments of the tokens that are forced in every sentence, and what is open then.

    All but the last of them: after that one there is a choice, or the end. A decoder without a `prefill`
    takes steps from the first token on.
    """
    history: list[Moment] = []
    forced = job.forced
    common = 0 if forced is None else int((forced != FREE).all(0).sum()) - 1
    if forced is None or common < 1 or not hasattr(decoder, "prefill"):
        return history, now
    size = max(1, min(AT_ONCE, ROWS // len(forced)))
    for tokens in forced[:, :common].split(size, 1):  # (B, T)
        inputs = torch.cat([now.tokens, tokens[:, :-1]], 1)
        read: Prefilled = decoder.prefill(inputs, now.state, weights=job.settings.weighs)
        logits = decoder.project(read.outputs)
        every = torch.log_softmax(logits, -1, dtype=torch.float32)
        log_probs = every.gather(-1, tokens[..., None]).squeeze(-1)
        totals = now.totals + log_probs.cumsum(1)
        attended = read.attended
        weights = None if attended is None else attended.weights  # (B, T, S)
        if attended is not None and weights is not None:
            attended = attended._replace(weights=weights.sum(1))
        now = replace(
            now.attending(Step(logits[:, -1], read.state, attended)),
            state=read.state,
            tokens=tokens[:, -1:],
            totals=totals[:, -1:],
            said=None if now.said is None else torch.cat([now.said, tokens], 1),
        )
        said, chances, sums = (part.cpu().split(1, 1) for part in (tokens, log_probs, totals))
        only = torch.zeros_like(said[0])  # the one hypothesis, and the one candidate
        goes_on = torch.full_like(sums[0], -torch.inf)
        seen = weights.split(1, 1) if weights is not None and job.settings.attention else None
        history += [
            Moment(now.ids, only, said[t], chances[t], sums[t], goes_on, only, seen and seen[t])
            for t in range(len(said))
        ]
    return history, now
