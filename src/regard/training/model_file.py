"""A trained model in its folder: weights in model.safetensors, all else about it in config.json."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Literal

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor, nn

from regard import __version__
from regard.data.tokenizer import Tokenizer
from regard.training.building import build
from regard.training.folder import RunFolder
from regard.training.recipe import Recipe
from regard.training.writing import write_whole

FORMAT = 1


def save_model(
    folder: RunFolder,
    recipe: Recipe,
    weights: Mapping[str, Tensor],
    sizes: tuple[int, int],
    *,
    dtype: Literal["float32", "float16"] = "float32",
) -> None:
    """Write the weights, and what is needed to build the model again; sizes of the two vocabularies."""
    kind = getattr(torch, dtype)
    with torch.device("meta"):
        names = _once(build(recipe.model, *sizes))
    kept = {
        name: (value.to(kind) if value.is_floating_point() else value).cpu().contiguous()
        for name, value in weights.items()
        if name in names
    }
    config = {
        "format": FORMAT,
        "regard": __version__,
        "vocabularies": list(sizes),
        "parameters": sum(value.numel() for value in kept.values()),
        "dtype": dtype,
        "recipe": recipe.model_dump(mode="json"),
    }
    write_whole(folder.config, json.dumps(config, ensure_ascii=False, indent=1) + "\n")
    write_whole(folder.model, save(kept, metadata={"format": "pt"}))


def load_model(folder: RunFolder) -> tuple[nn.Module, Recipe]:
    """The model in float32 on the CPU, whatever it was written in, and the recipe it was made by."""
    config = _read_config(folder)
    recipe = Recipe.model_validate(config["recipe"])
    model = build(recipe.model, *config["vocabularies"])
    try:
        weights = load_file(folder.model)
    except SafetensorError as error:
        raise ValueError(f"{folder.model} is damaged: {error}") from error
    wanted, found = _shapes(_once(model)), _shapes(weights)
    wrong = sorted(name for name, _ in wanted.items() ^ found.items())
    if wrong:
        name = wrong[0]
        raise ValueError(
            f"{folder.model} does not fit {folder.config}: {name} is "
            f"{found.get(name, 'missing')}, wanted is {wanted.get(name, 'no such weight')}"
        )
    model.load_state_dict(weights, strict=False)  # a tied weight is there under one name only
    return model.eval(), recipe


def check_vocabularies(folder: RunFolder, tokenizers: tuple[Tokenizer, Tokenizer]) -> None:
    expected, seen = _read_config(folder)["vocabularies"], [len(t) for t in tokenizers]
    if expected != seen:
        raise ValueError(
            f"the tokenizers in {folder.path} have {seen} tokens, the model was trained with {expected}"
        )


def fingerprint(folder: RunFolder) -> str:
    """The same if and only if the model file is the same."""
    return hashlib.sha256(folder.model.read_bytes()).hexdigest()


def _read_config(folder: RunFolder) -> dict[str, Any]:
    config: dict[str, Any] = json.loads(folder.config.read_text(encoding="utf-8"))
    if "format" not in config and (kind := config.get("model_type")):
        advice = (
            f"regard.hf.load_marian({str(folder.path)!r}, save='runs/…') makes one of it"
            if kind == "marian"
            else "regard.hf.capture shows the attention of such a model"
        )
        raise ValueError(f"{folder.path} is a Hugging Face {kind} model, not a run: {advice}")
    if config.get("format") != FORMAT:
        raise ValueError(
            f"{folder.config} is of format {config.get('format')}, this regard reads {FORMAT}: "
            f"it was written by regard {config.get('regard')}"
        )
    return config


def _shapes(weights: Mapping[str, Tensor]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(value.shape) for name, value in weights.items()}


def _once(model: nn.Module) -> dict[str, Tensor]:
    """Its weights, those that it has under several names under the first of them only."""
    first = {name for name, _ in model.named_parameters()}
    every = {name for name, _ in model.named_parameters(remove_duplicate=False)}
    state = model.state_dict()
    return {name: value for name, value in state.items() if name in first or name not in every}
