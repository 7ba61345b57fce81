"""Scores and regions with parameters for the layers of a Hugging Face model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import Tensor, nn

from regard.attention.normalizers import Normalizer
from regard.attention.region import Region
from regard.attention.regions import as_region
from regard.attention.scores import Score, as_score
from regard.hf.hf_mechanisms import Equipment, register
from regard.hf.modules import attending, head_sizes
from regard.words import t


def equip(
    model: Any,
    *,
    score: Score | str | None = None,
    region: Region | str | None = None,
    normalize: Normalizer | str | None = None,
    folder: str | Path | None = None,
) -> str:
    """Give every attention of the model this score and region, with parameters of its own.

    They are the model's: in `parameters()`, trained and saved with it. Call it before an optimiser
    is made. `folder`: where `save_pretrained` put a model equipped like this one; its parameters
    are read. Returns the name of the attention, which the model now uses.
    """
    found = attending(model)
    if not found:
        raise ValueError(
            t(
                "{kind} does not use the attention interface of transformers, so its attention "
                "cannot be replaced",
                kind=type(model).__name__,
            )
        )
    (name,) = register(score=score or "scaled-dot", region=region, normalize=normalize)
    for each in found:
        heads, size = head_sizes(each.module)
        made = Equipment(
            name,
            as_score(score, query_size=size, key_size=size, heads=heads),
            as_region(region, query_size=size),
        )
        like = next(p for p in each.module.parameters() if p.is_floating_point())
        each.module.regard = made.to(device=like.device, dtype=like.dtype)
    if folder is not None:
        _load(model, Path(folder))
    model.set_attn_implementation(name)
    return name


def _load(model: nn.Module, folder: Path) -> None:
    from safetensors.torch import load_file

    wanted = {name for name in model.state_dict() if ".regard." in name}
    saved: dict[str, Tensor] = {}
    for file in sorted(folder.glob("*.safetensors")):
        saved |= {name: x for name, x in load_file(file).items() if name in wanted}
    if missing := sorted(wanted - saved.keys()):
        raise ValueError(
            t(
                "{folder} has no {missing} ({count} of {wanted} missing): was the model saved "
                "there equipped with the same score and region?",
                folder=folder,
                missing=repr(missing[0]),
                count=len(missing),
                wanted=len(wanted),
            )
        )
    model.load_state_dict(saved, strict=False)
