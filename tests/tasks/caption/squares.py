"""Pictures that a small captioner learns at once: a light square in a corner, and the name of the corner."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from regard.recipe.recipe import Recipe

CORNERS = {"upper left": (0, 0), "upper right": (0, 4), "lower left": (4, 0), "lower right": (4, 4)}


def write_squares(folder: Path) -> None:
    """train, dev and test.jsonl: image, prompt, caption, boxes."""
    draw = np.random.default_rng(0)
    for part, count in (("train", 48), ("dev", 12), ("test", 12)):
        rows = []
        for number in range(count):
            name, (top, left) = list(CORNERS.items())[number % 4]
            pixels = draw.integers(0, 40, (8, 8), dtype=np.uint8)
            pixels[top : top + 4, left : left + 4] = 255
            Image.fromarray(pixels).save(folder / f"{part}{number}.png")
            prompt = ("long", "short")[number // 4 % 2]
            caption = f"a square on the {name}" if prompt == "long" else name
            end = len(caption)
            box = [end - len(name), end, left / 8, top / 8, 0.5, 0.5]
            row = {"image": f"{part}{number}.png", "caption": caption, "boxes": [box]}
            rows.append({**row, "prompt": prompt})
        (folder / f"{part}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def caption_recipe(
    folder: Path,
    task: dict[str, Any] | None = None,
    model: dict[str, Any] | None = None,
    training: dict[str, Any] | None = None,
) -> Recipe:
    return Recipe.model_validate(
        {
            "task": {"kind": "caption", **(task or {})},
            "data": {
                **{part: str(folder / f"{part}.jsonl") for part in ("train", "dev", "test")},
                "source": "en",
                "target": "en",
            },
            "tokenizer": {"target": {"kind": "word", "size": 50}},
            "model": {
                "kind": "show-attend-tell",
                "filters": [8],
                "size": 16,
                "embedding": 16,
                "hidden": 32,
                **(model or {}),
            },
            "training": {
                "epochs": 1,
                "batch_sentences": 8,
                "optimizer": {"kind": "adam", "lr": 5e-3},
                **(training or {}),
            },
            "search": {"beam": 2, "max_length": 10},
            "trainer": {"accelerator": "cpu"},
        }
    )
