"""The networks of this folder as seers: what each costs in training, and what it says of where it looked."""

from __future__ import annotations

from torch import Tensor

from regard.layers.pictures.warps import Warp
from regard.models.seeing.draw import WindowReader
from regard.models.seeing.ram import Ram, ram_loss
from regard.models.seeing.recogniser import Recogniser
from regard.models.seeing.seer import SeenPictures, Seer
from regard.models.seeing.ws_ram import WsRam, variational_loss, wake_sleep_loss


class GlimpseSeer(Seer):
    """A recurrent attention model, and REINFORCE.

    copies: paths of a picture in training, each a sample of the policy. weight: of the policy's part of the
    loss. baseline: whether the expected reward is taken off the reward.
    """

    def __init__(
        self, network: Ram, *, copies: int = 1, weight: float = 0.01, baseline: bool = True
    ) -> None:
        super().__init__()
        self.network, self.copies, self.weight, self.baseline = network, copies, weight, baseline

    def forward(self, pictures: Tensor) -> SeenPictures:
        path = self.network(pictures)
        return SeenPictures(
            path.logits[:, 0],
            path.places[:, 0],
            expected=path.baselines[:, 0],
            beliefs=None if path.beliefs is None else path.beliefs[:, 0],
        )

    def costs(self, pictures: Tensor, label: Tensor, smoothing: float = 0.0) -> Tensor:
        path = self.network(pictures, self.copies)
        return ram_loss(
            path, label, weight=self.weight, baseline=self.baseline, smoothing=smoothing
        )


class WakeSleepSeer(Seer):
    """Glimpses by wake-sleep, or by the variational bound with the same network.

    samples: paths of a picture in training. inference: they are drawn from q, which sees the label. control:
    control variates; of the bound, the mean of the other samples as its baseline.
    """

    def __init__(
        self,
        network: WsRam,
        *,
        samples: int = 5,
        bound: bool = False,
        inference: bool = True,
        control: bool = True,
    ) -> None:
        super().__init__()
        self.network, self.samples = network, samples
        self.bound, self.inference, self.control = bound, inference, control

    def forward(self, pictures: Tensor) -> SeenPictures:
        paths = self.network(pictures)
        beliefs = None if paths.beliefs is None else paths.beliefs[:, 0]
        return SeenPictures(paths.logits[:, 0], paths.places[:, 0], beliefs=beliefs)

    def costs(self, pictures: Tensor, label: Tensor, smoothing: float = 0.0) -> Tensor:
        if self.bound:
            paths = self.network(pictures, self.samples)
            return variational_loss(paths, label, baseline=self.control)
        paths = self.network(pictures, self.samples, label if self.inference else None)
        return wake_sleep_loss(paths, label, control=self.control).loss


class WindowSeer(Seer):
    """Windows of Gaussian filters, differentiable: the label's loss reaches where they look."""

    def __init__(self, network: WindowReader) -> None:
        super().__init__()
        self.network = network

    def forward(self, pictures: Tensor) -> SeenPictures:
        states, windows = self.network.states(pictures)
        beliefs = None if self.training else self.network.label(states)
        return SeenPictures(self.network.label(states[:, -1]), windows=windows, beliefs=beliefs)


class WarpSeer(Seer):
    """A recogniser, behind spatial transformers or without."""

    def __init__(self, network: Recogniser) -> None:
        super().__init__()
        self.network = network

    @property
    def warp(self) -> Warp | None:
        """That of its transformers."""
        transformer = self.network.transformer
        return None if transformer is None else transformer.warp

    def forward(self, pictures: Tensor) -> SeenPictures:
        found = self.network(pictures)
        seen = None if found.thetas is None else found.seen
        return SeenPictures(found.logits, thetas=found.thetas, seen=seen)
