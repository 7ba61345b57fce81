"""Which calls the kernel of a region computes, and a call in its terms: batch and heads."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import torch
from torch import Tensor

from regard.attention.kernels import on_trial
from regard.attention.kernels.checked_sdpa import PLANNED, better_kernel, checked_sdpa
from regard.attention.kernels.region.region_attention import (
    available,
    in_graph,
    kernels,
    run,
    work_for,
)
from regard.attention.kernels.region.region_passes import RegionPasses, region_passes
from regard.attention.normalizers import usual_softmax
from regard.attention.regions import Everywhere, Fixed
from regard.attention.scores import Score
from regard.attention.shapes import broadcast, of_rank

if TYPE_CHECKING:
    from regard.attention.call import AttentionCall
    from regard.attention.limits import Limits
    from regard.attention.normalizers import Normalizer
    from regard.attention.scores import DotLike

DTYPES = (torch.float32, torch.bfloat16, torch.float16)
WIDEST = 256  # features of a key or value
FEW_PAIRS = 1 << 16  # of a query and a key: all at once are quicker than a region in two launches
CALLS = "calls"  # among the works of a call: how often it came


def region_for_kernel(
    score: Score, normalize: Normalizer, limits: Limits, query: Tensor, key: Tensor, value: Tensor,
    *, bias: Tensor | None = None, cap: float | None = None, sinks: Tensor | None = None,
    dropout: float = 0.0, weights: Any = False,
) -> RegionPasses | None:  # fmt: skip
    """The region as the kernel takes it; None: another path computes this call.

    In graphs, all keys for all queries, without a mask or a bias, are left to torch's own kernels.
    """
    if not available(query.device) or weights or dropout or score.kernel != "dot":
        return None
    if limits.region.predicts or not usual_softmax(normalize):
        return None
    plain = limits.everywhere and limits.mask is None and bias is None
    if plain and not cap and sinks is None and not _checks_sdpa():
        return None
    sizes = (key.shape[-1], value.shape[-1])
    if max(sizes) > WIDEST or 0 in (
        *sizes,
        limits.queries,
        limits.keys,
        query.numel(),
        key.numel(),
    ):
        return None
    dtypes = {_dtype(x) for x in (query, key, value)}
    if len(dtypes) > 1 or dtypes.pop() not in DTYPES:
        return None
    graph = torch.compiler.is_compiling()
    if not graph and torch._C._functorch.is_functorch_wrapped_tensor(query):
        return None
    region = limits.region
    if limits.everywhere:
        region = Everywhere()
    elif limits.patterns is not None and len(limits.patterns) == 1:  # as they are of use here
        region = Fixed(limits.patterns[0])
    passes = region_passes(region, limits.queries, limits.keys)
    if passes is None:
        return None
    return passes if _same_for_heads(passes, sinks, query, key, value) else None


def _as_pairs(passes: RegionPasses, limits: Limits) -> tuple[RegionPasses, Tensor | None]:
    """A region that takes several passes, as a mask over all keys, if it is small: the host launches less."""
    few = limits.queries * limits.keys <= FEW_PAIRS and limits.mask is None
    if (
        passes.passes == 1
        or not few
        or torch.compiler.is_compiling()
        or _is_recorded(limits.device)
    ):
        return passes, None
    every = region_passes(Everywhere(), limits.queries, limits.keys)
    if every is None:
        return passes, None
    with torch.inference_mode(False):  # it serves later calls, which may learn
        return every, limits.region.mask(limits.queries, limits.keys, device=limits.device)


def _is_recorded(device: torch.device) -> bool:
    """Whether what is computed now has its numbers only when it is replayed."""
    return device.type == "cuda" and torch.cuda.is_current_stream_capturing()


def _checks_sdpa() -> bool:
    return on_trial.CHECKED_SDPA in on_trial.ON and not torch.compiler.is_compiling()


def keeps_promises(score: Score) -> bool:
    """Whether queries and keys reach the kernel as they are, so that all that is not finite is its affair."""
    kind = type(score)
    return (
        kind.project_query is Score.project_query
        and kind.project_key is Score.project_key
        and score.uses_keys
        and score.max_keys is None
    )


def _dtype(x: Tensor) -> torch.dtype:
    """In which it is computed."""
    kind = x.device.type
    if torch.is_autocast_enabled(kind) and x.dtype in DTYPES:
        return torch.get_autocast_dtype(kind)
    return x.dtype


def _same_for_heads(
    passes: RegionPasses, sinks: Tensor | None, query: Tensor, key: Tensor, value: Tensor
) -> bool:
    """Whether the region differs between sequences at most, and sinks between heads."""
    if passes.ends is None and passes.documents is None and sinks is None:
        return True
    rank = max(x.dim() for x in (query, key, value))
    query, key, value = (of_rank(x, rank) for x in (query, key, value))
    lead = broadcast(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    heads = len(FoldedAxes.of(lead, key, value).heads)
    if sinks is not None:
        shape = sinks.shape[:-2]
        if any(size != 1 for size in shape[: max(0, len(shape) - heads)]):
            return False
    for x, own in ((passes.ends, 0), (passes.documents, 2)):
        axes = () if x is None else x.shape[: x.dim() - own]
        fits = len(axes) <= len(lead) and all(
            a in (1, b) for a, b in zip(axes[::-1], lead[::-1], strict=False)
        )
        if not fits or any(size != 1 for size in axes[::-1][:heads]):
            return False
    return True


class FoldedAxes(NamedTuple):
    """Leading axes as those of a batch and those of heads: two, if all of the last share keys and values."""

    outer: tuple[int, ...]
    heads: tuple[int, ...]

    @classmethod
    def of(cls, lead: tuple[int, ...], key: Tensor, value: Tensor) -> FoldedAxes:
        shared = len(lead) > 2 and key.shape[-3] == value.shape[-3] == 1 and lead[-1] > 1
        cut = len(lead) - 2 if shared else max(len(lead) - 1, min(len(lead), 1))
        return cls(lead[:cut], lead[cut:])

    def queries(self, x: Tensor) -> Tensor:
        """(..., L, D) -> (B, H, L, D)"""
        return self._four(x, (*self.outer, *self.heads), len(self.outer))

    def keys(self, x: Tensor, other: Tensor) -> Tensor:
        """(..., L, D) -> (B, Hk, L, D), as `other` has as many heads."""
        if len(self.heads) == 2:
            return self._four(x.squeeze(-3), (*self.outer, self.heads[0]), len(self.outer))
        one = x.dim() > 2 and x.shape[-3] == other.shape[-3] == 1
        heads = (1,) * len(self.heads) if one else self.heads
        return self._four(x, (*self.outer, *heads), len(self.outer))

    def pairs(self, x: Tensor | None) -> Tensor | None:
        """(..., Lq or 1, Lk) -> (B or 1, H or 1, Lq or 1, Lk): axes of 1 stay, if all of a side are."""
        if x is None or (x.dim() == 4 and len(self.outer) == len(self.heads) == 1):
            return x
        cut, lead = len(self.outer), of_rank(x, len(self.outer) + len(self.heads) + 2).shape[:-2]
        outer = lead[:cut] if math.prod(lead[:cut]) == 1 else self.outer
        heads = lead[cut:] if math.prod(lead[cut:]) == 1 else self.heads
        return self._four(x, (*outer, *heads), cut)

    def sequences(self, x: Tensor | None, own: int) -> Tensor | None:
        """(..., own axes) -> (B or 1, own axes), for what is the same for all heads."""
        if x is None:
            return None
        shape = x.shape[x.dim() - own :]
        lead = tuple(x.shape[: x.dim() - own])
        missing = len(self.outer) + len(self.heads) - len(lead)
        lead = ((1,) * missing + lead)[: len(self.outer)]
        if math.prod(lead) == 1:
            return x.reshape(1, *shape)
        return x.reshape(*lead, *shape).expand(*self.outer, *shape).reshape(-1, *shape)

    def per_head(self, x: Tensor | None) -> Tensor | None:
        """(..., 1, 1) -> (H,), for what is the same for all sequences."""
        if x is None:
            return None
        missing = len(self.heads) - (x.dim() - 2)
        own = x.reshape((1,) * missing + x.shape[max(0, -missing) : -2])
        return own.expand(self.heads).reshape(math.prod(self.heads)).contiguous()

    @staticmethod
    def _four(x: Tensor, lead: tuple[int, ...], cut: int) -> Tensor:
        x = of_rank(x, len(lead) + 2)
        if len(lead) == 2 and cut == 1:
            return x if x.shape[:2] == lead else x.expand(*lead, *x.shape[-2:])
        x = x.expand(*lead, *x.shape[-2:])
        return x.reshape(math.prod(lead[:cut]), math.prod(lead[cut:]), *x.shape[-2:])


class KernelCall(NamedTuple):
    """A call as the kernels take it, without its tensors: the same for all that are shaped alike."""

    score: Score
    sharpness: float
    cap: float
    passes: RegionPasses
    lead: tuple[int, ...]
    rank: int
    fold: FoldedAxes
    pairs: Tensor | None  # the region as a mask, of few pairs
    sdpa: str | None  # the kernel of torch that computes it, if one does better
    folded: bool  # queries, keys and values are of a batch and heads as they are
    works: dict[Any, Any]  # what is launched, by the strides of the tensors

    @classmethod
    def of(cls, call: AttentionCall) -> KernelCall | None:
        """None: another path computes this call."""
        query, key, value, bias = call.query, call.key, call.value, call.bias
        passes = region_for_kernel(
            call.score, call.normalize, call.limits, query, key, value,
            bias=bias, cap=call.cap, sinks=call.sinks, dropout=call.dropout, weights=call.weights,
        )  # fmt: skip
        if passes is None:
            return None
        temperature = call.normalize.softmax_temperature
        assert temperature is not None
        lead = call.lead if bias is None else broadcast(call.lead, bias.shape[:-2])
        plain = bias is None and call.limits.mask is None and query.shape[:-2] == lead
        plain = plain and not call.cap and call.sinks is None
        sdpa = None
        if plain and key.shape[:-2] == lead and value.shape[:-2] == lead:
            sdpa = better_kernel(query, key, value, _dtype(query), call.limits.patterns)
        passes, pairs = _as_pairs(passes, call.limits)
        fold = FoldedAxes.of(lead, key, value)
        rank, sharpness = query.dim(), 1.0 / temperature
        four = rank == 4 and query.shape[:2] == lead and len(fold.heads) == 1
        four = four and all(
            x.dim() == 4 and fold.keys(x, other).shape == x.shape
            for x, other in ((key, value), (value, key))
        )
        return cls(call.score, sharpness, call.cap, passes, lead, rank, fold, pairs, sdpa, four, {})

    @property
    def holds_tensors(self) -> bool:
        return self.passes.ends is not None or self.passes.documents is not None

    def run(
        self, query: Tensor, key: Tensor, value: Tensor,
        mask: Tensor | None = None, bias: Tensor | None = None, sinks: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        """Context (..., Lq, Dv) and log-sum-exp (..., Lq)."""
        if torch.is_autocast_enabled(query.device.type):
            query, key, value = (x.to(_dtype(x)) for x in (query, key, value))
        rank, fold, passes = self.rank, self.fold, self.passes
        mask = self.pairs if mask is None else mask
        if not self.folded:
            query, key, value = of_rank(query, rank), of_rank(key, rank), of_rank(value, rank)
            query, key, value = fold.queries(query), fold.keys(key, value), fold.keys(value, key)
        scale = cast("DotLike", self.score).scale(key.shape[-1])
        if self.sdpa is not None and (self.sdpa not in PLANNED or self._comes_again()):
            scale *= self.sharpness
            context, lse = checked_sdpa(query, key, value, passes.numbers, self.sdpa, scale=scale)
        else:
            context, lse = self._in_region(
                query, key, value,
                None if mask is None else fold.pairs(of_rank(mask, rank)),
                None if bias is None else fold.pairs(of_rank(bias, rank)),
                None if sinks is None else fold.per_head(sinks),
                scale,
            )  # fmt: skip
        if len(self.lead) == 2:
            return context, lse
        lead = self.lead
        return context.reshape(*lead, *context.shape[-2:]), lse.reshape(*lead, lse.shape[-1])

    def _comes_again(self) -> bool:
        """Whether the shape has come twice before, so that a plan for it is likely to be of use."""
        count = self.works[CALLS] = self.works.get(CALLS, 0) + 1
        return count > 2

    def _in_region(
        self, query: Tensor, key: Tensor, value: Tensor,
        mask: Tensor | None, bias: Tensor | None, sink: Tensor | None, scale: float,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        """By the kernels of a region; what they launch is looked up by no more than strides."""
        documents, ends = self.passes.documents, self.passes.ends
        if documents is not None or ends is not None:
            documents, ends = self.fold.sequences(documents, 2), self.fold.sequences(ends, 0)
        given = (
            mask,
            bias,
            sink,
            documents,
            ends,
            self.passes.numbers,
            scale,
            self.sharpness,
            self.cap,
        )
        if torch.compiler.is_compiling():
            return in_graph(query, key, value, *given)
        region = kernels()
        seen = (
            query.stride(),
            key.stride(),
            value.stride(),
            None if mask is None else mask.stride(),
            None if bias is None else (bias.stride(), bias.dtype),
            scale,
            region.settings(query.dtype),
        )
        told = region.Given(*given)
        work = self.works.get(seen)
        if work is None:
            work = self.works[seen] = work_for(query, key, value, told)
        return run(work, query, key, value, told)
