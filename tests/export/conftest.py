"""Runs that need no training: random weights write long nonsense, which tells two searches apart."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from regard.data.tokenizer import BOS, EOS, PAD
from regard.recipe.recipe import Recipe
from regard.recipe.recipe_files import dump_recipe, read_recipe
from regard.runs.model_file import save_model
from regard.runs.run_folder import RunFolder
from regard.tasks.recipe_task import task_of

SIGNS = [chr(0x4E00 + i) for i in range(40)]
WORDS = [f"w{chr(97 + i // 6)}{chr(97 + i % 6)}" for i in range(36)]
ENDS = 0.0  # some sentences end, some run to their limit
SMALL = {
    "kind": "transformer",
    "size": 32,
    "heads": 4,
    "inner": 40,
    "encoder_layers": 1,
    "decoder_layers": 2,
}


def make_run(folder: Path, *, ends: float = 1.0, **model: Any) -> Path:
    """A run of this model, by default a small Transformer; ends: how readily a sentence ends."""
    fields = read_recipe("demo").model_dump(mode="json")
    fields["model"] = model if "kind" in model else SMALL | model
    fields["tokenizer"]["source"]["kind"] = "character"
    fields["tokenizer"]["target"]["kind"] = "word"
    recipe = Recipe.model_validate(fields)
    task = task_of(recipe)
    task.fields["source"].learn(SIGNS)
    task.fields["target"].learn([" ".join(WORDS)])
    torch.manual_seed(1)
    made = recipe.model.build(task.sizes)
    with torch.no_grad():
        for name, weight in made.named_parameters():
            if weight.dim() < 2 or name.endswith("table.weight"):
                weight.add_(0.2 * torch.randn_like(weight))
        bias = made.decoder.output.bias
        bias[[PAD, BOS]] -= 12.0  # as training would have it: they never come
        bias[EOS] += ends
    run = RunFolder(folder)
    folder.mkdir(parents=True)
    run.recipe.write_text(dump_recipe(recipe), encoding="utf-8")
    for path, field in run.assets(task).items():
        path.write_text(field.to_json(), encoding="utf-8")
    save_model(run, task, made.state_dict())
    return folder


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Path]:
    return lambda **model: make_run(tmp_path / "run", **model)


@pytest.fixture(scope="session")
def make_in() -> Callable[..., Path]:
    """make_in(folder, **model), for runs that several tests share."""
    return make_run


@pytest.fixture(scope="session")
def texts() -> list[str]:
    draw = random.Random(0)
    return ["".join(draw.choices(SIGNS, k=n)) for n in (3, 11, 1, 6, 6, 8, 2, 5)] + [" "]


@pytest.fixture(scope="session")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("small") / "run", ends=ENDS)
