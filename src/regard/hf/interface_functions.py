"""The attention functions of transformers, with another in the place of one of them for a while."""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping
from contextlib import ExitStack
from typing import Any

from torch import nn

from regard.hf.hf_mechanisms import Mechanism
from regard.hf.modules import Attending, transformers

Function = Callable[..., Any]


class StandIn:
    """What stands in the place of an attention function, and calls it."""


def stand_in(
    model: nn.Module,
    found: Iterable[Attending],
    make: Callable[[Function | None], StandIn],
    undo: ExitStack,
) -> None:
    """make(before) in the place of every function that the model attends with; undone at the end.

    before: the function; None: the model's own eager one.
    """
    interfaces = {id(each.functions): each.functions for each in found}
    for name in switch_to_eager(model, undo):
        for functions in interfaces.values():
            _replace(functions, name, make, undo)


def switch_to_eager(model: nn.Module, undo: ExitStack) -> set[str]:
    """Eager everywhere but where an attention of regard runs; undone at the end."""
    interface = transformers("modeling_utils").ALL_ATTENTION_FUNCTIONS
    config_type = transformers().PreTrainedConfig
    configs = {
        id(config): config
        for module in model.modules()
        if isinstance(config := getattr(module, "config", None), config_type)
    }
    names = {"eager"}
    for config in configs.values():
        before = config._attn_implementation
        if isinstance(interface.get(before), (Mechanism, StandIn)):
            names.add(before)
        else:
            undo.callback(setattr, config, "_attn_implementation_internal", before)
            config._attn_implementation_internal = "eager"
    return names


def _replace(
    functions: MutableMapping[str, Any],
    name: str,
    make: Callable[[Function | None], StandIn],
    undo: ExitStack,
) -> None:
    """In this interface only."""
    before = functions.get(name)
    functions[name] = make(before)
    if isinstance(before, StandIn):  # one around this one
        undo.callback(functions.__setitem__, name, before)
    else:  # the function registered for all models is visible again
        undo.callback(functions.__delitem__, name)
