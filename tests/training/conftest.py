"""A toy run, trained once for all tests that only look at it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "system"))


@pytest.fixture(scope="session")
def trained(tmp_path_factory) -> Path:
    from toy import toy_recipe, write_corpus

    from regard.training.run import train

    folder = tmp_path_factory.mktemp("toy")
    write_corpus(folder)
    recipe = toy_recipe(folder, training={"epochs": 4})
    return train(recipe, folder / "run", quiet=True)
