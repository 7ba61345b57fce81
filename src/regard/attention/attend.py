"""The one function: context = Σ weight · value, for any score, region and normaliser."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Generator, Tensor

from regard.attention.limits import Limits, for_every_key, shelter, source_lengths
from regard.attention.normalizers import Choice, Normalizer, as_normalizer, clear
from regard.attention.paths import Problem, run
from regard.attention.plan import Plan, choose
from regard.attention.predicted_window import PredictedWindow
from regard.attention.region import Region
from regard.attention.regions import as_region
from regard.attention.scores import Score, as_score
from regard.attention.select import without
from regard.attention.shapes import as_summed, broadcast, of_rank

_READ: dict[tuple[str, str | None], Any] = {}  # mechanisms without parameters, by their names


class Attended(NamedTuple):
    """What an attention gives. The weights are those used: after region and normaliser, before dropout."""

    context: Tensor  # (..., Lq, Dv)
    weights: Tensor | None = None  # (..., Lq, Lk), if asked for
    choice: Choice | None = None  # what a hard attention picked


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor | None = None,
    *,
    score: Score | str | None = None,
    region: Region | str | None = None,
    normalize: Normalizer | str | None = None,
    mask: Tensor | None = None,
    dropout: float = 0.0,
    training: bool = False,
    weights: bool = False,
    generator: Generator | None = None,
) -> Attended:
    """context = normalize(score(query, key) in region) @ value

    query (..., Lq, Dq), key (..., Lk, Dk), value (..., Lk, Dv; None: the keys)
        -> context (..., Lq, Dv), weights (..., Lq, Lk) if `weights`, choice of a hard attention.
    mask: bool, broadcast to (..., Lq, Lk), True where a key may be attended. Padding of keys (B, Lk)
        is written mask[:, None, :]. A row with no allowed key gives weights 0 and context 0.
    score, region, normalize: a mechanism or its name; None is scaled dot, everywhere, softmax.
    dropout acts on the weights when `training`; `generator` makes every draw repeatable.

    >>> q, k = torch.randn(2, 3, 8), torch.randn(2, 5, 8)
    >>> context, weights, _ = attend(q, k, score="cosine(0.1)", region="window(1)", weights=True)
    >>> context.shape, weights.shape
    (torch.Size([2, 3, 8]), torch.Size([2, 3, 5]))
    """
    problem, taint = _prepare(
        query, key, value, score, region, normalize, mask, dropout, training, weights, generator
    )
    return finish(problem, taint)


def explain(
    query: Tensor,
    key: Tensor,
    value: Tensor | None = None,
    *,
    score: Score | str | None = None,
    region: Region | str | None = None,
    normalize: Normalizer | str | None = None,
    mask: Tensor | None = None,
    dropout: float = 0.0,
    training: bool = False,
    weights: bool = False,
    generator: Generator | None = None,
) -> Plan:
    """Which path `attend` takes for the same arguments, why, and what it costs. Print it.

    >>> x = torch.randn(1, 8192, 64)
    >>> print(explain(x, x, region="window(64)"))
    blocks: a query sees at most 129 of 8192 keys
      ...
    """
    with torch.no_grad():
        problem, _ = _prepare(
            query, key, value, score, region, normalize, mask, dropout, training, weights, generator
        )
    return choose(problem.case())


def pose(
    score: Score,
    region: Region,
    normalize: Normalizer,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    limits: Limits,
    *,
    factor: Tensor | None = None,
    dropout: float = 0.0,
    training: bool = False,
    weights: bool = False,
    generator: Generator | None = None,
    no_row_is_empty: bool = False,
) -> Problem:
    """The problem with projected queries and keys. Every path finds all tensors with as many axes."""
    if not 0.0 <= dropout < 1.0:
        raise ValueError(f"dropout must be at least 0 and below 1, not {dropout}")
    given = (q, k, v, limits.mask, limits.inside, factor)
    rank = max(x.dim() for x in given if x is not None)
    q, k, v = (of_rank(x, rank) for x in (q, k, v))
    limits.widen(rank)
    return Problem(
        score=score,
        normalize=normalize,
        q=q,
        k=k,
        v=v,
        limits=limits,
        factor=None if factor is None else of_rank(factor, rank),
        renormalize=isinstance(region, PredictedWindow) and region.renormalize,
        dropout=dropout if training else 0.0,
        training=training,
        weights=weights,
        generator=generator,
        no_row_is_empty=no_row_is_empty,
    )


def finish(problem: Problem, taint: Tensor | None) -> Attended:
    """Run it; a query that may attend to a key that is not finite becomes NaN, and no other."""
    context, weights, choice = run(choose(problem.case()), problem)
    if taint is not None:
        taint = taint[..., None].to(context.dtype)
        context = context + taint
        if weights is not None:
            weights = clear(weights + taint, problem.limits.allowed)
    return Attended(context, weights, choice)


def limit(
    region: Region, query: Tensor, queries: int, keys: int, mask: Tensor | None, score: Score
) -> tuple[Limits, Tensor | None]:
    """What restricts the keys, and the Gaussian of a predicted window (its queries are not projected)."""
    mask = None if mask is None else for_every_key(mask, keys)
    if score.max_keys is not None and keys > score.max_keys:
        exists = torch.arange(keys, device=query.device)[None] < score.max_keys
        mask = exists if mask is None else mask & exists
    inside = factor = None
    if isinstance(region, PredictedWindow):
        if mask is not None:  # a query that may attend to nothing is to reach no parameter of it
            query = without(query, ~mask.any(-1))
        inside, factor = region(query, keys, source_lengths(mask))
    return Limits(region, mask, queries, keys, query.device, inside), factor


def _prepare(
    query: Tensor,
    key: Tensor,
    value: Tensor | None,
    score: Score | str | None,
    region: Region | str | None,
    normalize: Normalizer | str | None,
    mask: Tensor | None,
    dropout: float,
    training: bool,
    weights: bool,
    generator: Generator | None,
) -> tuple[Problem, Tensor | None]:
    value = key if value is None else value
    check_tensors(query, key, value)
    value = as_summed(value)
    by: Score = _named("score", score, as_score, query, key_size=key.shape[-1])
    within: Region = _named("region", region, as_region, query)
    check_sizes(by, query, key)
    mask = check_mask(mask, query, key, value)
    limits, factor = limit(within, query, query.shape[-2], key.shape[-2], mask, by)
    query, key, value, taint = shelter(query, key, value, limits, uses_keys=by.uses_keys)
    problem = pose(
        by,
        within,
        _named("normalizer", normalize, as_normalizer, query),
        by.project_query(query),
        by.project_key(key),
        value,
        limits,
        factor=factor,
        dropout=dropout,
        training=training,
        weights=weights,
        generator=generator,
    )
    return problem, taint


def _named(kind: str, given: Any, read: Callable[..., Any], query: Tensor, **sizes: int) -> Any:
    """The mechanism that was given or named; names without parameters are read once."""
    if given is not None and not isinstance(given, str):
        return read(given)
    if (kind, given) in _READ:
        return _READ[kind, given]
    made = read(given, query_size=query.shape[-1], **sizes)
    if not isinstance(made, torch.nn.Module) or not any(True for _ in made.parameters()):
        return _READ.setdefault((kind, given), made)
    name = type(made).__name__
    warnings.warn(
        f"attend({kind}={given!r}) made a new {name} with parameters of its own, which are "
        f"lost when attend returns. To train it, make it once and pass it: "
        f"{kind} = regard.{kind}s.{name}(...), or use regard.Attention.",
        stacklevel=4,
    )
    return made.to(query)


def check_tensors(query: Tensor, key: Tensor, value: Tensor) -> None:
    if query.dim() < 2 or key.dim() < 2 or value.dim() < 2:
        given = _shapes(query, key, value)
        raise ValueError(f"each tensor needs at least two axes (length, size); given {given}")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(
            "there must be one value for every key: key (..., Lk, Dk), value (..., Lk, Dv); "
            f"given {_shapes(query, key, value)}"
        )
    try:
        broadcast(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    except RuntimeError:
        raise ValueError(
            "the leading axes must broadcast: (..., length, size); "
            f"given {_shapes(query, key, value)}"
        ) from None
    same = query.dtype == key.dtype == value.dtype
    if not query.is_floating_point() or not (same or torch.is_autocast_enabled(query.device.type)):
        given = ", ".join(
            f"{name} {str(x.dtype)[6:]}"
            for name, x in (("query", query), ("key", key), ("value", value))
        )
        raise TypeError(f"query, key and value must have one floating-point dtype; given {given}")


def _shapes(query: Tensor, key: Tensor, value: Tensor) -> str:
    return f"query {tuple(query.shape)}, key {tuple(key.shape)}, value {tuple(value.shape)}"


def check_sizes(score: Score, query: Tensor, key: Tensor) -> None:
    name = type(score).__name__
    for what, x, size in (("query", query, score.query_size), ("key", key, score.key_size)):
        if size is not None and x.shape[-1] != size:
            raise ValueError(
                f"{name} was made for {what} vectors of size {size}, given {what} {tuple(x.shape)}"
            )
    if score.query_size is None and score.key_size is None and query.shape[-1] != key.shape[-1]:
        raise ValueError(
            f"{name} needs queries and keys of one size, given query {tuple(query.shape)} and "
            f"key {tuple(key.shape)}; Bilinear and Additive take different sizes"
        )


def check_mask(mask: Tensor | None, query: Tensor, key: Tensor, value: Tensor) -> Tensor | None:
    """The mask with at least two axes, once it is certain what it means."""
    if mask is None:
        return None
    if mask.dtype != torch.bool:
        raise TypeError(
            f"the mask must be bool, True where a key may be attended; given {mask.dtype}. "
            "For 1/0 write mask.bool(), for 0/-inf write mask == 0"
        )
    mask = mask if mask.dim() else mask[None]
    lead = broadcast(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    expected = (*lead, query.shape[-2], key.shape[-2])
    given = tuple(mask.shape)
    fewer = mask.dim() < len(expected)
    # (B, Lk) would be read as (Lq, Lk): refuse it even where the sizes happen to agree
    padding = (*key.shape[: mask.dim() - 1], key.shape[-2])
    looks_like_padding = fewer and given == padding and any(n != 1 for n in given[:-1])
    fits = not looks_like_padding
    if fits:
        try:
            fits = broadcast(given, expected) == expected
        except RuntimeError:
            fits = False
    if not fits:
        axes = "None, " * (len(expected) - 2)
        hint = f" A mask of padded keys (B, Lk) is written mask[:, {axes}:]." if fewer else ""
        also = (
            " One pattern (Lq, Lk) for all rows is written mask[None]."
            if looks_like_padding
            else ""
        )
        raise ValueError(
            f"the mask must broadcast to (..., Lq, Lk) = {expected}; given {given}.{hint}{also}"
        )
    return mask if mask.dim() > 1 else mask[None]
