"""A source-to-target model: an encoder and a decoder, whichever they are."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from regard.attention.argument_checks import real_mask
from regard.layers.contracts import Decoded, Encoded


class EncoderDecoder(nn.Module):
    """p(y | x) = Π_t p(y_t | y_<t, encode(x)): what tasks train and searches decode."""

    def __init__(self, encoder: nn.Module, decoder: nn.Module) -> None:
        super().__init__()
        self.encoder, self.decoder = encoder, decoder

    def encode(
        self, source: Tensor, mask: Tensor | None = None, *, lengths: Tensor | None = None
    ) -> Encoded:
        """mask (B, S), True where a token is real, or lengths (B,); neither: all are.

        A document (B, S, W) has masks of its words, and the lengths (B, S) of its sentences.
        """
        return self.encoder(source, token_mask(source, mask, lengths))

    def forward(
        self,
        source: Tensor,
        mask: Tensor | None,
        inputs: Tensor,
        *,
        lengths: Tensor | None = None,
        weights: bool = False,
    ) -> Decoded:
        """inputs (B, T): the targets shifted right. `decoder.project(outputs)` are the logits."""
        return self.decoder(inputs, self.encode(source, mask, lengths=lengths), weights=weights)


def first_state(states: Tensor) -> Tensor:
    """(B, S, D) -> (B, D), 0 where there is none"""
    return states[:, :1].sum(1)


def token_mask(source: Tensor, mask: Tensor | None, lengths: Tensor | None) -> Tensor:
    """Which tokens of source (..., S) are real: as mask (..., S) or lengths (...) say, or all.

    Of vectors (..., S, E), the last axis is that of their features.
    """
    shape = source.shape[:-1] if source.is_floating_point() else source.shape
    if lengths is not None:
        real = real_mask(mask, lengths, shape[:-1], shape[-1], source.device)
        assert real is not None
        return real.expand(shape)
    return torch.ones(shape, dtype=torch.bool, device=source.device) if mask is None else mask
