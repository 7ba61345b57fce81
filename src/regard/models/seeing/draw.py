"""DRAW (Gregor et al. 2015): a picture is read and drawn by turns, through windows that move and zoom.

Legend: B pictures, T steps, C channels, H, W pixels, N filters of a window in each direction, D features of a
state, Z of what is drawn from. https://arxiv.org/abs/1502.04623
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.layers.pictures.gaussian_window import GaussianWindow

WINDOW = 5  # numbers that tell one


class DrawnPictures(NamedTuple):
    """What a picture costs, in nats, and how it came to be."""

    reconstruction: Tensor  # (B,): -log p(x | z)
    divergence: Tensor  # (B, T): of what was drawn from at each step
    canvases: Tensor  # (B, T, C, H, W) from 0 to 1, after each step
    reads: (
        Tensor | None
    )  # (B, T, 4): x, y, δ, σ of the window of each step, in pixels; None: all is seen
    writes: Tensor | None

    @property
    def bound(self) -> Tensor:
        """(B,): -log p(x) at the most."""
        return self.reconstruction + self.divergence.sum(-1)


class WindowedRead(nn.Module):
    """r = [γ F_Y x F_Xᵀ, γ F_Y x̂ F_Xᵀ], one window for both; without a window, [x, x̂]."""

    def __init__(
        self, channels: int, size: tuple[int, int], features: int, filters: int | None
    ) -> None:
        super().__init__()
        self.size, self.filters = size, filters
        self.window = None if filters is None else nn.Linear(features, WINDOW)
        pixels = size[0] * size[1] if filters is None else filters**2
        self.output_size = 2 * channels * pixels

    def forward(self, both: Tensor, state: Tensor) -> tuple[Tensor, Tensor | None]:
        """both (B, 2 C, H, W): the picture, and what is still missing of it. -> (B, output_size)"""
        if self.window is None or self.filters is None:
            return both.flatten(1), None
        window = GaussianWindow.of(self.window(state), self.filters, self.size)
        return window.read(both).flatten(1), window.box


class WindowedWrite(nn.Module):
    """1/γ F_Yᵀ w F_X, w = W h; without a window, W h."""

    def __init__(
        self, channels: int, size: tuple[int, int], features: int, filters: int | None
    ) -> None:
        super().__init__()
        self.size, self.filters = size, filters
        self.window = None if filters is None else nn.Linear(features, WINDOW)
        self.patch = size if filters is None else (filters, filters)
        self.stroke = nn.Linear(features, channels * self.patch[0] * self.patch[1])

    def forward(self, state: Tensor) -> tuple[Tensor, Tensor | None]:
        """(B, D) -> (B, C, H, W)"""
        stroke = self.stroke(state).unflatten(1, (-1, *self.patch))
        if self.window is None or self.filters is None:
            return stroke, None
        window = GaussianWindow.of(self.window(state), self.filters, self.size)
        return window.write(stroke), window.box


class Draw(nn.Module):
    """An encoder that reads, a decoder that draws, T times, with a sample between them.

        r_t = read(x, x - σ(c_{t-1}), h^dec_{t-1})     h^enc_t = LSTM([r_t, h^dec_{t-1}])
        z_t ~ N(μ(h^enc_t), exp(s(h^enc_t))²)          h^dec_t = LSTM(z_t)     c_t = c_{t-1} + write(h^dec_t)

    size: (C, H, W). read, write: filters of each window; None: without attention.
    """

    def __init__(
        self,
        size: tuple[int, int, int],
        *,
        steps: int = 32,
        features: int = 256,
        latent: int = 100,
        read: int | None = 2,
        write: int | None = 5,
    ) -> None:
        super().__init__()
        channels, inner = size[0], (size[1], size[2])
        self.size, self.steps, self.features, self.latent = size, steps, features, latent
        self.reader = WindowedRead(channels, inner, features, read)
        self.writer = WindowedWrite(channels, inner, features, write)
        self.encoder = nn.LSTMCell(self.reader.output_size + features, features)
        self.decoder = nn.LSTMCell(latent, features)
        self.mean, self.log_deviation = nn.Linear(features, latent), nn.Linear(features, latent)
        self.canvas = nn.Parameter(torch.zeros(size))
        self.before = nn.Parameter(torch.zeros(4, features))  # both states of both cells

    def forward(self, pictures: Tensor) -> DrawnPictures:
        """pictures (B, C, H, W): 0 or 1, or the chance of 1."""
        canvas, encoder, decoder = self._start(len(pictures))
        canvases, divergences, reads, writes = [], [], [], []
        for _ in range(self.steps):
            missing = pictures - canvas.sigmoid()
            seen, read = self.reader(torch.cat((pictures, missing), 1), decoder[0])
            encoder = self.encoder(torch.cat((seen, decoder[0]), 1), encoder)
            mean, log_deviation = self.mean(encoder[0]), self.log_deviation(encoder[0])
            drawn = mean + log_deviation.exp() * torch.randn_like(mean)
            divergences.append(divergence(mean, log_deviation))
            decoder = self.decoder(drawn, decoder)
            stroke, write = self.writer(decoder[0])
            canvas = canvas + stroke
            canvases.append(canvas.sigmoid())
            reads.append(read)
            writes.append(write)
        costs = F.binary_cross_entropy_with_logits(canvas, pictures, reduction="none")
        return DrawnPictures(
            costs.flatten(1).sum(1),
            torch.stack(divergences, 1),
            torch.stack(canvases, 1),
            _stacked(reads),
            _stacked(writes),
        )

    @torch.no_grad()
    def imagine(
        self, count: int, generator: torch.Generator | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """Canvases (count, T, C, H, W) of pictures that never were, and the windows they were drawn in."""
        canvas, _, decoder = self._start(count)
        canvases, writes = [], []
        for _ in range(self.steps):
            drawn = torch.randn(count, self.latent, generator=generator, device=canvas.device)
            decoder = self.decoder(drawn.to(canvas), decoder)
            stroke, write = self.writer(decoder[0])
            canvas = canvas + stroke
            canvases.append(canvas.sigmoid())
            writes.append(write)
        return torch.stack(canvases, 1), _stacked(writes)

    def _start(self, count: int) -> tuple[Tensor, tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
        """The canvas, and the state and the cell of both."""
        first, second, third, fourth = self.before[:, None].expand(-1, count, -1).unbind(0)
        return self.canvas.expand(count, -1, -1, -1), (first, second), (third, fourth)


def divergence(mean: Tensor, log_deviation: Tensor) -> Tensor:
    """KL(N(μ, σ²) ‖ N(0, 1)) = ½ Σ (μ² + σ² - log σ² - 1): (B, Z) -> (B,)"""
    return 0.5 * (mean.square() + (2 * log_deviation).exp() - 2 * log_deviation - 1).sum(-1)


def _stacked(boxes: list[Tensor | None]) -> Tensor | None:
    found = [box for box in boxes if box is not None]
    return torch.stack(found, 1) if found else None


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
        self.window = nn.Linear(features, WINDOW)
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
