"""What all explanations of a model share: gradients outside training, the rollout of its encoder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from regard.attention.multi_head import MultiHead
from regard.attention.recording import recording
from regard.explanations.measured import stack_rollout
from regard.layers.special_tokens import EOS
from regard.records.record import Explanation


@contextmanager
def differentiable() -> Iterator[None]:
    """Gradients of a model that is not being trained: cuDNN's recurrent networks have none."""
    with torch.backends.cudnn.flags(enabled=False):
        yield


def encoder_rollout(
    model: Any, ids: Sequence[int], device: torch.device
) -> tuple[Explanation, ...]:
    """Of an encoder that has two layers of heads or more, and no other model beside it."""
    source = torch.tensor([[*ids, EOS]], device=device)
    with recording(model) as recorded:
        model.encode(source, torch.ones_like(source, dtype=torch.bool))
    parts = dict(model.named_modules())
    layers = [r.weights[0] for r in recorded if isinstance(parts[r.name], MultiHead)]
    alone = len({r.name.partition("encoder")[0] for r in recorded}) == 1
    return (stack_rollout(layers, "encoder"),) if len(layers) > 1 and alone else ()
