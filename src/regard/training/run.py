"""`train`: a recipe in, a run folder out. Running it again goes on where it stopped."""

from __future__ import annotations

import logging
import os
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from lightning.fabric import Fabric
from lightning.fabric.utilities import rank_zero
from lightning.fabric.utilities.exceptions import MisconfigurationException

from regard.attention.kernels.kernel_modules import wait_always
from regard.clock import clock
from regard.data.batch import Loader
from regard.data.checksums import Damaged
from regard.data.length_batches import LengthBatches
from regard.data.store import Store
from regard.recipe.mistakes import RecipeError
from regard.recipe.recipe import Recipe, Training
from regard.report.run_evaluation import write_report
from regard.runs.devices import check_accelerator
from regard.runs.failures import Interrupted, NoCheckpoints, OtherRecipe, RunEnded
from regard.runs.metrics_file import MetricsFile
from regard.runs.model_file import is_whole, read_config, recipe_of, save_model
from regard.runs.run_folder import RunFolder, check_recipe
from regard.runs.training_machine import this_machine
from regard.tasks.recipe_task import task_of
from regard.tasks.task import Task
from regard.training.allocator import keep_memory
from regard.training.checkpoints import Checkpoints
from regard.training.first_vectors import check_vectors, freeze_vectors, take_vectors
from regard.training.first_weights import drawn_by_name
from regard.training.launcher import places
from regard.training.preflight import check
from regard.training.progress_display import ProgressLines, Reporter, make_reporter
from regard.training.run_doubts import ended_in_warmup, short_for_warmup
from regard.training.run_preparation import load_task, make_module, prepare_data, read_dev
from regard.training.training_loop import Fit
from regard.training.weight_averages import Weights, average
from regard.training.weight_update import seed_by
from regard.words import t

SENTENCES = 64  # in a batch, where the recipe does not say


def train(recipe: Recipe, folder: Path | str, *, quiet: bool = False) -> Path:
    """Train, evaluate and report; the folder. What is done already is not done again.

    With several devices the command is started again for each further process, as Lightning does.
    """
    began = time.monotonic()
    check(recipe)
    _set_torch(recipe)
    fabric, run = _fabric(recipe), RunFolder(Path(folder))
    check_recipe(run, recipe)
    evaluate_only = _only_model(run, recipe)
    if not run.model.is_file() and Checkpoints(run.checkpoints).last() is None:
        check_vectors(recipe)
    with run.held() if _is_first() else nullcontext():
        if _is_first():  # before there are other processes: a mistake is told once
            run.claim(recipe)
            prepare_data(recipe, run, make_reporter(run.log, quiet=quiet))
        if not evaluate_only:
            with _kernels(recipe):
                fabric.launch(partial(_work, recipe=recipe, run=run, quiet=quiet, began=began))
        if _is_first():
            write_report(run, make_reporter(run.log, quiet=quiet).say)
    return run.path


def _work(fabric: Fabric, recipe: Recipe, run: RunFolder, quiet: bool, began: float) -> None:
    """What each process does, from the first update to the last."""
    first = fabric.is_global_zero
    task = task_of(recipe)
    reporter: Reporter = ProgressLines(quiet=True)
    if first:
        reporter = make_reporter(run.log, quiet=quiet, unit=task.scored)
    record = None
    try:
        fit = _fit(fabric, recipe, run, reporter, began)
        told = (*task.columns, *task.diagnostics)
        record = MetricsFile(run.metrics, fit.state.update, told) if first else None
        already = fit.over
        if not already:
            _say_where(fit, reporter)
            if first and (doubt := short_for_warmup(recipe.training, len(fit.loader))):
                reporter.warn(doubt)
        fit.run(record)
        reporter.say(_trained(fit, already=already))
        if first:
            if (end := fit.end) and (
                doubt := ended_in_warmup(recipe.training, fit.state.update, end)
            ):
                reporter.warn(doubt)
            _publish(fit, run, reporter, already=already)
    except (RunEnded, OtherRecipe, Damaged) as ended:
        if not first:
            return  # the first process tells, for all
        if isinstance(ended, Interrupted):
            _publish(fit, run, reporter)  # what was learnt so far can be used
        raise
    finally:
        reporter.close()
        if record is not None:
            record.close()


def _fit(fabric: Fabric, recipe: Recipe, run: RunFolder, reporter: Reporter, began: float) -> Fit:
    """Everything set up, and at the last checkpoint if there is one."""
    seed_by(recipe.seed, -1, 0, fabric.device)  # the same first weights in every process
    task = load_task(recipe, run)
    make = partial(make_module, task)
    module = drawn_by_name(make, recipe.seed) if recipe.training.paired else make()
    checkpoints = Checkpoints(run.checkpoints)
    tree, complaints = checkpoints.latest()
    for complaint in complaints:
        reporter.warn(complaint)
    if tree is None:  # afterwards the weights of the run have them
        for line in take_vectors(task, module.model):
            reporter.say(line)
    freeze_vectors(task, module.model)
    store, training, fields = Store.open(run.store), recipe.training, list(task.fields.values())
    sentences = training.batch_sentences or (None if training.batch_tokens else SENTENCES)
    lengths = [length for field in fields if (length := store.lengths(field)) is not None]
    batches = LengthBatches(
        lengths or [np.ones(len(store), np.int64)],
        tokens=training.batch_tokens,
        sentences=sentences,
        seed=recipe.seed,
        rank=fabric.global_rank,
        world=fabric.world_size,
    )
    loader = Loader(store, fields, batches)
    fit = Fit(recipe, fabric, task, module, loader, read_dev(task), checkpoints, reporter, began)
    if tree is not None:
        fit.resume(tree)
    fabric.barrier()  # nobody writes a checkpoint before all have read theirs
    return fit


def _trained(fit: Fit, *, already: bool) -> str:
    known = {
        "steps": f"{fit.state.update:,}",
        "time": clock(fit.state.seconds),
        "end": fit.end,
    }
    if already:
        return t("trained already: {steps} steps in {time}, up to {end}", **known)
    return t("trained: {steps} steps in {time}, up to {end}", **known)


def _say_where(fit: Fit, reporter: Reporter) -> None:
    parameters = sum(p.numel() for p in fit.module.parameters())
    state, fabric = fit.state, fit.fabric
    where = (
        f"{fabric.world_size} × {fabric.device.type}" if fabric.world_size > 1 else fabric.device
    )
    known = {"parameters": f"{parameters:,}", "batches": f"{len(fit.loader):,}", "where": where}
    if state.update:
        said = t(
            "going on after step {step}: {parameters} parameters, {batches} batches an epoch, "
            "on {where}",
            step=f"{state.update:,}",
            **known,
        )
    else:
        said = t(
            "training: {parameters} parameters, {batches} batches an epoch, on {where}", **known
        )
    reporter.say(said)


def _only_model(run: RunFolder, recipe: Recipe) -> bool:
    """Whether there is nothing to go on from but a model that is trained as far as the recipe wants."""
    if not run.model.is_file() or Checkpoints(run.checkpoints).last() is not None:
        return False
    config = read_config(run)
    before, now = (_ends(each.training) for each in (recipe_of(run, config), recipe))
    further = [f"training.{name}={end}" for name, end in now.items() if end > before.get(name, 0)]
    if further or config.get("stopped"):
        wish = " ".join(further) or t("its end")
        raise NoCheckpoints(
            t(
                "there are no checkpoints in {checkpoints}: the run cannot go on to {wish}",
                checkpoints=run.checkpoints,
                wish=wish,
            )
        )
    return True


def _ends(training: Training) -> dict[str, float]:
    """All that can end a run."""
    return training.limits | ({"patience": training.patience} if training.patience else {})


def _publish(fit: Fit, run: RunFolder, reporter: Reporter, *, already: bool = False) -> None:
    """Write the model of the run: the best by the metric, or the average of the best, or the last.

    already: nothing was learnt since, so that a whole model stays where a checkpoint is lost.
    """
    training, state = fit.training, fit.state
    most = training.keep if training.average else 1
    best, complaints = fit.checkpoints.load_best(state.best_updates, most, state.best_sha256)
    if complaints and already and is_whole(run):
        for complaint in complaints:
            reporter.warn(
                t(
                    "{complaint}; the model was made of it before, and stays as it is",
                    complaint=complaint,
                )
            )
        return
    if not best:
        instead = t("the last weights are the model instead")
    elif training.average:
        instead = t("the model is the average of the {count} left", count=len(best))
    else:
        instead = t("the next best is the model instead")
    for complaint in complaints:
        reporter.warn(f"{complaint}; {instead}")
    weights = average(list(best.values())) if best else _last_weights(fit)
    if fit.over and type(fit.task).tune is not Task.tune:
        weights = _tuned(fit, weights)
    spent = {
        "steps": state.update,
        "seconds": round(state.seconds, 3),
        "memory": state.memory,
        "device": fit.fabric.device.type,
        "machine": _machine_before(run) if already else this_machine(),
    }
    kept = {
        "steps": list(best) or [state.update],
        "best": bool(best),
        "validations": state.validations,
        "end": fit.end,
    }
    save_model(run, fit.task, weights, stopped=not fit.over, spent=spent, kept=kept)


def _machine_before(run: RunFolder) -> dict[str, Any]:
    """What it was trained on, as its model says; nothing where that is lost."""
    try:
        return dict(read_config(run)["spent"]["machine"])
    except (Damaged, OSError, RecipeError, KeyError, TypeError, ValueError):
        return {}


def _tuned(fit: Fit, weights: Weights) -> Weights:
    """With what the task chooses by the dev set, if there is anything to choose."""
    module = fit.module
    module.model.load_state_dict(weights, strict=False)
    return module.model_state() if fit.task.tune(module, fit.dev) else weights


def _last_weights(fit: Fit) -> Weights:
    if fit.mean is None:
        return fit.module.model_state()
    with fit.mean.in_place():
        return {name: value.clone() for name, value in fit.module.model_state().items()}


def _is_first() -> bool:
    """Whether this is the process that speaks and writes: before the launch too."""
    rank: int = rank_zero.rank_zero_only.rank  # type: ignore[attr-defined]
    node = os.environ.get("NODE_RANK") or os.environ.get("GROUP_RANK") or "0"
    return rank == 0 and node == "0"


def _fabric(recipe: Recipe) -> Fabric:
    given = recipe.trainer
    check_accelerator(given.accelerator)
    devices, nodes = places(given)
    try:
        return Fabric(
            accelerator=given.accelerator,
            devices=devices,
            num_nodes=nodes,
            strategy=given.strategy,
            precision="32" if given.precision == "tf32" else given.precision,
        )
    except (RuntimeError, TypeError, ValueError, MisconfigurationException) as error:
        raise RecipeError(
            t(
                "no {accelerator} device for trainer.devices={devices} and "
                "trainer.strategy={strategy}: {error}",
                accelerator=given.accelerator,
                devices=devices,
                strategy=given.strategy,
                error=error,
            )
        ) from error


@contextmanager
def _kernels(recipe: Recipe) -> Iterator[None]:
    """torch's kernels as training wants them; what is reported is exact again.

    float32 products as the recipe says. Not cuDNN's attention, which plans every new shape anew: batches of
    like lengths have new ones all the time, and 2 ms a call make a step many times as long.
    """
    products, cudnn = (
        torch.get_float32_matmul_precision(),
        torch.backends.cuda.cudnn_sdp_enabled(),
    )
    if recipe.trainer.precision == "tf32" and torch.cuda.is_available():
        torch.set_float32_matmul_precision("high")
    torch.backends.cuda.enable_cudnn_sdp(False)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(products)
        torch.backends.cuda.enable_cudnn_sdp(cudnn)


def _set_torch(recipe: Recipe) -> None:
    keep_memory()
    wait_always()
    if recipe.trainer.threads is not None:
        torch.set_num_threads(recipe.trainer.threads)
    if recipe.trainer.deterministic:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # or cuBLAS refuses
        torch.use_deterministic_algorithms(True)
    for name in ("lightning.fabric", "lightning.pytorch", "lightning"):
        logging.getLogger(name).setLevel(logging.ERROR)  # tips and greetings
    warnings.filterwarnings("ignore", module="lightning")
