"""The weights of every attention of a model, without changing the model; and what led to them."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, NamedTuple, overload

import torch
from torch import Tensor, nn

from regard.attention.call import Attended, AttentionCall
from regard.attention.mechanism_text import mechanism, written_normalizer
from regard.attention.module import AttentionModule
from regard.attention.paths import split_bias
from regard.attention.scores import Summands
from regard.attention.weights.asked_weights import Weights, WeightSummary
from regard.words import t


class Recorded(NamedTuple):
    """One call of one attention: weights = normalize(scores where allowed), times the factor.

    The scores are those that the normaliser gets: score(query, key), scaled, with the bias of the call.

    What led to the weights is kept with `details` only, in float32 and without gradients.
    """

    name: str  # of the module, as in named_modules()
    weights: Tensor  # (..., Lq, Lk), with heads (..., H, Lq, Lk); before dropout
    scores: Tensor | None = None  # of the same shape: before the region, with a finite bias
    allowed: Tensor | None = (
        None  # bool, broadcast to it, False for a bias of -inf; None: all pairs
    )
    factor: Tensor | None = None  # broadcast to it: the Gaussian of a predicted window
    values: Tensor | None = None  # (..., [H,] Lk, D): what is summed
    summands: Summands | None = None  # of the scores, without a bias; None: they are no such sum
    mechanism: str = ""  # score: additive · region: everywhere · normalize: softmax
    normalizer: str = ""  # softmax(temperature=2)
    itself: bool = False  # it was given no source but its queries


class RecordedSummary(NamedTuple):
    """Of the weights of one call of one attention, what was asked for."""

    name: str  # of the module, as in named_modules()
    weights: WeightSummary
    mechanism: str = ""  # score: additive · region: everywhere · normalize: softmax


@overload
def recording(
    module: nn.Module, *, details: bool = False
) -> AbstractContextManager[list[Recorded]]: ...


@overload
def recording(
    module: nn.Module, *, weights: Weights
) -> AbstractContextManager[list[RecordedSummary]]: ...


@contextmanager
def recording(
    module: nn.Module, *, details: bool = False, weights: Weights | None = None
) -> Iterator[list[Any]]:
    """Inside the block, keep the weights of every attention in `module`, in the order of the calls.

    They carry gradients unless the block runs under `torch.no_grad()`. details: what led to them is
    kept too, by computing the scores a second time. weights: of the weights only this, which long inputs
    have without a matrix of all pairs; heads are then those of every attention.

    >>> with recording(model) as recorded:
    ...     model(source)
    >>> [(each.name, each.weights.shape) for each in recorded]
    """
    if details and weights is not None:
        raise ValueError(t("details are of all weights: leave them out, or weights=Weights(…)"))
    recorded: list[Any] = []
    with ExitStack() as undo:
        for name, part in module.named_modules():
            if isinstance(part, AttentionModule):
                ask = ask_for_weights if weights is None else functools.partial(_ask, weights)
                asking = part.register_forward_pre_hook(ask, with_kwargs=True)
                keeper = _keeper(name, recorded, details)
                keeping = part.register_forward_hook(keeper, with_kwargs=True)
                undo.callback(asking.remove)
                undo.callback(keeping.remove)
        yield recorded


def ask_for_weights(_: nn.Module, args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Before a forward pass of an attention: with its weights, whoever calls it."""
    return args, {**kwargs, "weights": True}


def _ask(
    weights: Weights, _: nn.Module, args: Any, kwargs: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    return args, {**kwargs, "weights": weights}


def _keeper(name: str, recorded: list[Any], details: bool) -> Any:
    def keep(
        attention: AttentionModule, args: Any, kwargs: dict[str, Any], output: Attended
    ) -> None:
        assert output.weights is not None
        if isinstance(output.weights, WeightSummary):
            recorded.append(RecordedSummary(name, output.weights, mechanism(attention)))
            return
        kept = Recorded(name, output.weights, itself=_itself(*args, **kwargs))
        recorded.append(_detailed(kept, attention, args, kwargs) if details else kept)

    return keep


def _itself(query: Tensor, source: Any = None, **_: Any) -> bool:
    return source is None or source is query


@torch.no_grad()
def _detailed(
    kept: Recorded, attention: AttentionModule, args: Any, kwargs: dict[str, Any]
) -> Recorded:
    call = attention.prepare(*args, **kwargs)
    assert call.memory is not None
    keys, values = attention.recall(call.memory)  # also those that the region leaves out
    q, k = (x if x.dtype == torch.float64 else x.float() for x in (call.query, keys))
    scores, allowed = call.score.pair(q, k).float(), call.limits.allowed
    if call.bias is not None:
        bias, allowed, _ = split_bias(call.bias.float(), allowed)
        scores = scores + bias
    scores = scores.expand(kept.weights.shape)
    return kept._replace(
        scores=scores,
        allowed=allowed,
        factor=_factor(call, scores, allowed),
        values=values.detach().float(),
        summands=_for_each_head(call.score.summands(q.float(), k.float()), kept.weights),
        mechanism=mechanism(attention),
        normalizer=written_normalizer(attention.normalize),
    )


def _for_each_head(summands: Summands | None, weights: Tensor) -> Summands | None:
    """With the leading axes of the weights (..., [H,] Lq, Lk), also where heads or batches share them."""
    if summands is None:
        return None
    lead = weights.shape[:-2]
    query, key = (x.expand(*lead, *x.shape[-2:]) for x in summands[:2])
    return Summands(query, key, summands.vector)


def _factor(call: AttentionCall, scores: Tensor, allowed: Tensor | None) -> Tensor | None:
    """The Gaussian; where it is renormalised, divided by what its products with the weights sum to."""
    if call.limits.factor is None:
        return None
    factor = call.limits.factor.float()
    if not call.limits.region.renormalize:
        return factor
    weights, _ = call.normalize(scores, allowed)
    total = (weights * factor).sum(-1, keepdim=True)
    return factor / total.masked_fill(total == 0, 1.0)
