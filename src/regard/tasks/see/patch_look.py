"""What a model that pools patches attends to: what each patch weighs, and which patches see which."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import nullcontext
from typing import NamedTuple

from torch import Tensor

from regard.attention.recording import recording
from regard.chances import with_chance
from regard.models.seeing.patches import AttendingPatches, PatchSeer
from regard.models.seeing.seer import SeenPictures
from regard.records.maps import attention_map, attentions_in, check_size, record_of
from regard.records.png_image import PngImage
from regard.records.pooled_maps import pooling_map, recording_poolings
from regard.records.question import Question
from regard.records.record import AttentionRecord
from regard.records.side import Side, cell_names
from regard.tasks.see.see_module import See
from regard.words import t

IMAGE, LABEL = "image", "label"


def attends(model: object) -> bool:
    """Whether it pools patches, and there is an attention in it."""
    if not isinstance(model, PatchSeer):
        return False
    return isinstance(model.encoder, AttendingPatches) or model.pools_by_attention


class PatchWeights(NamedTuple):
    """What the answer to one picture came from: a pooling, or else the last attention, a mean over heads."""

    weights: Tensor  # (1, P) from the label; (P, P) from patch to patch
    cells: list[str]
    pooled: bool


def sight_of_patches(
    module: See, pictures: Tensor
) -> tuple[SeenPictures, list[PatchWeights] | None]:
    """What a model sees of pictures (B, C, H, W), and what it attended to; None: not to patches."""
    network = module.model
    if not isinstance(network, PatchSeer) or not attends(network):
        return module.sight(pictures), None
    with nullcontext([]) if network.pools_by_attention else recording(network) as kept:
        seen = module.sight(pictures)
    assert seen.patches is not None
    last = kept[-1].weights.mean(1) if kept else seen.patches.flatten(1)[:, None]
    cells = cell_names(*_grid(seen))
    return seen, [PatchWeights(each, cells, not kept) for each in last.float().cpu()]


def look_at_patches(
    module: See, pictures: Tensor, names: Sequence[str], question: Question, *, model: str = ""
) -> AttentionRecord:
    """Map "pooling", from the label to the patches, a hop for each label that asks for itself; and "encoder",
    from patch to patch. pictures (1, C, H, W).
    """
    network: PatchSeer = module.model
    with (
        recording(network, details=question.details) as kept,
        recording_poolings(network) as pooled,
    ):
        seen = module.sight(pictures)
    chances = seen.logits[0].softmax(-1)
    best = int(chances.argmax())
    maps = [pooling_map(each, LABEL, IMAGE, details=question.details) for each in pooled]
    if layers := attentions_in(network)["encoder"]:
        check_size(layers, math.prod(_grid(seen)))
        maps.append(attention_map("encoder", IMAGE, IMAGE, layers, kept))
    several = t("hop n is the n-th of the labels {labels}", labels=", ".join(names))
    return record_of(
        question,
        {
            LABEL: Side.of_labels([names[best]], title=LABEL),
            IMAGE: Side.of_grid(_whole(network, pictures[0], seen).source, *_grid(seen)),
        },
        maps,
        notes=(several,) if network.per_label else (),
        title=question.title,
        model=model,
        output=with_chance(names[best], float(chances[best])),
    )


def _grid(seen: SeenPictures) -> tuple[int, int]:
    assert seen.patches is not None
    rows, columns = seen.patches.shape[-2:]
    return rows, columns


def _whole(network: PatchSeer, picture: Tensor, seen: SeenPictures) -> PngImage:
    """The picture (C, H, W) as patches cover it: the last row and column may reach beyond it."""
    rows, columns = _grid(seen)
    width = network.encoder.width
    whole = picture.new_zeros(picture.shape[0], rows * width, columns * width)
    whole[:, : picture.shape[1], : picture.shape[2]] = picture
    return PngImage.of(whole)
