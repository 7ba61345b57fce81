"""A stack of self-attention, layer by layer: weights, the parts they sum, and what turns without a value.

Legend: L layers, H heads, N positions, C features, n keys at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from regard.attention.module import AttentionModule
from regard.attention.multi_head import MultiHead
from regard.attention.recording import Recorded, recording
from regard.attention.steering import Steer, steering
from regard.explanations.context_parts import cosine_distance, output_matrix, part_norms
from regard.explanations.model_work import pieces
from regard.explanations.work_done import worked
from regard.layers.transformer_blocks import BlockStep, DecoderBlock, EncoderBlock

Call = tuple[tuple[Any, ...], dict[str, Any]]


class StackLayer(NamedTuple):
    """One layer for one text; the first position is that of the first token read, or of BOS."""

    weights: Tensor  # (H, N, N)
    norms: Tensor  # (N, N): of the part that each key gives to a context
    zeroed: Tensor  # (N, N): how far the output of the layer turns without the value of each key


def read_stack(module: nn.Module, read: Callable[[], Any], work: float) -> list[StackLayer]:
    """The layers of heads that attend to themselves while `read` runs the module on one text.

    Empty where there is none, or where there are those of several models. work: of one such run.
    """
    with block_calls(module) as calls, recording(module, details=True) as recorded:
        read()
    parts = dict(module.named_modules())
    own = [each for each in recorded if _of_stack(parts[each.name])]
    stacks = {each.name.partition("blocks")[0] for each in own}
    if len(stacks) > 1 or len({each.name for each in own}) < len(own):
        return []
    each_work = work / max(len(own), 1)
    return [_layer(each, parts, calls, each_work) for each in own]


def _of_stack(attention: nn.Module) -> bool:
    return isinstance(attention, MultiHead) and attention.key_size is None


@contextmanager
def block_calls(module: nn.Module) -> Iterator[dict[str, Call]]:
    """Inside the block, keep what the blocks of Transformers are called with, by their names."""
    calls: dict[str, Call] = {}
    with ExitStack() as undo:
        for name, part in module.named_modules():
            if isinstance(part, EncoderBlock | DecoderBlock):

                def keep(_: nn.Module, args: Any, kwargs: dict[str, Any], name: str = name) -> None:
                    calls[name] = args, kwargs

                undo.callback(part.register_forward_pre_hook(keep, with_kwargs=True).remove)
        yield calls


def _layer(
    recorded: Recorded, parts: dict[str, Any], calls: dict[str, Call], work: float
) -> StackLayer:
    attention: AttentionModule = parts[recorded.name]
    assert recorded.values is not None
    weights, values = recorded.weights[0], recorded.values[0].to(recorded.weights)
    name, _, inner = recorded.name.rpartition(".")
    if name in calls:
        zeroed = zeroed_in_block(parts[name], inner, calls[name], weights, work)
    else:
        zeroed = zeroed_in_context(attention, weights, values)
    return StackLayer(weights, part_norms(weights, values, output_matrix(attention)), zeroed)


def zeroed_in_block(
    block: nn.Module, attention: str, call: Call, weights: Tensor, work: float
) -> Tensor:
    """C_ij = 1 - cos(x_i, x_i if v_j were 0), x the output of the block, weights (H, N, K) as they are

    — Mohebbi et al. 2023, https://arxiv.org/abs/2301.12971. attention: its name in the block.
    """
    outputs = _output(block, call, 1)  # (1, N, C)
    every = torch.ones(1, weights.shape[-2], dtype=torch.bool, device=weights.device)
    keys, found = weights.shape[-1], []
    for part in pieces(keys, work):
        count = part.stop - part.start
        others = ~torch.eye(keys, dtype=torch.bool, device=weights.device)[part]
        without = weights * others[:, None, None]  # (n, H, N, K)
        with steering(block, {attention: Steer(without, every)}):
            found.append(cosine_distance(_output(block, call, count), outputs))
        worked(work * count)
    return torch.cat(found).T if found else weights.new_zeros(weights.shape[-2:])


def zeroed_in_context(attention: AttentionModule, weights: Tensor, values: Tensor) -> Tensor:
    """The same of a context that nothing stands around: (H, N, K), (H, K, D) -> (N, K)"""

    def merged(taken: Tensor) -> Tensor:
        context = taken @ values  # (H, N, D)
        return attention.merge(context if attention.heads_axis else context[0])

    whole, keys = merged(weights), weights.shape[-1]
    others = ~torch.eye(keys, dtype=torch.bool, device=weights.device)
    without = [cosine_distance(merged(weights * kept), whole) for kept in others]
    return torch.stack(without, -1) if without else weights.new_zeros(weights.shape[-2:])


def _output(block: nn.Module, call: Call, copies: int) -> Tensor:
    """(n, N, C) of a block that is called n times with the same"""

    def spread(given: Any) -> Any:
        one = isinstance(given, Tensor) and len(given) == 1
        return given.expand(copies, *given.shape[1:]) if one else given

    args, kwargs = call
    made = block(*map(spread, args), **{name: spread(each) for name, each in kwargs.items()})
    return made.output if isinstance(made, BlockStep) else made
