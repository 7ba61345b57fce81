"""Hugging Face models that attend as they are told to.

Legend: B rows of a batch, H heads, Lq queries, Lk keys.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from regard.hf.hf_mechanisms import Mechanism
from regard.hf.interface_functions import StandIn, stand_in, switch_to_eager
from regard.hf.modules import Attending, Kind, attending, own_eager

NEAR = 1e-3  # how far a row of weights may be from 1 in a model that is read from outside


@dataclass(frozen=True)
class Site:
    """Which attention, and where its queries stand."""

    kind: Kind
    layer: int
    start: int  # the position of the first query: 0, or in a generation that of its step
    name: str = ""  # of the module, where it is known


Change = Callable[[Site, Tensor], Tensor | None]  # weights (B, H, Lq, Lk) -> others; None: the same


@contextmanager
def steer(model: Any, change: Change) -> Iterator[None]:
    """Inside the block every attention of the model sums its values by the weights that `change` gives.

    Gradients flow through them. Models that do not use the attention interface of transformers are
    steered where their weights pass a dropout.
    """
    with ExitStack() as undo:
        if found := attending(model):
            by_module = {id(each.module): each for each in found}
            make = functools.partial(_Steering, by_module, change, Counter())
            stand_in(model, found, make, undo)
        else:
            switch_to_eager(model, undo)
            for layer, dropout in enumerate(_weight_dropouts(model)):
                hook = dropout.register_forward_hook(_at_dropout(layer, model, change))
                undo.callback(hook.remove)
        yield


@dataclass(frozen=True)
class _Steering(StandIn):
    """Stands in for an attention function, and puts its values together by other weights."""

    found: dict[int, Attending]  # by the id of the module
    change: Change
    rows: Counter[str]  # queries that each has seen
    before: Callable[..., Any] | None  # None: the model's own eager function

    def __call__(
        self,
        module: nn.Module,
        query: Tensor,  # (B, H, Lq, D)
        key: Tensor,
        value: Tensor,  # (B, H / group, Lk, D)
        attention_mask: Tensor | None,
        **kwargs: Any,
    ) -> tuple[Tensor, Tensor]:
        attention = self.before or own_eager(module)
        assert attention is not None, f"{type(module).__name__} has no eager attention"
        if isinstance(self.before, Mechanism):
            kwargs["output_attentions"] = True
        output, weights = attention(module, query, key, value, attention_mask, **kwargs)
        each = self.found.get(id(module))
        if each is None:
            return output, weights
        length = query.shape[2]
        # more than one query after the first call: nothing is cached, and all are there again
        start = 0 if length > 1 else self.rows[each.name]
        self.rows[each.name] = start + length
        other = self.change(Site(each.kind, each.layer, start, each.name), weights)
        if other is None:
            return output, weights
        group = other.shape[1] // value.shape[1]
        value = value.repeat_interleave(group, 1) if group > 1 else value
        return (other.to(value.dtype) @ value).transpose(1, 2).contiguous(), other


def _weight_dropouts(model: nn.Module) -> list[nn.Module]:
    """In the order of the model: the dropouts of its attentions, some of which see other things."""
    found = []
    for part in model.modules():
        if "Attention" in type(part).__name__:
            own = ((name, each) for name, each in part.named_children() if "drop" in name)
            found += [each for name, each in own if "pos" not in name]
    return [each for each in dict.fromkeys(found) if not any(each.children())]


def _at_dropout(layer: int, model: Any, change: Change) -> Callable[..., Tensor | None]:
    kind: Kind = "decoder" if model.can_generate() else "encoder"

    def hook(_: nn.Module, args: Any, output: Any) -> Tensor | None:
        if not isinstance(output, Tensor) or output.dim() != 4 or not _is_weights(output):
            return None
        return change(Site(kind, layer, 0), output)

    return hook


def _is_weights(x: Tensor) -> bool:
    return bool((x >= 0).all()) and bool(((x.sum(-1) - 1).abs() < NEAR).all())
