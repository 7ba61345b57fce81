"""The weights of every attention of a model, without changing the model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

from torch import Tensor, nn

from regard.attention.attend import Attended
from regard.attention.module import Attends


class Recorded(NamedTuple):
    """One call of one attention."""

    name: str  # of the module, as in named_modules()
    weights: Tensor  # (..., Lq, Lk), with heads (..., H, Lq, Lk); before dropout


@contextmanager
def recording(module: nn.Module) -> Iterator[list[Recorded]]:
    """Inside the block, keep the weights of every attention in `module`, in the order of the calls.

    They carry gradients unless the block runs under `torch.no_grad()`.

    >>> with recording(model) as recorded:
    ...     model(source)
    >>> [(each.name, each.weights.shape) for each in recorded]
    """
    recorded: list[Recorded] = []
    with ExitStack() as undo:
        for name, part in module.named_modules():
            if isinstance(part, Attends):
                asking = part.register_forward_pre_hook(_ask, with_kwargs=True)
                keeping = part.register_forward_hook(_keeper(name, recorded))
                undo.callback(asking.remove)
                undo.callback(keeping.remove)
        yield recorded


def _ask(_: nn.Module, args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    return args, {**kwargs, "weights": True}


def _keeper(name: str, recorded: list[Recorded]) -> Any:
    def keep(_: nn.Module, args: Any, output: Attended) -> None:
        assert output.weights is not None
        recorded.append(Recorded(name, output.weights))

    return keep
