"""A source-to-target model: an encoder and a decoder, whichever they are."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from regard.attention.argument_checks import real_mask
from regard.layers.contracts import Decoded, Encoded
from regard.words import t


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
    vectors = source.is_floating_point()
    shape = source.shape[:-1] if vectors else source.shape
    if not shape:
        raise ValueError(
            t(
                "a source is (B, S), or (B, S, E) of vectors; given {source_shape}. One by "
                "itself is written source[None]",
                source_shape=tuple(source.shape),
            )
        )
    if lengths is not None:
        real = real_mask(mask, lengths, shape[:-1], shape[-1], source.device)
        assert real is not None
        return real.expand(shape)
    if mask is None:
        return torch.ones(shape, dtype=torch.bool, device=source.device)
    if mask.dtype != torch.bool:
        raise TypeError(
            t(
                "the mask must be bool, True where a token is real; given {dtype}. For 1/0 "
                "write mask.bool(), for 0/-inf write mask == 0",
                dtype=mask.dtype,
            )
        )
    one_vector = vectors and source.dim() < 3  # each source is, and has no positions
    if mask.shape != shape and not one_vector:
        raise ValueError(
            t(
                "the mask of a source {source_shape} must be {shape}, True where a token is "
                "real; given {mask_shape}",
                source_shape=tuple(source.shape),
                shape=tuple(shape),
                mask_shape=tuple(mask.shape),
            )
        )
    return mask


def check_words(source: Tensor, axes: str = "B, S") -> None:
    """Whether these are word numbers with a row for each text, or with the `axes` of a document."""
    if source.dtype not in (torch.int32, torch.int64):
        raise TypeError(
            t(
                "words must be whole numbers ({axes}), int64 or int32; given {dtype} "
                "{source_shape}. Vectors are read by a model made with vectors=True",
                axes=axes,
                dtype=source.dtype,
                source_shape=tuple(source.shape),
            )
        )
    if source.dim() != axes.count(",") + 1:
        raise ValueError(
            t(
                "words must be ({axes}); given {source_shape}. One text by itself is written "
                "source[None], a document is read by han",
                axes=axes,
                source_shape=tuple(source.shape),
            )
        )


def check_vectors(source: Tensor, size: int) -> None:
    """Whether these are sequences of vectors of this size."""
    if not source.is_floating_point():
        raise TypeError(
            t(
                "vectors must be floating-point numbers (B, S, {size}); given {dtype} "
                "{source_shape}. Words are read by a model made without vectors=True",
                size=size,
                dtype=source.dtype,
                source_shape=tuple(source.shape),
            )
        )
    if source.dim() != 3 or source.shape[-1] != size:
        raise ValueError(
            t(
                "vectors must be (B, S, {size}); given {source_shape}. One sequence by itself "
                "is written source[None]",
                size=size,
                source_shape=tuple(source.shape),
            )
        )
