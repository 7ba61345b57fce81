"""A label for a picture: the loss of a batch, and what was seen.

Legend: B pictures, C channels, H, W pixels, K labels.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.models.seeing.seer import SeenPictures, Seer
from regard.tasks.see.picture_view import SUM, PictureView, Scene
from regard.tasks.task_module import Loss, TaskModule


class See(TaskModule):
    """A model that gives `SeenPictures`, or logits (B, K), of pictures (B, C, H, W), and its view."""

    def __init__(
        self, model: nn.Module, view: PictureView, *, label_smoothing: float = 0.0
    ) -> None:
        super().__init__(model)
        self.view, self.label_smoothing = view, label_smoothing

    def forward(self, image: Tensor, label: Tensor) -> Loss:
        """image (B, C, H, W), label (B,)"""
        if self.view.name == SUM and self.training:
            image, label = self.view.paired(image, label)
        pictures = self.view(image).pictures
        if isinstance(self.model, Seer) and self.training:
            costs = self.model.costs(pictures, label, self.label_smoothing)
        else:
            smoothing = self.label_smoothing if self.training else 0.0
            logits = self.sight(pictures).logits
            costs = F.cross_entropy(logits, label, reduction="none", label_smoothing=smoothing)
        return Loss(costs.sum(), torch.full((), float(len(label)), device=label.device))

    def sight(self, pictures: Tensor) -> SeenPictures:
        """What the model sees of scenes; logits of 16 bits become those of 32."""
        found = self.model(pictures)
        found = found if isinstance(found, SeenPictures) else SeenPictures(found)
        narrow = found.logits.dtype in (torch.float16, torch.bfloat16)
        return found._replace(logits=found.logits.float()) if narrow else found

    def scene(self, image: Tensor, *, as_it_is: bool = False) -> Scene:
        """What is shown of pictures; as_it_is: without the view, on its ground."""
        return Scene(self.view.on_ground(image)) if as_it_is else self.view(image)

    def places(self, seen: SeenPictures, pictures: Tensor) -> Tensor | None:
        """(B, T, 2): the middles of glimpses, windows or warps; None: the whole was looked at."""
        if seen.places is not None:
            return seen.places
        if seen.windows is not None:  # whose first pixel is at 1
            height, width = pictures.shape[-2:]
            x, y = seen.windows[..., 0], seen.windows[..., 1]
            return torch.stack(((2 * x - 1) / width - 1, (2 * y - 1) / height - 1), -1)
        warp = getattr(self.model, "warp", None)
        if seen.thetas is not None and warp is not None:
            middles = [warp.grid(theta, (1, 1))[:, 0, 0] for theta in seen.thetas.unbind(1)]
            return torch.stack(middles, 1)
        return None

    @property
    def why_not_static(self) -> str | None:
        return None

    def in_few_shapes(self, batch: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """They are few: pictures are of one size, and batches of two, the last and all others."""
        return dict(batch)
