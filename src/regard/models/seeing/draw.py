"""DRAW (Gregor et al. 2015): a picture is read and drawn by turns, through windows that move and zoom.

Legend: B pictures, T steps, C channels, H, W pixels, N filters of a window in each direction, D features of a
state, Z of what is drawn from. https://arxiv.org/abs/1502.04623
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.layers.pictures.gaussian_window import GaussianWindow
from regard.layers.repeated_linear import RepeatedLinear
from regard.models.seeing.draw_step import NUMBERS, Size, StepParts, compiled_parts, plain_parts


class DrawnPictures(NamedTuple):
    """What a picture costs, in nats, and how it came to be."""

    reconstruction: Tensor  # (B,): -log p(x | z)
    divergence: Tensor  # (B, T): of what was drawn from at each step
    ratio: Tensor  # (B,): log q(z | x) - log p(z) of what was drawn
    canvases: Tensor | None  # (B, T, C, H, W) from 0 to 1, after each step; None: not asked for
    reads: (
        Tensor | None
    )  # (B, T, 4): x, y, δ, σ of the window of each step, in pixels; None: all is
    writes: Tensor | None  # seen, or not asked for

    @property
    def bound(self) -> Tensor:
        """(B,): -log p(x) at the most, in the mean over draws."""
        return self.reconstruction + self.divergence.sum(-1)

    @property
    def weight(self) -> Tensor:
        """(B,): log p(x | z) p(z) / q(z | x); the mean of its exponential over draws is p(x)."""
        return -self.reconstruction - self.ratio


class Draw(nn.Module):
    """An encoder that reads, a decoder that draws, T times, with a sample between them.

        r_t = read(x, x - σ(c_{t-1}), h^dec_{t-1})     h^enc_t = LSTM([r_t, h^dec_{t-1}])
        z_t ~ N(μ(h^enc_t), exp(s(h^enc_t))²)          h^dec_t = LSTM(z_t)     c_t = c_{t-1} + write(h^dec_t)

    size: (C, H, W). read, write: filters of each window; None: without attention, read = [x, x - σ(c)] and
    write = W h. fused: in training on a GPU, torch.compile makes few kernels of many.
    """

    def __init__(
        self,
        size: Size,
        *,
        steps: int = 32,
        features: int = 256,
        latent: int = 100,
        read: int | None = 2,
        write: int | None = 5,
        fused: bool = False,
    ) -> None:
        super().__init__()
        channels, pixels = size[0], size[1] * size[2]
        self.size, self.steps, self.features, self.latent = size, steps, features, latent
        self.read, self.write, self.fused = read, write, fused
        self.most_pictures = 0  # of a batch that was trained on
        seen, drawn = (channels * (pixels if n is None else n**2) for n in (read, write))
        self.encoder = nn.LSTMCell(2 * seen + features, features)
        self.decoder = nn.LSTMCell(latent, features)
        self.mean, self.log_deviation = nn.Linear(features, latent), nn.Linear(features, latent)
        self.read_window = None if read is None else nn.Linear(features, NUMBERS)
        self.write_window = None if write is None else nn.Linear(features, NUMBERS)
        self.stroke = nn.Linear(features, drawn)
        self.canvas = nn.Parameter(torch.zeros(size))
        self.before = nn.Parameter(torch.zeros(4, features))  # both states of both cells
        self._open_windows()

    @torch.no_grad()
    def _open_windows(self) -> None:
        """At first both are over the whole picture, their filters overlap (σ = δ / 2), and what is written is
        as strong as the stroke says: 1/γ = 2πσ². With σ = γ = 1 a stroke is faint dots, and learning waits.
        """
        for window, count in ((self.read_window, self.read), (self.write_window, self.write)):
            if window is None or count is None:
                continue
            spacing = (max(self.size[1:]) - 1) / max(count - 1, 1)
            log_blur = 2 * math.log(max(spacing, 1.0) / 2)
            window.bias.zero_()
            window.bias[2] = log_blur
            if window is self.write_window:
                window.bias[4] = -math.log(2 * math.pi) - log_blur

    def forward(
        self, pictures: Tensor, noise: Tensor | None = None, *, trace: bool = False
    ) -> DrawnPictures:
        """pictures (B, C, H, W): 0 or 1, or the chance of 1. noise (B, T, Z), of N(0, 1): drawn if not given.

        trace: with canvases and windows.
        """
        if noise is None:
            noise = torch.randn(
                len(pictures), self.steps, self.latent, dtype=pictures.dtype, device=pictures.device
            )
        run = _Run(self, pictures)
        told, canvases, reads, writes = [], [], [], []
        for each in noise.unbind(1):
            if trace and run.read_numbers is not None and self.read is not None:
                reads.append(GaussianWindow.of(run.read_numbers, self.read, self.size[1:]).box)
            told.append(run.encode())
            run.decode(run.parts.drawn(told[-1], each))
            if trace:
                canvases.append(run.canvas.sigmoid())
            if trace and run.write_numbers is not None and self.write is not None:
                writes.append(GaussianWindow.of(run.write_numbers, self.write, self.size[1:]).box)
        mean, log_deviation = torch.stack(told, 1).to(pictures.dtype).chunk(2, -1)  # (B, T, Z)
        costs = F.binary_cross_entropy_with_logits(run.canvas, pictures, reduction="none")
        sampled = mean + log_deviation.exp() * noise
        ratio = (sampled.square() - noise.square()) / 2 - log_deviation
        return DrawnPictures(
            costs.flatten(1).sum(1),
            divergence(mean, log_deviation),
            ratio.sum((1, 2)),
            torch.stack(canvases, 1) if trace else None,
            torch.stack(reads, 1) if reads else None,
            torch.stack(writes, 1) if writes else None,
        )

    @torch.no_grad()
    def imagine(self, noise: Tensor) -> tuple[Tensor, Tensor | None]:
        """Canvases (B, T, C, H, W) of pictures that never were, and the windows they were drawn in.

        noise (B, T, Z): z itself, of N(0, 1).
        """
        run = _Run(self, self.canvas.new_zeros(len(noise), *self.size))  # which nobody reads
        canvases, writes = [], []
        for each in noise.to(self.canvas).unbind(1):
            run.decode(each)
            canvases.append(run.canvas.sigmoid())
            if run.write_numbers is not None and self.write is not None:
                writes.append(GaussianWindow.of(run.write_numbers, self.write, self.size[1:]).box)
        return torch.stack(canvases, 1), torch.stack(writes, 1) if writes else None


class _Run:
    """The states of one call. All that multiplies one state is one matrix, so that a step has four products:

    of h^dec [the encoder's gates, the decoder's gates, both windows, the stroke], of h^enc [the encoder's
    gates, μ, s], of r and of z.
    """

    def __init__(self, model: Draw, pictures: Tensor) -> None:
        encoder, decoder = model.encoder, model.decoder
        fused = model.fused and model.training and pictures.is_cuda
        if fused:  # a last, smaller batch of an epoch is not worth another compilation
            model.most_pictures = max(model.most_pictures, len(pictures))
            fused = len(pictures) == model.most_pictures
        self.model, self.pictures = model, pictures
        self.parts: StepParts = compiled_parts() if fused else plain_parts()
        seen = encoder.input_size - model.features
        of_seen, of_decoder = encoder.weight_ih.split((seen, model.features), 1)
        told = [model.read_window, model.write_window, model.stroke]
        layers = [layer for layer in told if layer is not None]
        self.widths = [4 * model.features] * 2 + [layer.out_features for layer in layers]
        self.from_decoder = RepeatedLinear(
            torch.cat([of_decoder, decoder.weight_hh, *(layer.weight for layer in layers)]),
            torch.cat(
                [
                    encoder.bias_ih + encoder.bias_hh,
                    decoder.bias_ih + decoder.bias_hh,
                    *(layer.bias for layer in layers),
                ]
            ),
        )
        self.from_encoder = RepeatedLinear(
            torch.cat([encoder.weight_hh, model.mean.weight, model.log_deviation.weight]),
            torch.cat(
                [
                    torch.zeros_like(encoder.bias_hh),
                    model.mean.bias,
                    model.log_deviation.bias,
                ]
            ),
        )
        self.from_drawn = RepeatedLinear(decoder.weight_ih)
        if (
            model.read is None
        ):  # W x + V (x - σ(c)) = (W + V) x - V σ(c): the first is always the same
            of_picture, of_missing = of_seen.chunk(2, 1)
            self.always: Tensor | None = F.linear(pictures.flatten(1), of_picture + of_missing)
            self.from_seen = RepeatedLinear(-of_missing)
        else:
            self.always, self.from_seen = None, RepeatedLinear(of_seen)
        # as later steps have them: each is compiled for one layout
        states = model.before[:, None].expand(-1, len(pictures), -1).contiguous().unbind(0)
        self.encoder_cell, self.decoder_cell = states[1], states[3]
        self.encoder_gates, _ = self._of_encoder(states[0])
        self.canvas = model.canvas.expand(len(pictures), -1, -1, -1).contiguous()
        self._take(states[2])

    def encode(self) -> Tensor:
        """What is seen, and after it μ and s: (B, 2 Z)"""
        parts = [self.gates_of_decoder, self.encoder_gates]
        if self.read_numbers is None:
            seen = self.canvas.sigmoid().flatten(1)
        else:
            filters = self.model.read or 0
            seen = self.parts.seen(self.read_numbers, self.pictures, self.canvas, filters)
        if self.always is not None:
            parts.append(self.always)
        hidden, self.encoder_cell = self.parts.cell(self.encoder_cell, self.from_seen(seen), *parts)
        self.encoder_gates, told = self._of_encoder(hidden)
        return told

    def decode(self, drawn: Tensor) -> None:
        """One stroke more, after z (B, Z)."""
        hidden, self.decoder_cell = self.parts.cell(
            self.decoder_cell, self.from_drawn(drawn), self.decoder_gates
        )
        self._take(hidden)
        canvas, stroke = self.canvas, self.stroke
        if self.write_numbers is None:
            self.canvas = canvas + stroke.unflatten(1, self.model.size)
        else:
            filters = self.model.write or 0
            self.canvas = self.parts.written(self.write_numbers, canvas, stroke, filters)

    def _take(self, hidden: Tensor) -> None:
        """All that follows from h^dec."""
        first, second, *rest = self.from_decoder(hidden).split(self.widths, 1)
        self.gates_of_decoder, self.decoder_gates, self.stroke = first, second, rest.pop()
        self.read_numbers = None if self.model.read_window is None else rest.pop(0)
        self.write_numbers = None if self.model.write_window is None else rest.pop(0)

    def _of_encoder(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """All that follows from h^enc: gates (B, 4 D), μ and s (B, 2 Z)"""
        gates, told = self.from_encoder(hidden).split(
            (4 * self.model.features, 2 * self.model.latent), 1
        )
        return gates, told


def divergence(mean: Tensor, log_deviation: Tensor) -> Tensor:
    """KL(N(μ, σ²) ‖ N(0, 1)) = ½ Σ (μ² + σ² - log σ² - 1): (..., Z) -> (...)"""
    return 0.5 * (mean.square() + (2 * log_deviation).exp() - 2 * log_deviation - 1).sum(-1)


class WindowReader(nn.Module):
    """T windows on a picture, each told by the state before; the label after the last: RAM, differentiable.

    (B, C, H, W) -> logits (B, K), and the windows (B, T, 4): x, y, δ, σ in pixels.
    """

    def __init__(
        self,
        size: tuple[int, int, int],
        labels: int,
        *,
        steps: int = 8,
        filters: int = 12,
        features: int = 256,
    ) -> None:
        super().__init__()
        self.size, self.steps, self.filters = size, steps, filters
        self.window = nn.Linear(features, NUMBERS)
        self.cell = nn.LSTMCell(size[0] * filters**2, features)
        self.label = nn.Linear(features, labels)
        self.before = nn.Parameter(torch.zeros(2, features))
        nn.init.zeros_(self.window.bias)  # at first the whole picture

    def forward(self, pictures: Tensor) -> tuple[Tensor, Tensor]:
        states, boxes = self.states(pictures)
        return self.label(states[:, -1]), boxes

    def states(self, pictures: Tensor) -> tuple[Tensor, Tensor]:
        """(B, T, D) after each window, and the windows."""
        hidden, cell = self.before[:, None].expand(-1, len(pictures), -1).unbind(0)
        states, boxes = [], []
        for _ in range(self.steps):
            window = GaussianWindow.of(self.window(hidden), self.filters, self.size[1:])
            hidden, cell = self.cell(window.read(pictures).flatten(1), (hidden, cell))
            states.append(hidden)
            boxes.append(window.box)
        return torch.stack(states, 1), torch.stack(boxes, 1)
