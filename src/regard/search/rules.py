"""Which tokens may not come next, and which must."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from regard.layers.special_tokens import BOS, EOS, PAD
from regard.search.settings import Search
from regard.words import t

FREE = -1  # no token is forced here


def restrict(
    log_probs: Tensor, said: Tensor | None, forced: Tensor | None, length: int, settings: Search
) -> None:
    """Set to -inf, in place, what may not be token number `length` (from 1) of each hypothesis.

    PAD and BOS never come, EOS not before min_length, no n-gram of `said` (N, length - 1) again; a
    `forced` token (N,) comes whatever the rules. What is allowed keeps the model's log-probability.
    """
    if forced is not None:
        free, forced = (forced == FREE)[:, None], forced.clamp(min=PAD)[:, None]
        of_forced = log_probs.gather(1, forced).masked_fill(free, -torch.inf)
    log_probs[:, PAD] = log_probs[:, BOS] = -torch.inf
    if length <= settings.min_length:
        log_probs[:, EOS] = -torch.inf
    n = settings.no_repeat_ngram
    if said is not None and length > n:
        grams = said.unfold(1, n, 1)  # (N, length - n, n)
        begun = (grams[..., :-1] == said[:, None, length - n :]).all(-1)
        log_probs.scatter_(1, torch.where(begun, grams[..., -1], PAD), -torch.inf)
    if forced is not None:
        log_probs.masked_fill_(~free, -torch.inf).scatter_(1, forced, of_forced)


def forced_tokens(prefix: Sequence[Sequence[int]], limits: Tensor) -> Tensor:
    """The first tokens of each sentence, (B, longest prefix), then FREE."""
    if len(prefix) != len(limits):
        raise ValueError(
            t(
                "{count} prefixes were given for {limits} sentences",
                count=len(prefix),
                limits=len(limits),
            )
        )
    for number, (tokens, limit) in enumerate(zip(prefix, limits.tolist(), strict=True)):
        if special := {PAD, BOS, EOS}.intersection(tokens):
            raise ValueError(
                t(
                    "the prefix of sentence {number} holds the token {special}: {pad}, {bos} and "
                    "{eos} (padding, begin, end) cannot be forced",
                    number=number,
                    special=min(special),
                    pad=PAD,
                    bos=BOS,
                    eos=EOS,
                )
            )
        if len(tokens) > limit:
            raise ValueError(
                t(
                    "the prefix of sentence {number} has {count} tokens, but at most {limit} are "
                    "searched for: give less, or raise search.max_length or search.max_ratio",
                    number=number,
                    count=len(tokens),
                    limit=limit,
                )
            )
    longest = max(map(len, prefix), default=0)
    padded = [[*tokens, *[FREE] * (longest - len(tokens))] for tokens in prefix]
    return torch.tensor(padded, dtype=torch.long, device=limits.device).view(len(prefix), longest)
