"""Training on pictures never waits for the device, and copies nothing to it: it can be replayed."""

from __future__ import annotations

import pytest
import torch
from scribbles import MODELS, see_recipe, write_scribbles
from torch.utils._python_dispatch import TorchDispatchMode

from regard.tasks.recipe_task import task_of
from regard.training.run_preparation import make_module

VIEWS = [
    "plain",
    "translated",
    "cluttered",
    "rotated",
    "rotated-scaled",
    "projected",
    "bent",
    "sum",
]


class NothingIsAwaited(TorchDispatchMode):
    """Refuses what Python waits for, and tensors made of Python's numbers, which lie in the host's memory."""

    REFUSED = ("_local_scalar_dense", "nonzero", "masked_select", "is_nonzero", "equal", "unique")

    def __torch_dispatch__(self, function, types, given=(), named=None):
        name = function.overloadpacket.__name__
        assert not name.startswith((*self.REFUSED, "lift_fresh", "multinomial")), name
        return function(*given, **(named or {}))


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scribbles")
    write_scribbles(folder)
    return folder


@pytest.mark.parametrize(
    ("model", "view"),
    [*((model, "cluttered") for model in MODELS), *(("stn-none", view) for view in VIEWS)],
)
def test_nothing_is_awaited_on_the_way(corpora, model, view):
    shown = {"view": view, "ground": 20, "piece": 4, "grows": 0 if view == "plain" else 3}
    recipe = see_recipe(corpora, model, task=shown)
    task = task_of(recipe)
    task.learn(recipe.data.train)
    module = make_module(task).train()
    assert module.why_not_static is None
    module.static = True
    (_, batch), *_ = task.batches(list(task.read(recipe.data.train)), module.device)
    shapes = module.in_few_shapes(batch)
    weights = list(module.parameters())
    module(**shapes)  # what is kept from the first batch on is made
    with NothingIsAwaited():
        loss = module(**shapes)
        torch.autograd.grad(loss.total, weights, allow_unused=True)
    with NothingIsAwaited(), pytest.raises(AssertionError, match="lift_fresh"):
        torch.tensor(1.0)
