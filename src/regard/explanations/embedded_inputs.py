"""The embedded tokens of a source, found inside any encoder, and what an answer owes to each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from regard.words import t

Embedded = list[
    tuple[Tensor, Tensor]
]  # ids (B, S') and their vectors (B, S', D), from which gradients start


@contextmanager
def embedding(model: nn.Module) -> Iterator[Embedded]:
    """Inside the block, keep what is embedded, and let gradients reach it but nothing before it."""
    kept: Embedded = []

    def keep(_: nn.Module, args: tuple[Any, ...], output: Tensor) -> Tensor:
        vectors = output.detach().requires_grad_()
        kept.append((args[0], vectors))
        return vectors

    with ExitStack() as undo:
        for part in model.modules():
            if isinstance(part, nn.Embedding):
                undo.callback(part.register_forward_hook(keep).remove)
        yield kept


def times_input(total: Tensor, kept: Embedded, source: Tensor) -> Tensor:
    """Σ_d x_d · ∂ total / ∂ x_d of the tokens of `source` (B, S), over all that embed it: (B, S)"""
    gradients = torch.autograd.grad(total, [x for _, x in kept], materialize_grads=True)
    shares = torch.zeros(source.shape, device=source.device)
    for (ids, vectors), gradient in zip(kept, gradients, strict=True):
        shares = shares + _in_order((gradient * vectors.detach()).sum(-1).float(), ids, source)
    return shares


def _in_order(shares: Tensor, ids: Tensor, source: Tensor) -> Tensor:
    """As the source has them: an encoder may read it from its end, or put a token of its own first."""
    if torch.equal(ids, source):
        return shares
    if torch.equal(ids.flip(1), source):
        return shares.flip(1)
    if torch.equal(ids[:, 1:], source):
        return shares[:, 1:]
    raise ValueError(
        t(
            "an embedding of this encoder was asked for {ids_shape} ids that are not those "
            "of the source {source_shape}: what the answer owes to each token cannot be "
            "told",
            ids_shape=tuple(ids.shape),
            source_shape=tuple(source.shape),
        )
    )
