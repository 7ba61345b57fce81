"""What is measured of a finished run that looks at pictures, beside its error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from regard.runs.loaded_run import load

PROBE = "probe.json"  # in the folder of a run, what was measured of it
PICTURES = 200
DRAWS = 100
LOSSES = {  # of `WakeSleepSeer`: bound, inference, control
    "bound": (True, False, False),
    "bound-c": (True, False, True),
    "plain": (False, False, False),
    "c": (False, False, True),
    "q": (False, True, False),
    "c-q": (False, True, True),
}


def measure(run: Path) -> None:
    """Into the folder of the run, so that tables can be made without its weights."""
    if run.name.startswith("ws-"):
        told: dict[str, Any] = {"gradients": policy_gradients(run)}
    else:
        told = {"angles": angle_correlation(run)}
    (run / PROBE).write_text(json.dumps(told) + "\n", encoding="utf-8")


def angle_correlation(run: Path, pictures: int = 2000) -> float:
    """Pearson's r of the angle that a digit was turned by and the turn of the warp, which undoes it."""
    loaded = load(run)
    module: Any = loaded.module
    image, _ = _batch(loaded, pictures)
    with module.inference():
        scene = module.scene(image)
        thetas = module.sight(scene.pictures).thetas[:, 0]
    a, b, _, c, d, _ = thetas.unbind(-1)
    turned = torch.atan2(c - b, a + d)  # of the rotation nearest to [[a, b], [c, d]]
    both = torch.stack((scene.angle.deg2rad(), turned)).double()
    return abs(float(torch.corrcoef(both)[0, 1]))


def policy_gradients(run: Path) -> dict[str, tuple[float, float | None]]:
    """The variance of the gradient of the policy, summed over its weights, and the samples that count.

    Of each loss, over draws for the same pictures, by the weights of one run.
    """
    from regard.models.seeing.ws_ram import wake_sleep_loss

    loaded = load(run)
    module: Any = loaded.module
    seer = module.model
    image, label = _batch(loaded, PICTURES)
    with module.inference():
        scene = module.scene(image).pictures
    weights = list(seer.network.policy.parameters())
    module.train()
    found: dict[str, tuple[float, float | None]] = {}
    for name, (bound, inference, control) in LOSSES.items():
        seer.bound, seer.inference, seer.control = bound, inference, control
        torch.manual_seed(0)
        drawn = [_flat(seer.costs(scene, label).mean(), weights) for _ in range(DRAWS)]
        counting = None
        if not bound:
            paths = seer.network(scene, seer.samples, label if inference else None)
            counting = float(wake_sleep_loss(paths, label).effective.mean())
        found[name] = float(torch.stack(drawn).var(0).sum()), counting
    return found


def _flat(loss: Tensor, weights: list[Tensor]) -> Tensor:
    return torch.cat([each.flatten() for each in torch.autograd.grad(loss, weights)])


def _batch(loaded: Any, count: int) -> tuple[Tensor, Tensor]:
    """The first test pictures of the run."""
    task = loaded.task
    examples = task.examples(task.recipe.data.test)[:count]
    ((_, batch),) = task.batches(examples, loaded.module.device, batch=count)
    return batch["image"], batch["label"]
