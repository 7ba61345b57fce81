"""A source-to-target model: an encoder and a decoder, whichever they are."""

from __future__ import annotations

from torch import Tensor, nn

from regard.layers.contracts import Decoded, Encoded


class EncoderDecoder(nn.Module):
    """p(y | x) = Π_t p(y_t | y_<t, encode(x)): what tasks train and searches decode."""

    def __init__(self, encoder: nn.Module, decoder: nn.Module) -> None:
        super().__init__()
        self.encoder, self.decoder = encoder, decoder

    def encode(self, source: Tensor, mask: Tensor) -> Encoded:
        return self.encoder(source, mask)

    def forward(
        self, source: Tensor, mask: Tensor, inputs: Tensor, *, weights: bool = False
    ) -> Decoded:
        """inputs (B, T): the targets shifted right. `decoder.project(outputs)` are the logits."""
        return self.decoder(inputs, self.encode(source, mask), weights=weights)
