"""Pictures drawn step by step: the loss of a batch, the bound of each picture, and new pictures.

Legend: B pictures, T steps, C channels, H, W pixels, Z what is drawn from.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

import torch
from torch import Tensor, nn

from regard.layers.pictures.draws import keys_of, mixed, normal, uniform
from regard.measures.bound_measures import PictureBound
from regard.models.seeing.draw import Draw, DrawnPictures
from regard.tasks.task_module import Loss, TaskModule

Binary = Literal["sampled", "threshold", "none"]
DRAWN, IMAGINED = 1, 2  # what keys are for: the noise of a score, and that of new pictures


class Paint(TaskModule):
    """A model that draws pictures. All chance of a score comes from keys of the picture: nothing depends on
    its batch, on the device or on what was drawn before.
    """

    model: Draw

    def __init__(self, model: nn.Module, *, binary: Binary = "sampled", seed: int = 0) -> None:
        super().__init__(model)
        self.binary, self.seed = binary, seed

    @property
    def why_not_static(self) -> str | None:
        return None

    def in_few_shapes(self, batch: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """As it is: all but the last batch of an epoch have one shape."""
        return dict(batch)

    def forward(self, image: Tensor) -> Loss:
        """image (B, C, H, W) from 0 to 1 -> the bounds, summed"""
        bound = self.model(self.shown(image)).bound
        return Loss(bound.sum(), torch.full((), len(image), device=image.device))

    def shown(self, image: Tensor) -> Tensor:
        """The pictures as they are learnt: each pixel 1 with the chance of its grey, always the same."""
        image = image.to(self.model.canvas.dtype)
        if self.binary == "none":
            return image
        if self.binary == "threshold":
            return (image >= 0.5).to(image)
        chance = uniform(keys_of(image, self.seed), self.model.canvas.numel()).view(image.shape)
        return (chance < image).to(image)

    def drawn(self, image: Tensor, sample: int = 0, *, trace: bool = False) -> DrawnPictures:
        """One draw of each picture, which its key and the number of the draw tell."""
        model = self.model
        noise = normal(keys_of(image, DRAWN, sample), model.steps * model.latent)
        noise = noise.view(-1, model.steps, model.latent).to(model.canvas.dtype)
        drawn: DrawnPictures = model(self.shown(image), noise, trace=trace)
        return drawn

    def bounds(self, image: Tensor, samples: int = 1) -> list[PictureBound]:
        """What each picture costs, in the mean over draws."""
        found = []
        for sample in range(samples):
            drawn = self.drawn(image, sample)
            found.append(torch.stack((drawn.reconstruction, drawn.divergence.sum(1), drawn.weight)))
        if not found or not len(image):
            return []
        every = torch.stack(found).double()  # (samples, 3, B)
        estimate = math.log(samples) - every[:, 2].logsumexp(0)
        numbers = torch.stack((*every[:, :2].mean(0), estimate), 1).tolist()
        return [PictureBound(*each) for each in numbers]

    def imagine(self, count: int, seed: int = 0) -> tuple[Tensor, Tensor | None]:
        """Canvases (count, T, C, H, W) of new pictures, and the windows (count, T, 4) they were drawn in.

        The n-th picture of a seed is always the same, however many are asked for.
        """
        model = self.model
        keys = torch.arange(count, device=self.device)
        for number in (seed, IMAGINED):
            keys = mixed(keys ^ int(mixed(torch.tensor(number))))
        noise = normal(keys, model.steps * model.latent).view(-1, model.steps, model.latent)
        return model.imagine(noise)
