"""The checkpoints of a run: the last two to resume from, and the best by the metric.

`step-00000500.safetensors` holds everything that the next update depends on, `best-00000500.safetensors`
the weights alone, as they were validated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from regard.data.checksums import Damaged
from regard.runs.tensor_tree import read_tree, write_tree
from regard.words import t

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
        if not paths and self._all("best"):
            complaints.append(
                f"there is no step-… checkpoint in {self.folder} to go on from: training begins anew"
            )
        for path in reversed(paths):
            try:
                return self._step(path), complaints
            except Damaged as damage:
                complaints.append(f"{damage}; the one before it is used")
        if paths:
            raise Damaged(
                t(
                    "every checkpoint in {folder} is damaged ({split})",
                    folder=self.folder,
                    split=complaints[0].split(";")[0],
                ),
                t(
                    "remove that folder, and model.safetensors beside it, to start from the "
                    "beginning"
                ),
            )
        return None, complaints

    def last(self) -> Path | None:
        return next(reversed(self._all("step")), None)

    def save_best(self, update: int, weights: Weights) -> str:
        """Its SHA-256."""
        return write_tree(self._path("best", update), weights)

    def load_best(
        self, updates: Iterable[int], most: int, sha256: Mapping[int, str]
    ) -> tuple[dict[int, Weights], list[str]]:
        """The first so many of these that are whole, by update; what was wrong with others before them."""
        found: dict[int, Weights] = {}
        complaints: list[str] = []
        for update in updates:
            if len(found) == most:
                break
            try:
                found[update] = read_tree(self._path("best", update), sha256.get(update))
            except Damaged as damage:
                complaints.append(str(damage))
        return found, complaints

    def _step(self, path: Path) -> dict[str, Any]:
        tree = read_tree(path)
        if "state" not in tree:
            raise Damaged(t("{path} holds weights alone, as a best-… checkpoint does", path=path))
        return tree

    def _path(self, kind: str, update: int) -> Path:
        return self.folder / f"{kind}-{update:08d}.safetensors"

    def _all(self, kind: str) -> list[Path]:
        return sorted(self.folder.glob(f"{kind}-*.safetensors"))
