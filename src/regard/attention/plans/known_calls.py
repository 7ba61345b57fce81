"""Calls that came before: checking and planning a small attention takes longer than computing it.

Everything that decides how a call is computed is in a key of shapes, dtypes and mechanisms. A call with the
key of an earlier one is known to be right, and by which path it is computed. What is known of a region that
holds the tensors of a batch, as documents do, is forgotten with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import torch
from torch import Generator, Tensor
from torch.nn import Parameter

from regard.attention.kernels.region.region_call import KernelCall, keeps_promises

if TYPE_CHECKING:
    from regard.attention.call import AttentionCall
    from regard.attention.normalizers import Normalizer
    from regard.attention.plans.plan import Plan
    from regard.attention.region import Region
    from regard.attention.scores import Score

_KNOWN: dict[Any, KnownCall] = {}
_KNOWN_OF: WeakKeyDictionary[Any, dict[Any, KnownCall]] = WeakKeyDictionary()  # by a region's life
MOST_KNOWN = 4096


class KnownCall(NamedTuple):
    """A call without its tensors."""

    score: Score
    region: Region | None  # None: one that holds tensors, which the kernel has
    normalize: Normalizer
    plan: Plan
    kernel: KernelCall | None  # which takes the tensors as they are given


def recall(
    query: Tensor,
    key: Tensor,
    value: Tensor | None = None,
    *,
    score: Any = None,
    region: Any = None,
    normalize: Any = None,
    mask: Tensor | None = None,
    lengths: Tensor | Sequence[int] | None = None,
    bias: Tensor | None = None,
    cap: float | None = None,
    sinks: Tensor | None = None,
    dropout: float = 0.0,
    training: bool = False,
    weights: Any = False,
    generator: Generator | None = None,
) -> tuple[Any, KnownCall | None]:
    """The key of a call, None if it is of a kind that is not kept; and the call, if it is known."""
    if torch.compiler.is_compiling() or weights or lengths is not None or generator is not None:
        return None, None
    if torch._C._functorch.peek_interpreter_stack() is not None:  # vmap and its like
        return None, None
    asked: list[Any] = [score, region, normalize, cap, dropout, training]
    for x in (query, key, value, mask, bias, sinks):
        if x is None:
            asked.append(None)
        elif type(x) is Tensor or type(x) is Parameter:
            asked += (x.shape, x.dtype, x.device)
        else:
            return None, None
    if bias is not None:
        asked.append(bias.requires_grad and torch.is_grad_enabled())
    kind = query.device.type
    if kind != "meta" and torch.is_autocast_enabled(kind):
        asked.append(torch.get_autocast_dtype(kind))
    same = tuple(asked)
    try:
        known = _KNOWN.get(same)
        if known is None and region is not None and type(region) is not str:
            known = _KNOWN_OF.get(region, _KNOWN).get(_without_region(same))
    except TypeError:  # a region of somebody else's, without a hash
        return None, None
    return same, known


def _without_region(asked: tuple[Any, ...]) -> tuple[Any, ...]:
    return asked[0], *asked[2:]


def _is_fixed(mechanism: Any, *, told_apart: bool = True) -> bool:
    """Whether it cannot change after it was looked at, and, told apart, equals others that say the same."""
    declared = getattr(mechanism, "__dataclass_params__", None)
    return declared is not None and declared.frozen and (declared.eq or not told_apart)


def keep(asked: Any, call: AttentionCall, plan: Plan) -> None:
    """For calls like this one, if it is of a kind that comes again; no tensor is to outlive its batch."""
    kernel, score = call.for_kernel, call.score
    if kernel is not None and not keeps_promises(score):
        return
    if kernel is None and (plan.path != "sdpa" or call.limits.patterns is None):
        return
    if any(True for _ in score.parameters()):
        return
    held = kernel is not None and kernel.holds_tensors
    if not _is_fixed(call.limits.region, told_apart=not held) or not _is_fixed(call.normalize):
        return
    region = None if held else call.limits.region
    known, known_as = _KNOWN, asked
    if held:
        known, known_as = _KNOWN_OF.setdefault(asked[1], {}), _without_region(asked)
    if len(known) >= MOST_KNOWN:
        known.clear()
    known[known_as] = KnownCall(score, region, call.normalize, plan, kernel)
