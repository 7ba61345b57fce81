"""Functions as operators of torch, which a graph holds as one node.

`torch.library.custom_op` does the same and more; but at its first call it imports the compiler of torch,
which takes over a second, also in a program that compiles nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

_library = torch.library.Library("regard", "DEF")


def operator(name: str) -> Callable[[Callable[..., Any]], Any]:
    """The operator regard::name that runs a function of tensors, on any device; it changes no argument."""

    def make(function: Callable[..., Any]) -> Any:
        _library.define(name + torch.library.infer_schema(function, mutates_args=()))
        _library.impl(name, function, "CompositeExplicitAutograd")
        return getattr(torch.ops.regard, name).default

    return make
