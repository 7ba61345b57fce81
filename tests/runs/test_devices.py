"""A device that is not there is told in one line, with those that are."""

from __future__ import annotations

import pytest
import torch

from regard.recipe.mistakes import RecipeError
from regard.runs.devices import check_accelerator, find_device


@pytest.fixture
def gpus(monkeypatch):
    """As if there were so many GPUs."""

    def pretend(cuda: int, mps: bool = False) -> None:
        monkeypatch.setattr(torch.cuda, "device_count", lambda: cuda)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)

    return pretend


def test_the_best_there_is(gpus):
    for name in (None, "auto"):
        gpus(cuda=1, mps=True)
        assert find_device(name) == torch.device("cuda")
        gpus(cuda=0, mps=True)
        assert find_device(name) == torch.device("mps")
        gpus(cuda=0)
        assert find_device(name) == torch.device("cpu")


def test_a_device_is_found_by_its_name(gpus):
    gpus(cuda=2)
    for name in ("cpu", "cuda", "cuda:1"):
        assert find_device(name) == torch.device(name)


@pytest.mark.parametrize("name", ["gpu", "cuda", "cuda:0", "mps", "meta", "tpu", ""])
def test_where_there_is_only_a_cpu_all_else_is_refused(gpus, name):
    gpus(cuda=0)
    with pytest.raises(RecipeError, match=rf"no device '{name}': torch .* sees cpu here") as caught:
        find_device(name)
    assert "--device cpu" in caught.value.hint


def test_the_number_of_a_device_counts(gpus):
    gpus(cuda=2)
    with pytest.raises(RecipeError, match=r"no device 'cuda:2': .* sees cpu, cuda:0, cuda:1 here"):
        find_device("cuda:2")


def test_an_accelerator_of_a_recipe(gpus):
    gpus(cuda=0)
    for kind in ("gpu", "cuda", "mps"):
        with pytest.raises(RecipeError, match=f"no device '{kind}'"):
            check_accelerator(kind)
    gpus(cuda=0, mps=True)
    for kind in ("auto", "cpu", "gpu", "mps"):
        check_accelerator(kind)
