"""Calls that came before: on a GPU a small attention takes less time than checking and planning it.

Everything that decides how a call is computed is in a key of shapes, dtypes and mechanisms; a call with the
key of an earlier one goes straight to its kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Generator, Tensor
from torch.nn import Parameter

from regard.attention.kernels.region_attention import available
from regard.attention.kernels.region_call import KernelCall, keeps_promises

if TYPE_CHECKING:
    from regard.attention.call import AttentionCall

_KNOWN: dict[Any, KernelCall] = {}
MOST_KNOWN = 4096


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
    dropout: float = 0.0,
    training: bool = False,
    weights: Any = False,
    generator: Generator | None = None,
) -> tuple[Any, Tensor | None]:
    """The key of a call, None if it is of a kind that is not kept; and its context, if it is known."""
    if torch.compiler.is_compiling() or not available(query.device):
        return None, None
    if weights or lengths is not None or generator is not None:
        return None, None
    if torch._C._functorch.peek_interpreter_stack() is not None:  # vmap and its like
        return None, None
    value = key if value is None else value
    asked: list[Any] = [score, region, normalize, dropout, training]
    for x in (query, key, value, mask, bias):
        if x is None:
            asked.append(None)
        elif type(x) is Tensor or type(x) is Parameter:
            asked += (x.shape, x.dtype, x.device)
        else:
            return None, None
    kind = query.device.type
    asked.append(torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else None)
    same = tuple(asked)
    try:
        known = _KNOWN.get(same)
    except TypeError:  # a region of somebody else's, without a hash
        return None, None
    return same, None if known is None else known.run(query, key, value, mask, bias)[0]


def keep(asked: Any, call: AttentionCall) -> None:
    """For calls like this one, if a kernel takes it as it is."""
    taken = call.for_kernel
    if taken is None or taken.holds_tensors or not keeps_promises(call.score):
        return  # the tensors of a batch are not to outlive it
    if any(True for _ in call.score.parameters()):
        return
    if len(_KNOWN) >= MOST_KNOWN:
        _KNOWN.clear()
    _KNOWN[asked] = taken
