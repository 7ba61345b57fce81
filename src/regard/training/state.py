"""Where a run stands: with the weights, all that its next update depends on."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from regard.recipe import recipe


@dataclass
class RunState:
    epoch: int = 0  # from 0
    batch: int = 0  # of this process, given out in this epoch
    update: int = 0  # updates made
    seconds: float = 0.0  # of training so far, over all starts
    validated: int = 0  # the update of the last validation
    # (value, -loss, update) of validations, best first
    best: list[tuple[float, float, int]] = field(default_factory=list)
    best_sha256: dict[int, str] = field(default_factory=dict)  # of their checkpoints, by update
    stale: int = 0  # validations since the best
    plateau: int = 0  # the same, since the learning rate was reduced
    reductions: int = 0  # of the learning rate, by a plateau
    loss: float = 0.0  # summed since the last row of metrics.csv
    tokens: int = 0  # the same
    memory: int = 0  # bytes at the peak, over all starts
    learning_rate: float = 0.0  # of the last update
    gradient_norm: float = 0.0  # the same
    validations: int = 0  # made so far

    def to_tree(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> RunState:
        return cls(**tree)

    @property
    def best_updates(self) -> list[int]:
        return [update for *_, update in self.best]

    def keep(self, sha256: str) -> None:
        """The checkpoint of this update is one of the best; those of others that are not are forgotten."""
        kept = {**self.best_sha256, self.update: sha256}
        self.best_sha256 = {n: kept[n] for n in self.best_updates if n in kept}

    def advance(self, batches: int, in_epoch: int) -> None:
        """One update was made of this many batches."""
        self.update += 1
        self.batch += batches
        if self.batch >= in_epoch:
            self.epoch, self.batch = self.epoch + 1, 0

    def done(self, training: recipe.Training, in_epoch: int) -> float:
        """The share of the run that is over, by the limit that will be reached first: 1 is the end."""
        return max(self._shares(training, in_epoch).values(), default=0.0)

    def end(self, training: recipe.Training, in_epoch: int) -> str | None:
        """The limit that is reached, as in `training.epochs=30`; None: the run goes on."""
        for name, share in self._shares(training, in_epoch).items():
            if share >= 1:
                return f"training.{name}={training.limits[name]}".removesuffix(".0")
        if training.patience is not None and self.stale >= training.patience:
            return f"training.patience={training.patience}"
        return None

    def _shares(self, training: recipe.Training, in_epoch: int) -> dict[str, float]:
        """How much of each limit is used up."""
        used = {
            "epochs": self.epoch + self.batch / in_epoch,
            "steps": self.update,
            "minutes": self.seconds / 60,
        }
        return {name: used[name] / limit for name, limit in training.limits.items()}

    def note(self, merit: tuple[float, float], training: recipe.Training) -> bool:
        """Remember a validation: its value, and -loss to decide between equals; True if the best so far."""
        better = not self.best or merit > self.best[0][:-1]
        every = [*self.best, (*merit, self.update)]  # of equals the earlier stays first
        self.best = sorted(every, key=lambda best: best[:-1], reverse=True)[: training.keep]
        self.validated, self.validations = self.update, self.validations + 1
        self.stale = 0 if better else self.stale + 1
        self.plateau = 0 if better else self.plateau + 1
        if training.schedule.kind == "plateau" and self.plateau > training.schedule.patience:
            self.plateau, self.reductions = 0, self.reductions + 1
        return better
