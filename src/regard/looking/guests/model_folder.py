"""A folder with a model as `save_pretrained` writes it: read without a network, and nothing in it is run.

Weights are read from safetensors alone: other files of weights are pickles, which can hold any program.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from regard.hf.modules import transformers
from regard.looking.guests.folder_checks import PROCESSORS, BadModelFolder, check_folder
from regard.looking.guests.guest_model import GuestModel
from regard.words import t


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
