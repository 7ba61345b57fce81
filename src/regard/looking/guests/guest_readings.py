"""One input as a model of somebody else reads it: what every measure of explanation asks.

Legend: as in `explanations.model_readings`; L layers, H heads, M = L · H, D features, B copies.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.explanations.attributions import value_zeroing
from regard.explanations.model_readings import Reading, Weighed
from regard.explanations.model_work import GRADIENT, ModelWork, pieces
from regard.explanations.token_subsets import of_each_choice, packed
from regard.explanations.work_done import worked
from regard.hf.attention_capture import Captured
from regard.hf.modules import Kind
from regard.hf.steered_weights import Site, steer
from regard.looking.guests.logit_lens import stack_of
from regard.measures.explanation_measures import total_variation

ALIKE = 1e-3  # TVD of answers by the model's own weights, given back to it
OF_TOKENS = ("input_ids", "attention_mask", "token_type_ids")  # inputs that have a place for each


class GuestReading(Reading):
    """inputs: of one example. kind: the attention that is measured.

    place: of the one answer that a classifier has; None: there is one at every row. said (Q,): the answers,
    the likeliest if not given. special: which keys are no tokens of the text, or no patches.
    """

    def __init__(
        self,
        model: Any,
        inputs: Mapping[str, Tensor],
        captured: Captured,
        kind: Kind,
        work: ModelWork,
        *,
        place: int | None = None,
        said: Tensor | None = None,
        special: Tensor | None = None,
        mask_token: int | None = None,
    ) -> None:
        self.model, self.inputs, self.kind, self.place = model, dict(inputs), kind, place
        self.mask_token = mask_token
        layers = {each.layer: each for each in captured.layers if each.kind == kind}
        self.layers, self.last = sorted(layers), layers[max(layers)]
        weights = captured.weights(kind)[:, 0].float()  # (L, H, Q, K)
        weights = weights if place is None else weights[:, :, place : place + 1]
        self.heads, self.keys = weights.shape[1], weights.shape[-1]
        rows = weights.permute(2, 0, 1, 3).flatten(1, 2)  # (Q, M, K)
        weighed = self.weighed = Weighed(rows, rows > 0, weights[-1].mean(0))
        self._weights = weighed.weights
        with torch.no_grad():
            self.answers = self._distributions(self.inputs)[0]
        self.said = self.answers.argmax(-1) if said is None else said
        self.whole = self.work = work.reading(self.keys, len(self.said))
        self.seen = weighed.allowed.any(1)
        marks = torch.zeros(self.keys, dtype=torch.bool) if special is None else special
        own = torch.eye(*self.seen.shape, dtype=torch.bool, device=self.seen.device)
        alone = place is not None or kind == "cross"  # else a row is a token of the text itself
        self.erasable = self.seen & ~marks.to(self.seen.device) & (~own | alone)
        with torch.no_grad():  # whether its own weights, given back to it, make its own answers
            again = self.steered(self._weights[None], slice(0, len(self.said)))[0]
        self._steered = bool(total_variation(again, self.answers).max() < ALIKE)

    @property
    def steerable(self) -> bool:
        return self._steered

    def steered(self, weights: Tensor, rows: slice) -> Tensor:
        return self._run(weights, rows)[0]

    def reported(self, weights: Tensor, rows: slice) -> Tensor:
        last: Tensor = weights.view(len(weights), len(self.layers), self.heads, -1)[:, -1].mean(1)
        return last

    def zeroed(self) -> Tensor | None:
        return value_zeroing(self, lambda weights, rows: self._run(weights, rows)[1])

    def norms(self) -> Tensor | None:
        """‖(α_hj v_hj)_h‖ in the last layer, its heads side by side, before they are mixed"""
        if self.last.value is None:
            return None
        sizes = self.last.value[0].float().norm(dim=-1)  # (H, K)
        own = self._weights.view(len(self.said), len(self.layers), self.heads, -1)[:, -1]
        return (own * sizes).norm(dim=1)

    def gradients(self, against: Tensor | None = None) -> Tensor:
        parts = pieces(len(self.said), GRADIENT * self.whole)
        return torch.cat([self._gradients(rows, against) for rows in parts])

    def log_probs_without_each(self, tokens: Tensor) -> Tensor:
        with torch.no_grad():
            parts = pieces(self.keys, self.whole)
            return torch.cat([self._without(keys, tokens) for keys in parts], -1)

    def log_probs(self, kept: Tensor, rows: Tensor, tokens: Tensor) -> Tensor:
        found = self.answers.new_empty(len(rows))
        with torch.no_grad():
            for here, which, chances in of_each_choice(kept, self.whole, self._with_only):
                places = rows[here]
                if self.place is None and self.kind != "cross":  # among what is left of the text
                    places = kept[here].cumsum(-1)[torch.arange(len(here)), places] - 1
                found[here] = _log(chances[which, places.clamp(min=0), tokens[here]])
        return found

    def _run(self, weights: Tensor, rows: slice) -> tuple[Tensor, Tensor | None]:
        """The distributions (R, N, V) by weights (R, N, M, K), and what they are read from: (R, N, D)"""
        tries, answers = weights.shape[:2]
        copies = tries * answers
        given = weights.reshape(copies, len(self.layers), self.heads, self.keys)
        numbers = range(rows.start, rows.start + answers)
        asked = torch.tensor([*numbers] * tries, device=weights.device)
        places = asked if self.place is None else torch.full_like(asked, self.place)
        each = torch.arange(copies, device=weights.device)
        states: list[Tensor] = []

        def change(site: Site, own: Tensor) -> Tensor | None:
            if site.kind != self.kind:
                return None
            other = own.clone()
            other[each, :, places] = given[:, self.layers.index(site.layer)].to(own.dtype)
            return other

        def keep(_: nn.Module, args: Any, output: Any) -> None:
            states.append(output[0] if isinstance(output, tuple) else output)

        stack = stack_of(self.model, "decoder" if self.kind == "cross" else self.kind)
        hook = stack[-1].register_forward_hook(keep) if stack else None
        try:
            with steer(self.model, change):
                found = self._distributions(_copied(self.inputs, copies))
        finally:
            if hook is not None:
                hook.remove()
        read = states[-1][each, places].float().view(tries, answers, -1) if states else None
        return found[each, asked].view(tries, answers, -1), read

    def _gradients(self, rows: slice, against: Tensor | None) -> Tensor:
        """Σ_d x_d · ∂ log p(y_q) / ∂ x_d: (N, K), one copy for each row"""
        asked = torch.arange(rows.start, rows.stop, device=self.said.device)
        copies = _copied(self.inputs, len(asked))
        name = "pixel_values" if "pixel_values" in copies else "inputs_embeds"
        ids = copies.pop("input_ids", None)
        given = copies.pop(name) if ids is None else self.model.get_input_embeddings()(ids)
        given = given.detach().clone().requires_grad_()
        with torch.enable_grad():
            found = _log(self._distributions({**copies, name: given}))
            each = torch.arange(len(asked), device=asked.device)
            total = found[each, asked, self.said[asked]].sum()
            if against is not None:
                total = total - found[each, asked, against[asked]].sum()
            (slopes,) = torch.autograd.grad(total, given)
        product = slopes * given.detach()
        if name == "pixel_values":
            return self._over_patches(product.sum(1))
        return product.sum(-1).float()

    def _without(self, left_out: slice, tokens: Tensor) -> Tensor:
        """log p (A, Q, N) of tokens (A, Q) if one of these N keys were not there."""
        others = ~torch.eye(self.keys, dtype=torch.bool, device=self.said.device)[left_out]
        if self.keys == 1:  # nothing is left
            return self.answers.new_full((*tokens.shape, 1), -math.log(self.answers.shape[-1]))
        found = self._with_only(others)  # (N, Q or Q - 1, V)
        if self.place is None and self.kind != "cross":
            found = self._in_place(found, left_out)
        asked = tokens.T.expand(len(others), -1, -1)  # (N, Q, A)
        return _log(found.gather(-1, asked)).permute(2, 1, 0)

    def _in_place(self, found: Tensor, left_out: slice) -> Tensor:
        """Of texts without token j, (N, Q - 1, V) -> (N, Q, V): row q stands one place before, if j < q.

        Row j itself: in a decoder what the row before says, in an encoder what a mask in its place does.
        """
        keys = torch.arange(self.keys, device=found.device)[left_out]
        rows = torch.arange(self.keys, device=found.device)
        places = (rows - (rows >= keys[:, None]).long()).clamp(min=0)  # (N, Q)
        moved = found[torch.arange(len(keys))[:, None], places]
        for n, key in enumerate(keys.tolist()):
            if self.kind == "encoder":
                moved[n, key] = self._masked(key)
            elif key == 0:  # nothing was read
                moved[n, 0] = 1 / found.shape[-1]
        return moved

    def _masked(self, key: int) -> Tensor:
        ids, others = self.inputs["input_ids"].clone(), dict(self.inputs)
        if self.mask_token is None:
            others["attention_mask"] = torch.ones_like(ids)
            others["attention_mask"][0, key] = 0
        else:
            ids[0, key] = self.mask_token
        return self._distributions({**others, "input_ids": ids})[0, key]

    def _with_only(self, kept: Tensor) -> Tensor:
        """The distributions (N, Q, V) if these keys alone were there: bool (N, K)"""
        if "pixel_values" in self.inputs:
            return self._distributions({**self.inputs, "pixel_values": self._greyed(kept)})
        _, mask = packed(self.inputs["input_ids"][0], kept)
        parts = {"attention_mask": mask.long()}
        for name, x in self.inputs.items():
            if name not in OF_TOKENS:
                parts[name] = x.expand(len(kept), *x.shape[1:])
            elif name != "attention_mask":
                parts[name] = packed(x[0], kept)[0]
        return self._distributions(parts)

    def _greyed(self, kept: Tensor) -> Tensor:
        """The picture with all other patches in the colour that the model takes for grey, 0."""
        pixels = self.inputs["pixel_values"]
        high, wide = self._patch()
        rows, columns = pixels.shape[-2] // high, pixels.shape[-1] // wide
        cells = kept[:, self.keys - rows * columns :].view(len(kept), 1, rows, columns)
        there = cells.repeat_interleave(high, -2).repeat_interleave(wide, -1)
        more = (0, pixels.shape[-1] - there.shape[-1], 0, pixels.shape[-2] - there.shape[-2])
        return pixels * F.pad(there, more, value=True)

    def _over_patches(self, pixels: Tensor) -> Tensor:
        """(N, height, width) -> (N, K): sums over patches, 0 for what is none"""
        sums = F.avg_pool2d(pixels[:, None].float(), self._patch(), divisor_override=1).flatten(1)
        return F.pad(sums, (self.keys - sums.shape[1], 0))

    def _patch(self) -> tuple[int, int]:
        size = self.model.config.patch_size
        return (size, size) if isinstance(size, int) else (int(size[-2]), int(size[-1]))

    def _distributions(self, inputs: Mapping[str, Tensor]) -> Tensor:
        """(B, Q, V)"""
        logits = self.model(**inputs).logits
        worked((GRADIENT if logits.requires_grad else 1) * len(logits) * getattr(self, "whole", 0))
        return (logits if logits.dim() == 3 else logits[:, None]).float().softmax(-1)


def _copied(inputs: Mapping[str, Tensor], copies: int) -> dict[str, Tensor]:
    return {name: x.expand(copies, *x.shape[1:]) for name, x in inputs.items()}


def _log(p: Tensor) -> Tensor:
    return p.clamp(min=torch.finfo(p.dtype).tiny).log()
