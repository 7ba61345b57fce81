"""The network. regard's part: the pooling, which is what can be looked at, and the label."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from regard.layers.contracts import Encoded
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.modes import LabelDecoder
from regard.models.summary import Summary
from regard_example_model.options import WordWindows


class WindowEncoder(nn.Module):
    """h_t = relu(W [x_(t-w) … x_(t+w)]) for each width, side by side"""

    def __init__(self, vocabulary: int, options: WordWindows) -> None:
        super().__init__()
        size = options.size
        self.embed = nn.Embedding(vocabulary, size)
        nn.init.normal_(self.embed.weight, std=0.1)
        self.windows = nn.ModuleList(
            nn.Conv1d(size, size, width, padding="same") for width in options.widths
        )
        self.dropout = nn.Dropout(options.dropout)
        self.output_size = size * len(options.widths)

    def forward(self, source: Tensor, mask: Tensor) -> Encoded:
        """source (B, S) word numbers, mask (B, S): True where a word is real"""
        real = mask[..., None]
        words = self.dropout(self.embed(source)) * real  # what fills is 0 for every window
        seen = [window(words.mT).relu().mT for window in self.windows]
        states = self.dropout(torch.cat(seen, -1)) * real
        return Encoded(states, mask, states[:, 0])


def word_windows(words: int, labels: int, options: WordWindows) -> EncoderDecoder:
    encoder = WindowEncoder(words, options)
    summary = Summary("attention", encoder.output_size, encoder.output_size)
    return EncoderDecoder(encoder, LabelDecoder(summary, labels))
