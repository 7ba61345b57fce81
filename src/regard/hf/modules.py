"""Which modules of a Hugging Face model attend, to what, and with which function of their own."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal

from torch import nn

from regard.words import t

Kind = Literal["encoder", "decoder", "cross"]
KINDS: tuple[Kind, ...] = ("encoder", "decoder", "cross")
INTERFACE = (
    "ALL_ATTENTION_FUNCTIONS"  # what every model file calls the functions it can choose from
)
EAGER = "eager_attention_forward"  # and what it calls its own, at the end of the name
# a forward with one of these may read another sequence than its own
OTHER_SOURCES = {
    "context",
    "context_hidden_states",
    "cross_attention_states",
    "encoder_hidden_states",
    "key",
    "key_value_states",
}
CROSS_NAMES = ("cross", "encoder_attn", "encdec")


def transformers(part: str = "") -> ModuleType:
    """`transformers` or a submodule of it; the ImportError says how to install it."""
    try:
        return importlib.import_module(f"transformers{part and '.'}{part}")
    except ImportError as error:
        raise ImportError(t('regard.hf needs transformers 5: pip install "regard[hf]"')) from error


@dataclass(frozen=True)
class Attending:
    """A module that asks the attention interface for its function."""

    name: str  # its path in the model
    module: nn.Module
    kind: Kind
    layer: int
    functions: MutableMapping[str, Callable[..., Any]]  # what it chooses from


def attending(model: nn.Module) -> list[Attending]:
    """Every module of the model that uses the attention interface, in the order of the model."""
    found = []
    for name, module in model.named_modules():
        if own_eager(module) is not None:
            functions = _forward(module).__globals__[INTERFACE]
            kind = kind_of(module, name)
            found.append(Attending(name, module, kind, _layer(module, name), functions))
    return found


def own_eager(module: nn.Module) -> Callable[..., Any] | None:
    """The plain attention of the file that a module comes from; None: it asks for no interface."""
    forward = _forward(module)
    code = getattr(forward, "__code__", None)
    if code is None or INTERFACE not in code.co_names:
        return None
    return next((forward.__globals__[n] for n in code.co_names if n.endswith(EAGER)), None)


def kind_of(module: nn.Module, name: str = "") -> Kind:
    """Whether a module reads a source ("cross"), or itself: all of it, or only what came before."""
    parts = name.lower().split(".")
    causal = getattr(module, "is_causal", None)
    if (
        "Cross" in type(module).__name__
        or getattr(module, "is_cross_attention", False)
        or (getattr(module, "is_decoder", False) and causal is False)
        or any(mark in part for part in parts for mark in CROSS_NAMES)
    ):
        return "cross"
    if causal is None:  # transformers takes these for causal
        causal = not any(mark in part for part in parts for mark in ("encoder", "vision"))
    return "decoder" if causal or any("decoder" in part for part in parts) else "encoder"


def may_read_another(module: nn.Module) -> bool:
    """Whether its keys may be those of another sequence, as far as the module alone tells."""
    tells = hasattr(module, "is_decoder") or hasattr(module, "is_cross_attention")
    return not tells and bool(OTHER_SOURCES & set(inspect.signature(_forward(module)).parameters))


def head_sizes(module: nn.Module) -> tuple[int, int]:
    """How many heads a module has, and the size of their queries and keys."""
    config = getattr(module, "config", None)
    heads = ("num_heads", "num_attention_heads", "n_heads")
    sizes = ("qk_head_dim", "head_dim", "attention_head_size", "key_value_proj_dim", "head_size")
    count = next(_numbers((module, config), heads), None)
    size = next(_numbers((module,), sizes), None)
    if count is None or size is None:
        raise ValueError(
            t(
                "{kind} does not say how many heads it has and of what size, so no score with "
                "parameters can be made for it; looked for {heads} and {sizes}",
                kind=type(module).__name__,
                heads=", ".join(heads),
                sizes=", ".join(sizes),
            )
        )
    return count, size


def _numbers(owners: tuple[Any, ...], names: tuple[str, ...]) -> Iterator[int]:
    for owner in owners:
        for name in names:
            if isinstance(number := getattr(owner, name, None), int):
                yield number


def _forward(module: nn.Module) -> Any:
    return inspect.unwrap(type(module).forward)


def _layer(module: nn.Module, name: str) -> int:
    """The layer it belongs to: what it says itself, or the first number of its path."""
    index = getattr(module, "layer_idx", None)
    if isinstance(index, int):
        return index
    return next((int(part) for part in name.split(".") if part.isdigit()), 0)
