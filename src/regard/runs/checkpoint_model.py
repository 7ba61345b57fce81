"""A checkpoint of a run as a model: what it had learnt at that step, to be used and compared like any run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import Tensor, nn

from regard.runs.failures import NotARun
from regard.runs.model_file import load_empty, put_in, weights_once
from regard.runs.run_folder import RunFolder
from regard.runs.run_names import FILE
from regard.runs.tensor_tree import read_tree
from regard.tasks.recipe_task import task_of
from regard.tasks.task import Task
from regard.words import t

INSIDE = "model."  # what the names of its weights begin with in a module that is trained


def load_checkpoint(folder: RunFolder, step: int, named: Path) -> tuple[nn.Module, Task]:
    """The model as it was after this step, and its task. named: as it was asked for."""
    file = _file(folder, step, named)
    model, task = load_empty(folder) if folder.config.is_file() else _of_recipe(folder)
    names = weights_once(model)
    weights = {name: value for name, value in _weights(file, model).items() if name in names}
    put_in(model, weights, str(file), str(folder.path))
    return model, task


def steps_kept(folder: RunFolder) -> list[int]:
    """The steps that there are checkpoints of."""
    found = (FILE.fullmatch(path.name) for path in folder.checkpoints.glob("*.safetensors"))
    return sorted({int(match[1]) for match in found if match})


def _file(folder: RunFolder, step: int, named: Path) -> Path:
    """The file that is named, else the weights as they were validated, else those to go on from."""
    kept = [folder.checkpoints / f"{kind}-{step:08d}.safetensors" for kind in ("best", "step")]
    there = [path for path in (named, *kept) if FILE.fullmatch(path.name) and path.is_file()]
    if there:
        return there[0]
    if not folder.path.is_dir():
        raise NotARun(t("no folder {path}, so it is no run", path=folder.path))
    steps = ", ".join(map(str, steps_kept(folder)))
    raise NotARun(
        t("no checkpoint of step {step} in {path}", step=step, path=folder.path)
        + (t(": there are those of {steps}", steps=steps) if steps else t(", nor of any other"))
    )


def _of_recipe(folder: RunFolder) -> tuple[nn.Module, Task]:
    """Of a run that has no model yet: its training goes on."""
    if not folder.recipe.is_file():
        raise NotARun(t("no recipe.yaml in {path}, so it is no run", path=folder.path))
    task = task_of(folder.read_recipe())
    folder.load_assets(task)
    return task.recipe.model.build(task.sizes).eval(), task


def _weights(file: Path, model: nn.Module) -> dict[str, Tensor]:
    """best-… holds weights alone; step-… all of the training, of which moving means come before the last."""
    tree: dict[str, Any] = read_tree(file)
    if "state" not in tree:
        return tree
    inside = tree["module"].items()
    weights = {name.removeprefix(INSIDE): v for name, v in inside if name.startswith(INSIDE)}
    names = [name for name, _ in model.named_parameters()]
    means = tree.get("mean") or ()
    return weights | (dict(zip(names, means, strict=True)) if len(means) == len(names) else {})
