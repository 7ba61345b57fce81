"""One input as a model of somebody else reads it: what every measure of explanation asks.

Legend: as in `explanations.model_readings`; L layers, H heads, M = L · H, P patches of a picture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from regard.explanations.measured import (
    even_attention,
    gradient,
    leave_one_out,
    other_attention,
    other_orders,
    stack_rollout,
)
from regard.explanations.model_readings import Reading, Weighed
from regard.explanations.model_work import GRADIENT, ModelWork, pieces
from regard.hf.attention_capture import Captured, capture
from regard.hf.modules import Kind
from regard.hf.steered_weights import Site, steer
from regard.looking.guests.judged_place import judged_place
from regard.measures.explanation_measures import total_variation
from regard.records.record import Explanation
from regard.words import t

ALIKE = 1e-3  # TVD of answers by the model's own weights, given back to it


class GuestReading(Reading):
    """inputs: of one example. kind: the attention that is measured. place: of the one answer that a
    classifier has; None: there is one at every row."""

    def __init__(
        self,
        model: Any,
        inputs: Mapping[str, Tensor],
        captured: Captured,
        kind: Kind,
        work: ModelWork,
        *,
        place: int | None = None,
        mask_token: int | None = None,
    ) -> None:
        self.model, self.inputs, self.kind, self.place = model, dict(inputs), kind, place
        self.mask_token = mask_token
        self.layers = sorted({each.layer for each in captured.layers if each.kind == kind})
        weights = captured.weights(kind)[:, 0].float()  # (L, H, Q, K)
        weights = weights if place is None else weights[:, :, place : place + 1]
        self.heads, self.keys = weights.shape[1], weights.shape[-1]
        rows = weights.permute(2, 0, 1, 3).flatten(1, 2)  # (Q, M, K)
        self.weighed = Weighed(rows, rows > 0, weights[-1].mean(0))
        with torch.no_grad():
            self.answers = self._distributions(self.inputs)[0]
        self.said = self.answers.argmax(-1)
        self.work = work.reading(self.keys, len(self.said))

    @property
    def steerable(self) -> bool:
        """Whether its own weights, given back to it, make its own answers."""
        with torch.no_grad():
            again = self.steered(self.weighed.weights[None], slice(0, len(self.said)))[0]
        return bool(total_variation(again, self.answers).max() < ALIKE)

    def steered(self, weights: Tensor, rows: slice) -> Tensor:
        tries, answers = weights.shape[:2]
        copies = tries * answers
        given = weights.reshape(copies, len(self.layers), self.heads, self.keys)
        numbers = range(rows.start, rows.start + answers)
        asked = torch.tensor([*numbers] * tries, device=weights.device)
        places = asked if self.place is None else torch.full_like(asked, self.place)
        each = torch.arange(copies, device=weights.device)

        def change(site: Site, own: Tensor) -> Tensor | None:
            if site.kind != self.kind:
                return None
            other = own.clone()
            other[each, :, places] = given[:, self.layers.index(site.layer)].to(own.dtype)
            return other

        with steer(self.model, change):
            found = self._distributions(_copied(self.inputs, copies))
        return found[each, asked].view(tries, answers, -1)

    def reported(self, weights: Tensor, rows: slice) -> Tensor:
        last: Tensor = weights.view(len(weights), len(self.layers), self.heads, -1)[:, -1].mean(1)
        return last

    def gradients(self) -> Tensor:
        parts = pieces(len(self.said), GRADIENT * self.work)
        return torch.cat([self._gradients(rows) for rows in parts])

    def without_each(self) -> Tensor:
        with torch.no_grad():
            parts = pieces(self.keys, self.work)
            return torch.cat([self._without(keys) for keys in parts], 1)

    def _gradients(self, rows: slice) -> Tensor:
        """Σ_d x_d · ∂ log p(y_q) / ∂ x_d: (Q, K), one copy for each row"""
        asked = torch.arange(rows.start, rows.stop, device=self.said.device)
        copies = _copied(self.inputs, len(asked))
        name = "pixel_values" if "pixel_values" in copies else "inputs_embeds"
        ids = copies.pop("input_ids", None)
        given = copies.pop(name) if ids is None else self.model.get_input_embeddings()(ids)
        given = given.detach().clone().requires_grad_()
        with torch.enable_grad():
            found = self._distributions({**copies, name: given})
            own = found[torch.arange(len(asked)), asked, self.said[asked]]
            (slopes,) = torch.autograd.grad(own.log().sum(), given)
        product = slopes * given.detach()
        if name == "pixel_values":
            return self._over_patches(product.sum(1))
        return product.sum(-1).float()

    def _over_patches(self, pixels: Tensor) -> Tensor:
        """(N, height, width) -> (N, K): sums over patches, 0 for what is none"""
        high, wide = self._patch(pixels.shape[-2:])
        sums = F.avg_pool2d(pixels[:, None].float(), (high, wide), divisor_override=1).flatten(1)
        return F.pad(sums, (self.keys - sums.shape[1], 0))

    def _patch(self, pixels: Sequence[int]) -> tuple[int, int]:
        size = self.model.config.patch_size
        return (size, size) if isinstance(size, int) else (int(size[-2]), int(size[-1]))

    def _without(self, left_out: slice) -> Tensor:
        """p(y) (Q, N) if one of these N tokens were not there."""
        if "pixel_values" in self.inputs:
            return self._without_patches(left_out)
        count = len(range(*left_out.indices(self.keys)))
        if self.keys == 1:
            return self.answers.new_full((len(self.said), 1), 1 / self.answers.shape[-1])
        stay = ~torch.eye(self.keys, dtype=torch.bool, device=self.said.device)[left_out]
        shorter = {}
        for name, x in self.inputs.items():
            whole = x.expand(count, *x.shape[1:])
            of_input = name in ("input_ids", "attention_mask", "token_type_ids")
            shorter[name] = whole[stay].view(count, -1) if of_input else whole
        found = self._distributions(shorter)  # (N, Q or Q - 1, V)
        if self.place is not None or self.kind == "cross":
            said = self.said[None, :, None].expand(count, -1, 1)
            return found.gather(-1, said).squeeze(-1).T
        return self._moved(found, left_out)

    def _moved(self, found: Tensor, left_out: slice) -> Tensor:
        """Of a text without token j, (N, Q - 1, V): what row q says now stands one place before, if j < q.

        Row j itself: in a decoder what the row before says, in an encoder what a mask in its place does.
        """
        keys = torch.arange(self.keys, device=self.said.device)[left_out]
        rows = torch.arange(self.keys, device=self.said.device)[:, None]
        places = rows - (rows >= keys).long()  # (Q, N)
        chances = found[torch.arange(len(keys)), places.clamp(min=0), self.said[:, None]]
        for n, key in enumerate(keys.tolist()):
            if self.kind == "encoder":
                chances[key, n] = self._masked(key)
            elif key == 0:  # nothing was read
                chances[0, n] = 1 / found.shape[-1]
        return chances

    def _masked(self, key: int) -> Tensor:
        ids, others = self.inputs["input_ids"].clone(), dict(self.inputs)
        if self.mask_token is None:
            others["attention_mask"] = torch.ones_like(ids)
            others["attention_mask"][0, key] = 0
        else:
            ids[0, key] = self.mask_token
        return self._distributions({**others, "input_ids": ids})[0, key, self.said[key]]

    def _without_patches(self, left_out: slice) -> Tensor:
        """Each patch in the colour that the model takes for grey: 0"""
        pixels = self.inputs["pixel_values"]
        high, wide = self._patch(pixels.shape[-2:])
        columns = pixels.shape[-1] // wide
        before = self.keys - (pixels.shape[-2] // high) * columns
        numbers = range(*left_out.indices(self.keys))
        copies = pixels.expand(len(numbers), *pixels.shape[1:]).clone()
        for copy, key in zip(copies, numbers, strict=True):
            if key >= before:
                top, left = divmod(key - before, columns)
                copy[:, top * high : (top + 1) * high, left * wide : (left + 1) * wide] = 0
        found = self._distributions({**self.inputs, "pixel_values": copies})
        return found.gather(-1, self.said[None, :, None].expand(len(numbers), -1, 1)).squeeze(-1).T

    def _distributions(self, inputs: Mapping[str, Tensor]) -> Tensor:
        """(B, Q, V)"""
        logits = self.model(**inputs).logits
        return (logits if logits.dim() == 3 else logits[:, None]).float().softmax(-1)


def _copied(inputs: Mapping[str, Tensor], copies: int) -> dict[str, Tensor]:
    return {name: x.expand(copies, *x.shape[1:]) for name, x in inputs.items()}


@torch.no_grad()
def explain_guest(
    model: Any,
    inputs: Mapping[str, Tensor],
    work: ModelWork,
    *,
    mask_token: int | None = None,
    label: str = "label",
) -> tuple[tuple[Explanation, ...], tuple[str, ...]]:
    """All measures that there are for this model and this input, and notes of what could not be measured.

    label: the name of the map from the one answer of a classifier to its input.
    """
    with capture(model) as captured:
        outputs = model(**inputs)
    kinds = {layer.kind for layer in captured.layers}
    of: Kind = next(kind for kind in ("cross", "decoder", "encoder") if kind in kinds)
    logits, notes = getattr(outputs, "logits", None), []
    found: list[Explanation] = []
    can_be = logits is not None and ("input_ids" in inputs or _has_patches(model, inputs))
    place = None
    if can_be and logits is not None and logits.dim() == 2:
        place = judged_place(model, inputs, of)
        can_be = place is not None
    if can_be:
        reading = GuestReading(
            model, inputs, captured, of, work, place=place, mask_token=mask_token
        )
        name = of if place is None else label
        found = [gradient(reading, name), leave_one_out(reading, name)]
        if reading.steerable:
            steered = (even_attention, other_orders, other_attention)
            found += [take(reading, reading.weighed, name) for take in steered]
        else:
            notes.append(
                t("what other weights would do is not measured: this model lets nobody change them")
            )
    else:
        notes.append(t("answers are not measured here: this model has none at a known place"))
    return (*found, *_rollouts(captured)), tuple(notes)


def _has_patches(model: Any, inputs: Mapping[str, Tensor]) -> bool:
    return "pixel_values" in inputs and hasattr(model.config, "patch_size")


def _rollouts(captured: Captured) -> list[Explanation]:
    """Of an encoder, or of a decoder that has no other source than its own past."""
    kinds = {layer.kind for layer in captured.layers}
    stacks = {"encoder"} if "cross" in kinds else {"encoder", "decoder"}
    found = []
    for kind in sorted(kinds & stacks):
        layers = captured.weights(kind)[:, 0].float()
        if len(layers) > 1:
            found.append(stack_rollout(list(layers), kind))
    return found
