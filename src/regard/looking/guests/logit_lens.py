"""What a model would say if it ended after each layer: the logit lens (nostalgebraist 2020).

The output of the last layer is replaced by that of an earlier one, and the model does the rest: its final
norm, its head, its scale, its cap. So it is right for every model whose layers are one stack.
Legend: N lines, Q positions, V what can be said, T the likeliest of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from regard.hf.modules import Kind, attending
from regard.records.lens import Lens

LIKELIEST = 5
NAMES = ("h", "layer", "layers", "block", "blocks")  # what stacks of layers are called


def logit_lens(
    model: Any,
    run: Callable[[], Any],
    kind: Kind,
    side: str,
    name: Callable[[int], str],
    *,
    layers: bool = True,
) -> Lens | None:
    """Of one input; None where the model says nothing position by position.

    run: calls the model. kind: of the attention in the stack. name: what an answer is called. layers:
    False, where only what the model itself says is wanted.
    """
    blocks = stack_of(model, kind) if layers else []
    with torch.no_grad(), _outputs(blocks) as states:
        logits = getattr(run(), "logits", None)
    if logits is None or logits.dim() != 3:
        return None
    lines = [logits]
    if blocks and len(states) == len(blocks) + 1:  # a layer that is used twice has no place
        lines = [_ended(run, blocks[-1], state) for state in states[:-1]] + lines
    names = ["embedding", *(f"layer {n}" for n in range(1, len(lines) - 1))][: len(lines) - 1]
    best = [line[0].float().softmax(-1).topk(min(LIKELIEST, line.shape[-1])) for line in lines]
    tokens = [[[name(i) for i in place] for place in each.indices.tolist()] for each in best]
    return Lens(
        side,
        (*names, "output"),
        tuple(tuple(map(tuple, line)) for line in tokens),
        torch.stack([each.values for each in best]).cpu().numpy(),
    )


def stack_of(
    model: Any, kind: Kind, own: Callable[[str], bool] = lambda _: True
) -> list[nn.Module]:
    """The layers of the stack that attends so, in their order; none where they cannot be told.

    own: by its name, whether an attention belongs to what is looked at.
    """
    names = [each.name for each in attending(model) if each.kind == kind and own(each.name)]
    if not names:
        return _named_stack(model)
    first = names[0].split(".")
    number = next((n for n, part in enumerate(first) if part.isdigit()), None)
    if number is None:
        return []
    return list(model.get_submodule(".".join(first[:number])))


def _named_stack(model: Any) -> list[nn.Module]:
    count = getattr(model.config, "num_hidden_layers", None)
    for path, part in model.named_modules():
        stack = isinstance(part, nn.ModuleList) and path.rpartition(".")[2] in NAMES
        if stack and len(part) == count:
            return list(part)
    return []


@contextmanager
def _outputs(blocks: Sequence[nn.Module]) -> Iterator[list[Tensor]]:
    """What the first layer is given and what each gives, (1, Q, D), while the model runs."""
    states: list[Tensor] = []

    def before(_: nn.Module, args: Any, kwargs: Any) -> None:
        states.append(args[0] if args else kwargs["hidden_states"])

    def after(_: nn.Module, args: Any, output: Any) -> None:
        states.append(output[0] if isinstance(output, tuple) else output)

    with ExitStack() as undo:
        for number, block in enumerate(blocks):
            if number == 0:
                hook = block.register_forward_pre_hook(before, with_kwargs=True)
                undo.callback(hook.remove)
            undo.callback(block.register_forward_hook(after).remove)
        yield states


@torch.no_grad()
def _ended(run: Callable[[], Any], last: nn.Module, state: Tensor) -> Tensor:
    """The logits of a model whose last layer gives this state."""

    def instead(_: nn.Module, args: Any, output: Any) -> Any:
        return (state, *output[1:]) if isinstance(output, tuple) else state

    hook = last.register_forward_hook(instead)
    try:
        logits: Tensor = run().logits
    finally:
        hook.remove()
    return logits
