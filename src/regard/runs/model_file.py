"""A trained model in its folder: weights in model.safetensors, all else about it in config.json.

config.json holds the SHA-256 of itself, the weights and the tokenizers, looked at whenever they are loaded.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

import torch
from pydantic import ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor, nn

from regard import __version__
from regard.data.atomic_files import write_whole
from regard.data.checksums import SEAL, Damaged, check_seal, sealed, sha256_of
from regard.plugins import UnusableName
from regard.recipe.mistakes import MissingKind, RecipeError
from regard.recipe.recipe import Recipe
from regard.runs import needed_packages, older_runs
from regard.runs.needed_packages import missing, named_packages
from regard.runs.run_folder import RunFolder
from regard.tasks.recipe_task import task_of
from regard.tasks.task import Task
from regard.words import t

FORMAT = 2
ANEW = (
    "copy the run again from where it came, or run the training command again: it writes the model "
    "anew from its checkpoints; if it was changed on purpose, take sha256 out of config.json"
)


def save_model(
    folder: RunFolder,
    task: Task,
    weights: Mapping[str, Tensor],
    *,
    dtype: Literal["float32", "float16"] = "float32",
    stopped: bool = False,
    spent: Mapping[str, Any] | None = None,
    kept: Mapping[str, Any] | None = None,
) -> None:
    """Write the weights, and what is needed to build the model again.

    stopped: on the way, before the end that the recipe sets. spent: steps, seconds and memory of training.
    kept: which steps the weights are of, out of how many validations, and what ended the training.
    """
    kind = getattr(torch, dtype)
    with torch.device("meta"):
        names = weights_once(task.recipe.model.build(task.sizes))
    stored = {
        name: (value.to(kind) if value.is_floating_point() else value).cpu().contiguous()
        for name, value in weights.items()
        if name in names
    }
    config = {
        "format": FORMAT,
        "regard": __version__,
        "sizes": task.sizes,
        "parameters": sum(value.numel() for value in stored.values()),
        "dtype": dtype,
        "stopped": stopped,
        "written": f"{datetime.now().astimezone():%Y-%m-%d %H:%M %z}",
        **({"spent": dict(spent)} if spent else {}),
        **({"kept": dict(kept)} if kept else {}),
        "recipe": task.recipe.model_dump(mode="json"),
        needed_packages.KEY: needed_packages.packages_of(task.recipe),
    }
    data = save(stored, metadata={"format": "pt"})
    files = {folder.model.name: hashlib.sha256(data).hexdigest()}
    files |= {p.name: sha256_of(p) for p in folder.assets(task) if p.is_file()}
    whole = sealed(folder.config, config, files)
    write_whole(folder.config, json.dumps(whole, ensure_ascii=False, indent=1) + "\n")
    write_whole(folder.model, data)


def is_whole(folder: RunFolder) -> bool:
    """Whether there is a model, as it was written at the end of a run, by its checksums."""
    try:
        config = read_config(folder)
        check_seal(folder.config, config)
    except (Damaged, OSError, RecipeError):
        return False
    return "sha256" in config and folder.model.is_file() and not config.get("stopped")


def load_model(folder: RunFolder) -> tuple[nn.Module, Task]:
    """The model in float32 on the CPU, whatever it was written in, and its task, which knows its fields.

    Damaged, if a file is not as it was written; MissingKind, if a package that it needs is not here.
    """
    config = read_config(folder)
    check_seal(folder.config, config, ANEW)
    with named_packages(folder.config, config):
        model, task, older = _built(folder, config)
    try:
        weights = load_file(folder.model)
    except (SafetensorError, UnicodeDecodeError) as error:
        raise Damaged(
            t("{model} is damaged: {error}", model=folder.model, error=error), ANEW
        ) from error
    weights = older_runs.weights_in(weights, task) if older else weights
    put_in(model, weights, str(folder.model), str(folder.config))
    return model, task


def load_empty(folder: RunFolder) -> tuple[nn.Module, Task]:
    """The same without its weights, which are those of the first moment."""
    config = read_config(folder)
    with named_packages(folder.config, config):
        model, task, _ = _built(folder, config)
    return model.eval(), task


def put_in(model: nn.Module, weights: Mapping[str, Tensor], where: str, of: str) -> None:
    """The weights of a file into the model; Damaged, if they are not those that it has."""
    wanted, found = _shapes(weights_once(model)), _shapes(weights)
    wrong = sorted(name for name, _ in wanted.items() ^ found.items())
    if wrong:
        name = wrong[0]
        raise Damaged(
            t(
                "{where} does not fit {of}: {name} is {get}, wanted is {value}",
                where=where,
                of=of,
                name=name,
                get=found.get(name, "missing"),
                value=wanted.get(name, "no such weight"),
            ),
            ANEW,
        )
    model.load_state_dict(weights, strict=False)  # a tied weight is there under one name only
    model.eval()


def _built(folder: RunFolder, config: Mapping[str, Any]) -> tuple[nn.Module, Task, bool]:
    """The model, its task, and whether it was written by an older version."""
    task = task_of(recipe_of(folder, config))
    older = config["format"] == older_runs.FORMAT
    sizes = older_runs.sizes_in(config, task) if older else config["sizes"]
    folder.load_assets(task, older=older)
    if plain(task.sizes) != plain(sizes):  # a model of sizes that are not so is never built
        raise Damaged(
            t(
                "{config} is damaged, or of another run: its sizes are {plain}, what the "
                "fields beside it know has {value}",
                config=folder.config,
                plain=f"{plain(sizes)!r:.200}",
                value=plain(task.sizes),
            ),
            ANEW,
        )
    try:
        model = task.recipe.model.build(sizes)
    except UnusableName:
        raise
    except ValueError as error:
        said = " ".join(str(error).split())
        raise MissingKind(t("{config}: model: {said}", config=folder.config, said=said)) from error
    except Exception as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())
        if SEAL in config:  # which is as it was written: what has changed is the code
            raise MissingKind(
                t("{config}: model: {said}", config=folder.config, said=said)
            ) from error
        raise Damaged(
            t(
                "{config} is damaged: no model can be built of it: {said}",
                config=folder.config,
                said=said,
            ),
            ANEW,
        ) from error
    return model, task, older


def plain(sizes: Mapping[str, Any]) -> dict[str, Any]:
    """As JSON gives them back: a tuple is a list."""
    return json.loads(json.dumps(sizes))


def fingerprint(folder: RunFolder) -> str:
    """The same if and only if the model file is the same."""
    return sha256_of(folder.model)


def recipe_of(folder: RunFolder, config: Mapping[str, Any]) -> Recipe:
    """The recipe in what `read_config` read."""
    try:
        return Recipe.model_validate(config["recipe"])
    except ValidationError as error:
        wrong = error.errors()[0]
        key = ".".join(map(str, wrong["loc"])) or "recipe"
        about = wrong.get("ctx", {})
        if needs := about.get("needs"):
            raise missing(folder.config, config, needs) from None
        if wrong["type"] == "broken_kind":
            raise MissingKind(
                t("{config}: {key}.kind: {msg}", config=folder.config, key=key, msg=wrong["msg"]),
                about["hint"],
            ) from None
        raise Damaged(
            t(
                "{config} is damaged, or of another regard: {key}: {msg}",
                config=folder.config,
                key=key,
                msg=wrong["msg"],
            ),
            ANEW,
        ) from None


def read_config(folder: RunFolder) -> dict[str, Any]:
    """What config.json holds, of this format and with all that a model is built of."""
    try:
        config: Any = json.loads(folder.config.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise Damaged(
            t("{config} is damaged: {error}", config=folder.config, error=error), ANEW
        ) from None
    if not isinstance(config, dict):
        raise Damaged(t("{config} is damaged: it holds no object", config=folder.config), ANEW)
    if "format" not in config and (kind := config.get("model_type")):
        advice = (
            t(
                "regard.hf.load_marian({path}, save='runs/…') makes one of it",
                path=repr(str(folder.path)),
            )
            if kind == "marian"
            else t("regard.hf.capture shows the attention of such a model")
        )
        raise RecipeError(
            t(
                "{path} is a Hugging Face {kind} model, not a run: {advice}",
                path=folder.path,
                kind=kind,
                advice=advice,
            ),
            t("regard look --hf {path} TEXT shows what it attends to", path=folder.path),
        )
    if config.get("format") not in (older_runs.FORMAT, FORMAT):
        raise Damaged(
            t(
                "{config} is of format {get}, this regard reads {format}: it was written by "
                "regard {value}",
                config=folder.config,
                get=config.get("format"),
                format=FORMAT,
                value=config.get("regard"),
            ),
            t("pip install -U regard, if that is a newer one; else copy the run again"),
        )
    match config:
        case {"sizes": dict(), "recipe": dict()} if config["format"] == FORMAT:
            return config
        case {"vocabularies": [int(), int()], "recipe": dict()}:
            return config
    raise Damaged(
        t("{config} is damaged: it lacks the sizes or the recipe", config=folder.config), ANEW
    )


def _shapes(weights: Mapping[str, Tensor]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(value.shape) for name, value in weights.items()}


def weights_once(model: nn.Module) -> dict[str, Tensor]:
    """Its weights, those that it has under several names under the first of them only."""
    first = {name for name, _ in model.named_parameters()}
    every = {name for name, _ in model.named_parameters(remove_duplicate=False)}
    state = model.state_dict()
    return {name: value for name, value in state.items() if name in first or name not in every}
