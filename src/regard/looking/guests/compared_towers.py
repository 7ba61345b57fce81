"""A model that says how alike a text and a picture are, as one of its two towers reads its part of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from regard.explanations.model_work import GRADIENT
from regard.explanations.work_done import worked
from regard.hf.attention_capture import Captured
from regard.looking.guests.guest_readings import GuestReading
from regard.looking.guests.guest_sides import vision_config
from regard.looking.guests.input_parts import InputParts, TowerParts, TowerPatches

SEES = ("vision", "visual")  # in the names of what reads pictures


def sees(name: str) -> bool:
    """Whether a module of this name reads the picture."""
    return any(mark in name for mark in SEES)


def towers(captured: Captured) -> dict[str, Captured]:
    """What reads pictures beside what reads texts, where a model has both: "image" and ""."""
    split = {"": [each for each in captured.layers if not sees(each.name)]}
    split["image"] = [each for each in captured.layers if sees(each.name)]
    if not split[""]:  # of pictures alone
        split = {"": split["image"]}
    return {name: Captured(layers, captured._calls) for name, layers in split.items() if layers}


def compares(outputs: Any) -> bool:
    """Whether these are the outputs of a model that says how alike a text and a picture are."""
    return all(getattr(outputs, name, None) is not None for name in ("image_embeds", "text_embeds"))


def similarity(outputs: Any) -> Tensor:
    """The cosine of what both towers make of theirs: (B,), where one of them may be one"""
    image, text = (getattr(outputs, name).float() for name in ("image_embeds", "text_embeds"))
    return torch.cosine_similarity(image, text)


class SimilarityReading(GuestReading):
    """Its one answer is that they are alike, in the place of a probability (1 + cos) / 2.

    picture: whether the tower is the one that reads the picture. place: the position that it is judged by.
    """

    other_answers = False

    def __init__(self, *given: Any, picture: bool, **more: Any) -> None:
        self.picture = picture
        super().__init__(*given, said=torch.zeros(1, dtype=torch.long), **more)

    def _distributions(self, inputs: Mapping[str, Any]) -> Tensor:
        """(B, 1, 2): alike, or not"""
        cosines = similarity(self.model(**inputs))
        worked(
            (GRADIENT if cosines.requires_grad else 1) * len(cosines) * getattr(self, "whole", 0)
        )
        alike = (1 + cosines) / 2
        return torch.stack([alike, 1 - alike], -1)[:, None]

    def _with_only(self, kept: Tensor) -> Tensor:
        """Texts of one length at a time: some models read the last place of a batch."""
        if self.picture:
            return super()._with_only(kept)
        found = self.answers.new_empty(len(kept), 1, 2)
        lengths = kept.sum(-1)
        for length in lengths.unique():
            here = lengths == length
            found[here] = super()._with_only(kept[here])
        return found

    def _is_own(self, name: str) -> bool:
        return sees(name) == self.picture


def tower_parts(
    model: Any, inputs: Mapping[str, Tensor], keys: int, *, picture: bool
) -> InputParts:
    if picture:
        return TowerPatches(model, inputs, vision_config(model), keys)
    return TowerParts(model, inputs)
