"""The checkpoints of a run: the last two to resume from, and the best by the metric.

`step-00000500.safetensors` holds everything that the next update depends on, `best-00000500.safetensors`
the weights alone, as they were validated.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from torch import Tensor

from regard.training.tree import Damaged, read_tree, write_tree

KEPT = 2  # to resume from: if the last is damaged, there is the one before

Weights = dict[str, Tensor]


class Checkpoints:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def save(self, update: int, tree: dict[str, Any], best: Iterable[int]) -> Path:
        """Write what `update` left, then remove what is no longer needed; `best` weights stay."""
        path = self._path("step", update)
        write_tree(path, tree)
        for old in self._all("step")[:-KEPT]:
            old.unlink(missing_ok=True)
        wanted = {self._path("best", number) for number in best}
        for old in self._all("best"):
            if old not in wanted:
                old.unlink(missing_ok=True)
        return path

    def latest(self) -> tuple[dict[str, Any] | None, list[str]]:
        """The last checkpoint that is whole, or None if there is none; and what was wrong with others."""
        complaints: list[str] = []
        paths = self._all("step")
        for path in reversed(paths):
            try:
                return read_tree(path), complaints
            except Damaged as damage:
                complaints.append(f"{damage}; the one before it is used")
        if paths:
            raise Damaged(
                f"every checkpoint in {self.folder} is damaged ({complaints[0].split(';')[0]}); "
                "remove that folder to start again from the beginning"
            )
        return None, complaints

    def last(self) -> Path | None:
        return next(reversed(self._all("step")), None)

    def save_best(self, update: int, weights: Weights) -> None:
        write_tree(self._path("best", update), weights)

    def load_best(self, updates: Iterable[int]) -> list[Weights]:
        """Those that are there."""
        paths = [self._path("best", update) for update in updates]
        return [read_tree(path) for path in paths if path.is_file()]

    def _path(self, kind: str, update: int) -> Path:
        return self.folder / f"{kind}-{update:08d}.safetensors"

    def _all(self, kind: str) -> list[Path]:
        return sorted(self.folder.glob(f"{kind}-*.safetensors"))
