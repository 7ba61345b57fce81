"""First weights that depend on the seed and on their own names alone.

A network is usually drawn from one stream of chance, so that one weight more, or one less, changes all that
are drawn after it, and two networks of one seed have nothing in common. Drawn by name, they begin alike in
all that both have: what is compared is then the difference between them, and less of chance.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

Network = TypeVar("Network", bound=nn.Module)
IN_PLACE = """
uniform_ normal_ trunc_normal_ kaiming_uniform_ kaiming_normal_ xavier_uniform_ xavier_normal_ orthogonal_
sparse_ random_ bernoulli_ exponential_ log_normal_ geometric_ cauchy_
"""
NEW = "rand randn randint rand_like randn_like randint_like randperm normal bernoulli multinomial"
DRAWS = frozenset(f"{IN_PLACE} {NEW}".split())  # names of functions of torch


def drawn_by_name(build: Callable[[], Network], seed: int) -> Network:
    """What `build` builds, with the same weights as any other network has under the same name and shape.

    It is built twice: the first time tells which weight each draw of chance is for.
    """
    with _Watch() as watch:
        first = build()
    uses = watch.uses({_place(p): name for name, p in first.named_parameters()})
    del first, watch
    with _Reseed(uses, seed):
        return build()


def _place(tensor: Tensor) -> int:
    """The same for all views of one memory."""
    return tensor.untyped_storage().data_ptr()


@dataclass
class _Watch(TorchFunctionMode):
    """Sees what is drawn, and into which memory something is written."""

    events: list[tuple[bool, int]] = field(default_factory=list)  # whether it is a draw; where
    kept: list[Any] = field(default_factory=list)  # so that no memory is used for two things

    def __post_init__(self) -> None:
        super().__init__()

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        name = getattr(func, "__name__", "")
        if isinstance(result, Tensor) and (name in DRAWS or _writes(name)):
            self.events.append((name in DRAWS, _place(result)))
            self.kept.append(result.untyped_storage())
        return result

    def uses(self, weights: Mapping[int, str]) -> list[str]:
        """What each draw is for: a weight, and how many draws for it are still to come.

        One that is not drawn in place is for the next weight that is written, and counted apart: it may be
        of a part that was thrown away.
        """
        found: list[str] = []
        to_come: Counter[str] = Counter()
        following = ""
        for drawn, place in reversed(self.events):
            following = weights.get(place, following)
            if drawn:
                use = f"{following} {'in place' if place in weights else 'copied'}"
                found.append(f"{use} {to_come[use]}")
                to_come[use] += 1
        return found[::-1]


class _Reseed(TorchFunctionMode):
    """Every draw is a function of the seed and of its use."""

    def __init__(self, uses: Sequence[str], seed: int) -> None:
        super().__init__()
        self.uses, self.seed = iter(uses), seed

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if getattr(func, "__name__", "") in DRAWS:
            said = f"{self.seed} {next(self.uses)}"
            digest = hashlib.blake2b(said.encode(), digest_size=8).digest()
            torch.manual_seed(int.from_bytes(digest, "little") >> 1)
        return func(*args, **(kwargs or {}))


def _writes(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__")
