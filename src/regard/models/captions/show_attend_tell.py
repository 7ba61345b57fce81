"""Show, Attend and Tell: a picture, what is attended to in it, and its caption, word by word.

— Xu et al. 2015, https://arxiv.org/abs/1502.03044
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from regard.attention.module import Attention
from regard.layers.contracts import Encoded
from regard.models import initialise
from regard.models.captions.caption_decoder import CaptionDecoder, PromptedPicture
from regard.models.captions.captioner_options import ShowAttendTell
from regard.models.captions.picture_encoder import FeatureEncoder, PictureEncoder
from regard.models.classifiers.sequence_encoders import (
    InputVectors,
    RecurrentNetwork,
    SequenceEncoder,
    TransformerNetwork,
)
from regard.models.encoder_decoder import token_mask


class FrameEncoder(SequenceEncoder):
    """Vectors read in their order: features (B, L, D), mask (B, L) -> states (B, L, size)"""

    def forward(self, source: Tensor, mask: Tensor | None = None) -> Encoded:
        return super().forward(source, token_mask(source, mask, None))


class Captioner(nn.Module):
    """p(y | picture) = Π_t p(y_t | y_<t, encode(picture)): its decoder decodes as those of translators do.

    doubly_stochastic: λ of the penalty λ Σ_i (1 - Σ_t α_ti)², which training adds to the loss of a caption.
    """

    def __init__(
        self, encoder: nn.Module, decoder: CaptionDecoder, *, doubly_stochastic: float = 0.0
    ) -> None:
        super().__init__()
        self.encoder, self.decoder = encoder, decoder
        self.doubly_stochastic = doubly_stochastic

    def encode(
        self,
        picture: Tensor,
        mask: Tensor | None = None,
        *,
        prompt: Tensor | None = None,
        prompt_mask: Tensor | None = None,
    ) -> Encoded:
        """picture (B, C, H, W), mask (B, H, W), or features (B, L, D), mask (B, L); prompt (B, P) ids"""
        found: Encoded = self.encoder(picture, mask)
        if prompt is None:
            return found
        return PromptedPicture(
            found.states, found.mask, found.summary, prompt=prompt, prompt_mask=prompt_mask
        )


def show_attend_tell(
    picture: Any, vocabulary: int, options: ShowAttendTell | None = None, **changes: Any
) -> Captioner:
    """picture: (C, H, W) of pictures, where H and W may be None, or the size of annotation vectors that are
    made elsewhere.

    >>> model = show_attend_tell((1, 36, 36), 30, hidden=64)
    >>> model.encode(torch.randn(2, 1, 36, 36)).states.shape
    torch.Size([2, 81, 64])
    """
    chosen = ShowAttendTell.of(options, changes)
    encoder: PictureEncoder | FeatureEncoder | FrameEncoder
    if isinstance(picture, int):
        encoder = FeatureEncoder(picture) if chosen.frames == "apart" else _frames(picture, chosen)
    else:
        encoder = PictureEncoder(
            picture[0], chosen.filters, chosen.size, window=chosen.window, norm=chosen.norm
        )
    size, how = int(encoder.output_size), chosen.attention
    attention = None
    if how is not None:
        attention = Attention(chosen.hidden, size, bridge=True, **how.mechanism)
    decoder = CaptionDecoder(
        vocabulary,
        size,
        chosen.embedding,
        chosen.hidden,
        attention=attention,
        gate=chosen.gate,
        dropout=chosen.dropout,
    )
    return Captioner(encoder, decoder, doubly_stochastic=chosen.doubly_stochastic)


def _frames(size: int, options: ShowAttendTell) -> FrameEncoder:
    """States of what reads vectors of this size in their order."""
    network: nn.Module
    features = options.size
    if options.frames == "transformer":
        network = TransformerNetwork(features, features, layers=2, heads=4, dropout=0.1)
        initialise.transformer(network)
    else:
        half = -(-features // 2)
        network = RecurrentNetwork(features, half, cell=options.frames, bidirectional=True)
        initialise.default(network)
    return FrameEncoder(InputVectors(size, features, vectors=True), network)
