"""Where a classifier takes its answer from: the one position that its head reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from regard.hf.modules import Kind
from regard.looking.guests.logit_lens import stack_of


def judged_place(
    model: Any,
    inputs: Mapping[str, Tensor],
    kind: Kind,
    *,
    own: Callable[[str], bool] = lambda _: True,
    answer: Callable[[Any], Tensor] = lambda outputs: outputs.logits,
) -> int | None:
    """The position whose state after the last layer decides: [CLS], or the last token; None: several do.

    own: by its name, whether an attention belongs to the stack. answer: of the outputs of the model.
    """
    blocks = stack_of(model, kind, own)
    if not blocks:
        return None
    states: list[Tensor] = []

    def keep(_: nn.Module, args: Any, output: Any) -> Any:
        state = (output[0] if isinstance(output, tuple) else output).detach().requires_grad_()
        states.append(state)
        return (state, *output[1:]) if isinstance(output, tuple) else state

    hook = blocks[-1].register_forward_hook(keep)
    try:
        with torch.enable_grad():
            logits = answer(model(**inputs))
            # squares: a head that is a softmax or a norm may have a sum that never changes
            (slopes,) = torch.autograd.grad(logits.float().square().sum(), states[-1])
    finally:
        hook.remove()
    moved = slopes[0].abs().amax(-1).nonzero().flatten().tolist()
    return int(moved[0]) if len(moved) == 1 else None
