"""All measures of explanation of a model of somebody else, and one input."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from regard.explanations.attribution_cards import Contrast
from regard.explanations.attributions import second_likeliest
from regard.explanations.measured import measure
from regard.explanations.model_work import ModelWork
from regard.explanations.stack_measures import stack_flow, stack_rollout
from regard.hf.attention_capture import Captured, capture
from regard.hf.modules import Kind
from regard.looking.guests.compared_towers import SimilarityReading, tower_parts, towers
from regard.looking.guests.guest_processors import SOUNDS
from regard.looking.guests.guest_readings import GuestReading
from regard.looking.guests.input_parts import SoundParts
from regard.looking.guests.judged_place import judged_place
from regard.records.explanation import Explanation
from regard.records.pooled_frames import pooled_weights
from regard.records.question import BadQuestion, Foil
from regard.records.side import Side
from regard.words import t

Explained = tuple[tuple[Explanation, ...], tuple[str, ...]]  # and notes of what was not measured


@torch.no_grad()
def explain_guest(
    model: Any,
    inputs: Mapping[str, Tensor],
    work: ModelWork,
    *,
    said: Sequence[int] | None = None,
    read: Side | None = None,
    name: Callable[[int], str] = str,
    foil: Foil | None = None,
    foils: Sequence[int] = (),
    mask_token: int | None = None,
    label: str = "label",
    size: int = 1,
) -> Explained:
    """said: what a decoder wrote, the likeliest if not given. read: the side of the keys.

    name: what an answer is called. foil: one that was not given, which may be any of `foils`. label: the
    map from the one answer of a classifier to its input. size: of a sound, how many frames share a key.
    """
    captured, outputs = _captured(model, inputs)
    logits = getattr(outputs, "logits", None)
    kinds = {layer.kind for layer in captured.layers}
    of: Kind = next(kind for kind in ("cross", "decoder", "encoder") if kind in kinds)
    place = None if logits is None or logits.dim() != 2 else judged_place(model, inputs, of)
    has_answers = logits is not None and (logits.dim() == 3 or place is not None)
    parts = _sound_parts(model, inputs, captured, of, size)
    readable = "input_ids" in inputs or hasattr(model.config, "patch_size") or parts is not None
    if not has_answers or not readable:
        note = t("answers are not measured here: this model has none at a known place")
        return tuple(_stacks(captured, size)), (note,)
    if size > 1 and of != "cross":
        note = t("answers are not measured here: there is one for each of too many frames")
        return tuple(_stacks(captured, size)), (note,)
    special = None if read is None else torch.tensor(read.special)
    answers = None if said is None else torch.tensor(said, device=model.device)
    reading = GuestReading(
        model,
        inputs,
        captured,
        of,
        work,
        place=place,
        said=answers,
        special=special,
        mask_token=mask_token,
        parts=parts,
    )
    contrast = None if foil is None else _contrast(reading, foil, foils, name, read)
    found = measure(reading, of if place is None else label, contrast)
    notes = () if reading.steerable else (
        t("what other weights would do is not measured: this model lets nobody change them"),
    )  # fmt: skip
    return (*found, *_stacks(captured, size)), notes


@torch.no_grad()
def explain_similarity(
    model: Any,
    inputs: Mapping[str, Tensor],
    work: ModelWork,
    places: Mapping[str, int],
    sides: Mapping[str, Side],
    names: Mapping[str, tuple[str, str]],
) -> Explained:
    """Of both towers of a model that says how alike a text and a picture are: "" reads the text, "image" it.

    places: where each is judged. sides: of their keys. names: of the map of that place, and of the stack.
    """
    captured, _ = _captured(model, inputs)
    found: list[Explanation] = []
    for tower, own in towers(captured).items():
        of_place, of_stack = names[tower]
        kind = own.layers[0].kind
        weights = own.weights(kind)
        if tower in places:
            picture = tower == "image"
            reading = SimilarityReading(
                model,
                inputs,
                own,
                kind,
                work,
                picture=picture,
                place=places[tower],
                special=torch.tensor(sides[tower].special),
                parts=tower_parts(model, inputs, weights.shape[-1], picture=picture),
            )
            found += measure(reading, of_place)
        found += _stack(weights[:, 0], of_stack)
    note = t(
        "in the place of a probability the measures have the similarity, as (1 + cos) / 2 from 0 to 1"
    )
    return tuple(found), (note,)


def _sound_parts(
    model: Any, inputs: Mapping[str, Tensor], captured: Captured, of: Kind, size: int
) -> SoundParts | None:
    """None: there is no sound, or it is not read frame by frame."""
    given = next((inputs[name] for name in SOUNDS if name in inputs), None)
    if given is None or hasattr(model.config, "patch_size") or given.dim() > 3:
        return None
    return SoundParts(model, inputs, int(captured.weights(of).shape[-1]), size)


def _captured(model: Any, inputs: Mapping[str, Tensor]) -> tuple[Captured, Any]:
    try:
        with capture(model, vectors=True) as captured:
            outputs = model(**inputs)
    except ValueError:  # it lets nobody see its values
        with capture(model) as captured:
            outputs = model(**inputs)
    return captured, outputs


def _contrast(
    reading: GuestReading,
    foil: Foil,
    others: Sequence[int],
    name: Callable[[int], str],
    read: Side | None,
) -> Contrast:
    """The other answer at its step, or where it was the likeliest to come instead."""
    rows = range(len(reading.said))
    if foil.step is not None and foil.step not in rows:
        raise BadQuestion(
            t(
                "foil.step is {step}, and there are {count} answers",
                step=foil.step,
                count=len(rows),
            )
        )
    if not others:
        raise BadQuestion(
            t("the model has no answer {text}: it could never give it", text=repr(foil.text))
        )
    asked = rows if foil.step is None else [foil.step]
    places = [(row, each) for row in asked for each in others if each != int(reading.said[row])]
    if not places:
        raise BadQuestion(
            t("{text} is what was said there: name what was not", text=repr(foil.text))
        )
    row, answer = max(places, key=lambda place: float(reading.answers[place]))
    against = second_likeliest(reading)
    against[row] = answer
    return Contrast(against, row, name, () if read is None else read.tokens)


def _stacks(captured: Captured, size: int) -> list[Explanation]:
    """Of an encoder, or of a decoder that has no other source than its own past."""
    kinds = {layer.kind for layer in captured.layers}
    stacks = {"encoder"} if "cross" in kinds else {"encoder", "decoder"}
    found = []
    for kind in sorted(kinds & stacks):
        found += _stack(captured.weights(kind)[:, 0], kind, size)
    return found


def _stack(weights: Tensor, of: str, size: int = 1) -> list[Explanation]:
    """weights (L, H, N, N); of a sound those of `size` frames together, as its map has them."""
    if len(weights) < 2:
        return []
    if size > 1:
        shown = pooled_weights(weights.float().cpu().numpy(), size, queries=True, keys=True)
        weights = torch.from_numpy(shown)
    layers = list(weights.float())
    return [stack_rollout(layers, of), stack_flow(layers, of)]
