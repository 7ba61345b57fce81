"""The one function: context = Σ weight · value, for any score, region and normaliser."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Generator, Tensor

from regard.attention.argument_checks import (
    check_mask,
    check_region,
    check_sinks,
    check_sizes,
    check_tensors,
    leading,
    real_mask,
)
from regard.attention.call import Attended, AttentionCall, refusal, takes_arguments_of
from regard.attention.kernels.region.region_call import keeps_promises, region_for_kernel
from regard.attention.limits import Limits, shelter
from regard.attention.normalizers import Normalizer, as_normalizer
from regard.attention.plans.known_calls import KnownCall, keep, recall
from regard.attention.plans.plan import Plan
from regard.attention.region import Region
from regard.attention.regions import as_region
from regard.attention.scores import Score, as_score
from regard.attention.shapes import as_summed, of_rank
from regard.attention.weights.asked_weights import Weights

__all__ = ["Attended", "attend", "explain", "prepare"]

DEFAULTS = {"score": as_score(None), "region": as_region(None), "normalizer": as_normalizer(None)}
MOST_READ = 4096
_READ: dict[tuple[str, str], Any] = {}  # mechanisms without parameters, by their names


def prepare(
    query: Tensor,
    key: Tensor,
    value: Tensor | None = None,
    *,
    score: Score | str | None = None,
    region: Region | str | None = None,
    normalize: Normalizer | str | None = None,
    mask: Tensor | None = None,
    lengths: Tensor | Sequence[int] | None = None,
    bias: Tensor | None = None,
    cap: float | None = None,
    sinks: Tensor | None = None,
    dropout: float = 0.0,
    training: bool = False,
    weights: bool | Weights = False,
    generator: Generator | None = None,
) -> AttentionCall:
    """What `attend` runs and `explain` explains. The arguments are told at `attend`."""
    value = key if value is None else value
    check_tensors(query, key, value)
    value = as_summed(value)
    by: Score = _named("score", score, as_score, query, key_size=key.shape[-1])
    within: Region = _named("region", region, as_region, query)
    check_sizes(by, query, key)
    check_region(within, leading(query, key, value))
    if lengths is not None:
        real = real_mask(mask, lengths, leading(query, key, value), key.shape[-2], key.device)
        mask = None if real is None else real[..., None, :]
    mask = check_mask(mask, query, key, value)
    how: Normalizer = _named("normalizer", normalize, as_normalizer, query)
    return _sheltered(
        by,
        within,
        how,
        query,
        key,
        value,
        mask,
        bias=bias,
        cap=cap,
        sinks=sinks,
        dropout=dropout,
        training=training,
        weights=weights,
        generator=generator,
    )


def _sheltered(
    by: Score, within: Region, how: Normalizer, query: Tensor, key: Tensor, value: Tensor,
    mask: Tensor | None, *, bias: Tensor | None, cap: float | None, sinks: Tensor | None,
    dropout: float, training: bool, weights: Any, **more: Any,
) -> AttentionCall:  # fmt: skip
    """A call of arguments that are right: nothing in it reaches a query that may not attend to it."""
    limits = Limits.of(within, query, query.shape[-2], key.shape[-2], mask, by)
    taint, drop = None, dropout if training else 0.0
    takes: Any = {"bias": bias, "cap": cap, "dropout": drop, "weights": weights}
    takes["sinks"] = None if sinks is None else check_sinks(sinks, query, key, value)
    if not keeps_promises(by) or (
        region_for_kernel(by, how, limits, query, key, value, **takes) is None
    ):
        query, key, value, taint = shelter(query, key, value, limits, uses_keys=by.uses_keys)
    query, key = by.project_query(query), by.project_key(key)
    more |= {"bias": bias, "cap": cap, "sinks": sinks, "dropout": dropout, "training": training}
    return AttentionCall.of(
        by, how, query, key, value, limits, weights=weights, taint=taint, **more
    )


@takes_arguments_of(prepare)
def attend(*given: Any, **choices: Any) -> Attended:
    """context = normalize(score(query, key) + bias, in region) @ value

    query (..., Lq, Dq), key (..., Lk, Dk), value (..., Lk, Dv; None: the keys)
        -> context (..., Lq, Dv), weights (..., Lq, Lk) if `weights`, choice of a hard attention.
    weights: True, or a `Weights` that says what of them: rows, sums, entropy, the largest.
    mask: bool, broadcast to (..., Lq, Lk), True where a key may be attended. Padding of keys (B, Lk)
        is written mask[:, None, :]. A row with no allowed key gives weights 0 and context 0.
    lengths: whole numbers (...), a tensor or a list, instead of a mask: how many of the first keys are real.
    bias: float, broadcast to (..., Lq, Lk), added to the scores as they are: after the score's own scale,
        before region, temperature and normaliser. -inf forbids a pair, as a mask does. Of keys row by row
        (B, Lk) it is written bias[:, None, :].
    cap: the scores never pass it, cap · tanh(score / cap); before the bias.
    Heads of queries that share keys, as in grouped-query attention, have an axis of their own: query
        (B, heads of keys, group, Lq, D), key and value (B, heads of keys, 1, Lk, D). No key is copied.
    sinks: one number for every head, (heads,): exp(s) / (exp(sink) + Σ exp(s)), so that a row may sum to less
        than 1. They can be learnt.
    score, region, normalize: a mechanism or its name; None is scaled dot, everywhere, softmax.
    dropout acts on the weights when `training`; `generator` makes every draw repeatable.

    >>> q, k = torch.randn(2, 3, 8), torch.randn(2, 5, 8)
    >>> context, weights, _ = attend(q, k, score="cosine(0.1)", region="window(1)", weights=True)
    >>> context.shape, weights.shape
    (torch.Size([2, 3, 8]), torch.Size([2, 3, 5]))
    """
    try:
        asked, known = recall(*given, **choices)
        call = prepare(*given, **choices) if known is None else None
    except TypeError as error:
        raise refusal(error, "attend", prepare, given, choices) from None
    if known is not None:
        return _again(known, *given, **choices)
    assert call is not None
    plan = call.plan()
    if asked is not None:
        keep(asked, call, plan)
    return call.run(plan)


@takes_arguments_of(prepare)
def explain(*given: Any, **choices: Any) -> Plan:
    """Which path `attend` takes for the same arguments, why, and what it costs. Print it.

    >>> x = torch.randn(1, 8192, 64)
    >>> print(explain(x, x, region="window(64)"))
    blocks: a query sees at most 129 of 8192 keys
      ...
    """
    try:
        call = prepare(*given, **choices)
    except TypeError as error:
        raise refusal(error, "explain", prepare, given, choices) from None
    return call.plan()


def _again(
    known: KnownCall, query: Tensor, key: Tensor, value: Tensor | None = None, *,
    mask: Tensor | None = None, bias: Tensor | None = None, cap: float | None = None,
    sinks: Tensor | None = None, dropout: float = 0.0, training: bool = False, **_: Any,
) -> Attended:  # fmt: skip
    """A call like an earlier one."""
    value = key if value is None else value
    if known.kernel is not None:
        sinks = None if sinks is None else sinks[..., None, None]
        return Attended(known.kernel.run(query, key, value, mask, bias, sinks)[0])
    assert known.region is not None
    if mask is not None and mask.dim() < 2:
        mask = of_rank(mask, 2)
    call = _sheltered(
        known.score, known.region, known.normalize, query, key, as_summed(value), mask,
        bias=bias, cap=cap, sinks=sinks, dropout=dropout, training=training, weights=False,
    )  # fmt: skip
    return call.run(known.plan)


def _named(kind: str, given: Any, read: Callable[..., Any], query: Tensor, **sizes: int) -> Any:
    """The mechanism that was given or named; names without parameters are read once."""
    if given is None:
        return DEFAULTS[kind]
    if not isinstance(given, str):
        return read(given)
    if (kind, given) in _READ:
        return _READ[kind, given]
    made = read(given, query_size=query.shape[-1], **sizes)
    if not isinstance(made, torch.nn.Module) or not any(True for _ in made.parameters()):
        if len(_READ) >= MOST_READ:
            _READ.clear()
        return _READ.setdefault((kind, given), made)
    name = type(made).__name__
    warnings.warn(
        f"attend({kind}={given!r}) made a new {name} with parameters of its own, which are "
        f"lost when attend returns. To train it, make it once and pass it: "
        f"{kind} = regard.{kind}s.{name}(...), or use regard.Attention.",
        stacklevel=4,
    )
    return made.to(query)
