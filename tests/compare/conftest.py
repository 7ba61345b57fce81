"""Small runs to compare, trained once for all tests that only look at them."""

from __future__ import annotations

from pathlib import Path

import pytest
from toy_tasks import task_recipe, write_labelled

from regard.compare.variants import replaced
from regard.models.attention_options import HeadOptions
from regard.models.transformer_options import TransformerClassifier
from regard.training.run import train

SMALL = {"size": 8, "heads": 2, "inner": 8, "layers": 1}


@pytest.fixture(scope="session")
def attending(tmp_path_factory) -> Path:
    """A folder with labelled texts and runs dot-1, dot-2, uniform-1 and uniform-2."""
    folder = tmp_path_factory.mktemp("attending")
    write_labelled(folder, (200, 20, 60))
    for normalize, name in (("softmax", "dot"), ("uniform", "uniform")):
        attention = HeadOptions(normalize=normalize)
        model = TransformerClassifier(**SMALL, pool="attention", attention=attention)
        for seed in (1, 2):
            training = {"epochs": 6, "paired": True, "optimizer": {"lr": 0.02}}
            recipe = task_recipe(folder, "classify", training=training)
            train(replaced(recipe, model=model, seed=seed), folder / f"{name}-{seed}", quiet=True)
    return folder


@pytest.fixture(scope="session")
def runs(attending) -> list[Path]:
    return [attending / f"{name}-{seed}" for name in ("dot", "uniform") for seed in (1, 2)]
