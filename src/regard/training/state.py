"""Where a run stands: with the weights, all that its next update depends on."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from regard.training import recipe


@dataclass
class State:
    epoch: int = 0  # from 0
    batch: int = 0  # of this process, given out in this epoch
    update: int = 0  # updates made
    seconds: float = 0.0  # of training so far, over all starts
    validated: int = 0  # the update of the last validation
    best: list[tuple[float, int]] = field(default_factory=list)  # (value, update), best first
    stale: int = 0  # validations since the best
    plateau: int = 0  # the same, since the learning rate was reduced
    reductions: int = 0  # of the learning rate, by a plateau
    loss: float = 0.0  # summed since the last row of metrics.csv
    tokens: int = 0  # the same

    def to_tree(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> State:
        return cls(**tree)

    def advance(self, batches: int, in_epoch: int) -> None:
        """One update was made of this many batches."""
        self.update += 1
        self.batch += batches
        if self.batch >= in_epoch:
            self.epoch, self.batch = self.epoch + 1, 0

    def done(self, training: recipe.Training, in_epoch: int) -> float:
        """The share of the run that is over, by the limit that will be reached first: 1 is the end."""
        shares = [0.0]
        if training.steps:
            shares.append(self.update / training.steps)
        if training.epochs:
            shares.append((self.epoch + self.batch / in_epoch) / training.epochs)
        if training.minutes:
            shares.append(self.seconds / (60 * training.minutes))
        return max(shares)

    def lost_patience(self, training: recipe.Training) -> bool:
        return training.patience is not None and self.stale >= training.patience

    def note(self, value: float, training: recipe.Training) -> bool:
        """Remember a validation's value, larger is better; True if the best so far."""
        better = not self.best or value > self.best[0][0]
        self.best = sorted([*self.best, (value, self.update)], key=_rank)[: training.keep]
        self.validated = self.update
        self.stale = 0 if better else self.stale + 1
        self.plateau = 0 if better else self.plateau + 1
        if training.schedule.kind == "plateau" and self.plateau > training.schedule.patience:
            self.plateau, self.reductions = 0, self.reductions + 1
        return better


def _rank(best: tuple[float, int]) -> tuple[float, int]:
    """Higher values first; of equal ones the earlier."""
    return -best[0], best[1]
