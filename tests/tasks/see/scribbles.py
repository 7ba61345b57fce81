"""Pictures of 12 × 12 that are easily told apart, as corpora, and small models of every kind for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from regard.data.corpora.build_digits import written
from regard.recipe.recipe import Recipe

SIDE = 12
COUNTS = {"train": 96, "dev": 24, "test": 24}
MODELS: dict[str, dict[str, Any]] = {
    "ram": {"glimpses": 3, "width": 4, "scales": 2, "size": 16, "inner": 8, "copies": 2},
    "ram-random": {"glimpses": 3, "width": 4, "size": 16, "inner": 8, "policy": "random"},
    "ram-lstm": {"glimpses": 2, "width": 4, "size": 16, "inner": 8, "core": "lstm", "baseline": False},
    "ws-ram": {"glimpses": 2, "grid": 3, "width": 4, "coarse": 3, "size": 16, "inner": 8, "samples": 3},
    "ws-ram-bound": {"glimpses": 2, "grid": 3, "width": 4, "coarse": 3, "size": 16, "loss": "variational"},
    "ws-ram-prior": {"glimpses": 2, "grid": 3, "width": 4, "coarse": 3, "size": 16, "inference": False},
    "stn": {"width": 6, "located_by": 6, "warp": "affine"},
    "stn-none": {"width": 6, "warp": "none", "body": "fcn"},
    "stn-plate": {"width": 6, "located_by": 6, "warp": "thin-plate", "body": "fcn", "halved": True},
    "stn-two": {"width": 6, "located_by": 6, "warp": "projective", "transformers": 2},
    "window-reader": {"steps": 2, "filters": 4, "size": 16},
    "cnn": {"filters": 4, "stages": 2},
    "cnn-shallow": {"filters": 2, "hidden": 16, "design": "shallow"},
}  # fmt: skip
KINDS = ("window-reader", "ws-ram", "stn", "cnn", "ram")


def kind_of(model: str) -> str:
    return next(kind for kind in KINDS if model.startswith(kind))


def scribbles(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows, columns and crosses: (count, 12, 12) and their labels 0, 1, 2."""
    draw = np.random.default_rng(seed)
    images, labels = np.zeros((count, SIDE, SIDE), np.uint8), draw.integers(0, 3, count)
    for image, label in zip(images, labels, strict=True):
        row, column = draw.integers(3, SIDE - 3, 2)
        if label != 1:
            image[row, 2:-2] = draw.integers(150, 256)
        if label != 0:
            image[2:-2, column] = draw.integers(150, 256)
    return images, labels.astype(np.uint8)


def write_scribbles(folder: Path, counts: dict[str, int] = COUNTS) -> None:
    for seed, (part, count) in enumerate(counts.items()):
        images, labels = scribbles(count, seed)
        (folder / f"{part}-images.idx").write_bytes(written(images))
        (folder / f"{part}-labels.idx").write_bytes(written(labels))


def see_recipe(folder: Path, model: str = "ram", **sections: Any) -> Recipe:
    data = {part: f"{folder}/{part}-images.idx,{folder}/{part}-labels.idx" for part in COUNTS}
    training = {"epochs": 2, "batch_sentences": 16, "optimizer": {"lr": 3e-3}}
    task = {"kind": "see", **sections.pop("task", {})}
    return Recipe.model_validate(
        {
            "task": task,
            "data": {**data, **sections.pop("data", {})},
            "model": {"kind": kind_of(model), **MODELS[model], **sections.pop("model", {})},
            "training": {**training, **sections.pop("training", {})},
            "trainer": {"accelerator": "cpu", "devices": 1},
            **sections,
        }
    )
