"""Glimpses, windows and warps beside the obvious way to write them: milliseconds, forward and backward.

    python benchmarks/picture_layers.py                                  # on a CPU
    python benchmarks/picture_layers.py --device cuda --batch 1024

The obvious ways: a glimpse is cut out of a padded picture, one picture after the other, and each scale is
resized by adaptive_avg_pool2d (at whole pixels, where both agree); a window multiplies by filters that are
made by exp and divided by their sum; a warp takes torch's affine_grid, or makes its plate anew for every
call. Glimpses are taken as a policy takes them: eight a picture, which needs no gradient.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from regard.layers import AffineWarp, GaussianWindow, Retina, ThinPlateWarp

Compute = Callable[[], Tensor]


def cut_out(pictures: Tensor, places: Tensor, width: int, scales: int) -> Tensor:
    """The glimpses of (B, C, H, W) at whole pixels, one picture after the other."""
    size, margin = pictures.shape[-1], width * 2 ** (scales - 1)
    padded = F.pad(pictures, (margin,) * 4)
    left = ((places + 1) * size / 2 - width / 2).round().long() + margin
    glimpses = []
    for picture, (x, y) in zip(padded, left.tolist(), strict=True):
        parts = []
        for s in range(scales):
            wide = width * 2**s
            first_x, first_y = x - (wide - width) // 2, y - (wide - width) // 2
            part = picture[:, first_y : first_y + wide, first_x : first_x + wide]
            parts.append(F.adaptive_avg_pool2d(part, width))
        glimpses.append(torch.cat(parts))
    return torch.stack(glimpses)


def plain_window(numbers: Tensor, count: int, pictures: Tensor) -> Tensor:
    size = pictures.shape[-1]
    x, y, log_blur, log_spacing, log_strength = numbers.unbind(-1)
    pixels = torch.arange(1, size + 1, device=numbers.device)
    steps = torch.arange(count, device=numbers.device) - (count - 1) / 2
    filters = []
    for centre in (y, x):
        middle = (size + 1) / 2 * (centre + 1)
        means = middle[:, None] + steps * ((size - 1) / (count - 1) * log_spacing.exp())[:, None]
        found = torch.exp(-((pixels - means[..., None]) ** 2) / (2 * log_blur.exp()[:, None, None]))
        filters.append(found / found.sum(-1, keepdim=True).clamp_min(1e-8))
    seen = filters[0][:, None] @ pictures @ filters[1][:, None].mT
    return log_strength.exp()[:, None, None, None] * seen


def plain_affine(pictures: Tensor, theta: Tensor) -> Tensor:
    grid = F.affine_grid(theta.reshape(-1, 2, 3), list(pictures.shape), align_corners=False)
    return F.grid_sample(pictures, grid, align_corners=False)


def plain_plate(pictures: Tensor, theta: Tensor, points: int = 4) -> Tensor:
    at = torch.linspace(-1, 1, points, device=theta.device)
    held = torch.stack(torch.meshgrid(at, at, indexing="xy"), -1).reshape(-1, 2)
    size = pictures.shape[-1]
    at = (2 * torch.arange(size, device=theta.device) + 1) / size - 1
    places = torch.stack(torch.meshgrid(at, at, indexing="xy"), -1).reshape(-1, 2)

    def bent(a: Tensor) -> Tensor:
        square = (a[:, None] - held).square().sum(-1)
        return torch.cat((square * (square + 1e-9).log() / 2, a, a.new_ones(len(a), 1)), -1)

    edge = torch.cat((held, held.new_ones(len(held), 1)), -1)
    lower = torch.cat((edge.mT, edge.new_zeros(3, 3)), -1)
    system = torch.cat((bent(held), lower)).expand(len(theta), -1, -1)
    wanted = F.pad(theta.reshape(len(theta), -1, 2), (0, 0, 0, 3))
    grid = bent(places) @ torch.linalg.solve(system, wanted)
    return F.grid_sample(pictures, grid.unflatten(1, (size, size)), align_corners=False)


def milliseconds(compute: Compute, learns: list[Tensor], rounds: int) -> float:
    times = []
    for _ in range(rounds + 1):
        for tensor in learns:
            tensor.grad = None
        if learns[0].is_cuda:
            torch.cuda.synchronize()
        begun = time.perf_counter()
        compute().sum().backward()
        if learns[0].is_cuda:
            torch.cuda.synchronize()
        times.append(1000 * (time.perf_counter() - begun))
    return statistics.median(times[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--size", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=9)
    asked = parser.parse_args()
    torch.manual_seed(0)
    size, batch = asked.size, asked.batch
    shown = torch.rand(batch, 1, size, size, device=asked.device, requires_grad=True)
    whole = torch.randint(size // 4, 3 * size // 4, (batch, 8, 2), device=asked.device)
    places, one = 2 * whole / size - 1, torch.ones((), device=asked.device, requires_grad=True)
    numbers = 0.1 * torch.randn(batch, 5, device=asked.device)
    numbers[:, 3] -= 1  # inside of the picture
    numbers.requires_grad_()
    affine = AffineWarp().identity.to(asked.device).repeat(batch, 1).requires_grad_()
    plate = ThinPlateWarp().identity.to(asked.device).repeat(batch, 1).requires_grad_()
    retina = Retina(12, 3)
    cases: dict[str, tuple[Compute, Compute, list[Tensor]]] = {
        "8 glimpses, 12 × 12, 3 scales": (
            lambda: retina(shown.detach(), places) * one,
            lambda: (
                torch.stack([cut_out(shown.detach(), at, 12, 3) for at in places.unbind(1)], 1)
                * one
            ),
            [one],
        ),
        "window, 5 × 5": (
            lambda: GaussianWindow.of(numbers, 5, (size, size)).read(shown),
            lambda: plain_window(numbers, 5, shown),
            [shown, numbers],
        ),
        "affine warp": (
            lambda: AffineWarp()(shown, affine),
            lambda: plain_affine(shown, affine),
            [shown, affine],
        ),
        "thin plate, 4 × 4": (
            lambda: ThinPlateWarp()(shown, plate),
            lambda: plain_plate(shown, plate),
            [shown, plate],
        ),
    }
    print(f"{batch} pictures of {size} × {size} on {asked.device}; ms, forward and backward")
    print("| layer | here | the obvious way | times as fast | largest difference |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, (ours, plain, learns) in cases.items():
        apart = (ours() - plain()).abs().max().item()
        mine, other = (milliseconds(each, learns, asked.rounds) for each in (ours, plain))
        print(f"| {name} | {mine:.2f} | {other:.2f} | {other / mine:.1f} | {apart:.0e} |")


if __name__ == "__main__":
    main()
