"""A folder with a model as `save_pretrained` writes it: read without a network, and nothing in it is run.

Weights are read from safetensors alone: other files of weights are pickles, which can hold any program.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from regard.hf.modules import transformers
from regard.looking.guests.guest_model import GuestModel
from regard.words import t

PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".h5", ".msgpack")
PROCESSORS = ("processor_config.json", "preprocessor_config.json")


class BadModelFolder(ValueError):
    """A folder that is not, or not safely, a model."""

    status = 2
    hint = "model.save_pretrained(FOLDER) and tokenizer.save_pretrained(FOLDER) write one"


def load_guest(folder: str | Path, *, device: str | None = None) -> GuestModel:
    """The model of a folder and what prepares its inputs, named after the folder."""
    place = Path(folder)
    config = check_folder(place)
    hf = transformers()
    with _offline():
        model = _model_class(config).from_pretrained(
            place, local_files_only=True, trust_remote_code=False, use_safetensors=True
        )
        processor = _processor(hf, place)
    if device is not None:
        model = model.to(device)
    name = place.resolve().name
    command = f"regard serve --hf {folder}"
    return GuestModel(model.eval(), processor, name=name, command=command, place=place)


def check_folder(place: Path) -> dict[str, Any]:
    """What config.json says; refused is what would need a pickle, code of the folder, or a network."""
    if not place.is_dir():
        raise BadModelFolder(
            t(
                "{folder} is no folder: nothing is downloaded, give one on this machine",
                folder=place,
            )
        )
    file = place / "config.json"
    if not file.is_file():
        raise BadModelFolder(t("{folder} has no config.json: it is no model", folder=place))
    try:
        config = json.loads(file.read_text("utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise BadModelFolder(t("{file} is no JSON: {error}", file=file, error=error)) from None
    if not isinstance(config, dict):
        raise BadModelFolder(t("{file} is no JSON object", file=file))
    for name in ("config.json", "tokenizer_config.json", *PROCESSORS):
        if (place / name).is_file() and "auto_map" in (place / name).read_text("utf-8"):
            raise BadModelFolder(
                t(
                    "{file} asks for code of its own (auto_map), and none is run from a folder",
                    file=place / name,
                )
            )
    if not any(place.glob("*.safetensors")):
        others = sorted(each.name for each in place.iterdir() if each.suffix in PICKLES)
        seen = t(
            "; {files} may be a pickle, which can run anything", files=", ".join(others)
        ) if others else ""  # fmt: skip
        raise BadModelFolder(
            t("{folder} has no weights in safetensors{seen}", folder=place, seen=seen)
        )
    return config


def _model_class(config: dict[str, Any]) -> Any:
    hf = transformers()
    named = [each for each in config.get("architectures") or [] if isinstance(each, str)]
    for name in named:
        found = getattr(hf, name, None)
        if isinstance(found, type) and issubclass(found, hf.PreTrainedModel):
            return found
    if named:
        raise BadModelFolder(
            t("transformers {version} knows no {name}", version=hf.__version__, name=named[0])
        )
    return hf.AutoModel


def _processor(hf: Any, place: Path) -> Any:
    """A processor where there is one, else a tokenizer, or what reads pictures or sounds."""
    has_tokenizer = (place / "tokenizer_config.json").is_file()
    has_other = any((place / name).is_file() for name in PROCESSORS)
    kinds = ["AutoTokenizer"]
    if has_other:
        kinds = (
            ["AutoProcessor", "AutoTokenizer"]
            if has_tokenizer
            else ["AutoImageProcessor", "AutoFeatureExtractor"]
        )
    errors = []
    for kind in kinds:
        try:
            return getattr(hf, kind).from_pretrained(
                place, local_files_only=True, trust_remote_code=False
            )
        except (OSError, ValueError, KeyError, ImportError) as error:
            errors.append(" ".join(str(error).split())[:200])
    raise BadModelFolder(
        t("{folder} has nothing to prepare inputs with: {why}", folder=place, why=errors[0])
    )


@contextmanager
def _offline() -> Iterator[None]:
    """No request leaves, whatever a file names; nothing is drawn meanwhile."""
    from huggingface_hub import constants

    bars = transformers("utils.logging")
    shown = bars.is_progress_bar_enabled()
    before, named = constants.HF_HUB_OFFLINE, os.environ.get("HF_HUB_OFFLINE")
    constants.HF_HUB_OFFLINE = True
    os.environ["HF_HUB_OFFLINE"] = "1"
    bars.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            bars.enable_progress_bar()
        constants.HF_HUB_OFFLINE = before
        if named is None:
            del os.environ["HF_HUB_OFFLINE"]
        else:
            os.environ["HF_HUB_OFFLINE"] = named
