"""A folder with a model as `save_pretrained` writes it: read without a network, and nothing in it is run.

Weights are read from safetensors alone: other files of weights are pickles, which can hold any program.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any

import torch

from regard.hf.modules import transformers
from regard.looking.guests.folder_checks import (
    PROCESSORS,
    BadModelFolder,
    check_folder,
    weight_files,
)
from regard.looking.guests.guest_model import GuestModel
from regard.words import t

NO_VOCABULARY = {"tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"}
UNREAD = ("masked_spec_embed",)  # weights that only a training reads
NAMED = 3  # weights in an error
LONGEST_ERROR = 240


def load_guest(folder: str | Path, *, device: str | None = None) -> GuestModel:
    """The model of a folder and what prepares its inputs, named after the folder."""
    place = Path(folder)
    config = check_folder(place)
    hf = transformers()
    with _offline():
        model = _model(_model_class(config), place)
        processor = _processor(hf, place)
    _check_tokenizer(processor, place)
    if device is not None:
        model = model.to(device)
    name = place.resolve().name
    command = f"regard serve --hf {shlex.quote(str(folder))}"
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


def _model(kind: Any, place: Path) -> Any:
    """All its weights are those of the folder: what transformers would make up is refused."""
    try:
        model, found = kind.from_pretrained(
            place,
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            output_loading_info=True,
        )
    except Exception as error:  # whatever a config or a weight can bring about
        if sizes := _other_sizes(kind, place):
            raise BadModelFolder(
                t(
                    "config.json and the weights of {folder} are of two models: {sizes}",
                    folder=place,
                    sizes=sizes,
                )
            ) from None
        raise BadModelFolder(
            t(
                "transformers cannot make a model of {folder}: {why}",
                folder=place,
                why=_short(error),
            )
        ) from error
    missing = [each for each in sorted(found["missing_keys"]) if not each.endswith(UNREAD)]
    if missing:
        raise BadModelFolder(
            t.plural(
                len(missing),
                "{n} weight of {kind} is not in {folder} and would be random: {names}",
                "{n} weights of {kind} are not in {folder} and would be random: {names}",
                kind=type(model).__name__,
                folder=place,
                names=_listed(missing),
            )
        )
    return model


def _other_sizes(kind: Any, place: Path) -> str:
    """Where the weights have another size than the config says; "" where that cannot be known."""
    from safetensors import safe_open

    try:
        config = transformers().AutoConfig.from_pretrained(
            place, local_files_only=True, trust_remote_code=False
        )
        made = kind.from_config if hasattr(kind, "from_config") else kind
        with torch.device("meta"):
            wanted = {name: list(x.shape) for name, x in made(config).state_dict().items()}
        sizes: dict[str, list[int]] = {}
        for file in weight_files(place, config.to_dict()):
            with safe_open(file, "pt") as opened:
                names = opened.keys()
                sizes |= {name: opened.get_slice(name).get_shape() for name in names}
    except Exception:  # it is what failed before
        return ""
    return _listed(
        t("{name} is {size}, not {wanted}", name=name, size=size, wanted=wanted[name])
        for name, size in sizes.items()
        if wanted.get(name, size) != size
    )


def _listed(names: Iterable[str]) -> str:
    """The first of them."""
    *shown, last = islice(chain(names, [""]), NAMED + 1)
    return ", ".join(shown) + (" …" if last else "")


def _short(error: BaseException) -> str:
    """An error of a library in one line."""
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {said}"[:LONGEST_ERROR]


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
        except Exception as error:  # whatever a broken file can bring about
            errors.append(_short(error))
    raise BadModelFolder(
        t("{folder} has nothing to prepare inputs with: {why}", folder=place, why=errors[0])
    )


def _check_tokenizer(processor: Any, place: Path) -> None:
    """transformers makes an empty one where no vocabulary is: it would read every word as unknown."""
    own = hasattr(processor, "all_special_ids")
    tokenizer = processor if own else getattr(processor, "tokenizer", None)
    if tokenizer is None:
        return
    names = {*getattr(tokenizer, "vocab_files_names", {}).values()} - NO_VOCABULARY
    has_file = any((place / name).is_file() for name in (*names, "tokenizer.json"))
    words = tokenizer.get_vocab().keys() - {*tokenizer.all_special_tokens}
    if not words or (names and not has_file):
        listed = ", ".join(sorted({*names, "tokenizer.json"}))
        raise BadModelFolder(
            t(
                "{folder} has no vocabulary, so that every word would be unknown: "
                "put the files of its tokenizer there ({files})",
                folder=place,
                files=listed,
            )
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
    loudness = bars.get_verbosity()
    bars.set_verbosity_error()  # what is wrong is said by errors
    try:
        yield
    finally:
        bars.set_verbosity(loudness)
        if shown:
            bars.enable_progress_bar()
        constants.HF_HUB_OFFLINE = before
        if named is None:
            del os.environ["HF_HUB_OFFLINE"]
        else:
            os.environ["HF_HUB_OFFLINE"] = named
