"""One input as a model of somebody else reads it: what every measure of explanation asks.

Legend: as in `explanations.model_readings`; L layers, H heads, M = L · H, D features, B copies.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from regard.explanations.attributions import value_zeroing
from regard.explanations.model_readings import Reading, Weighed
from regard.explanations.model_work import GRADIENT, ModelWork, pieces
from regard.explanations.token_subsets import of_each_choice
from regard.explanations.work_done import worked
from regard.hf.attention_capture import Captured
from regard.hf.modules import Kind
from regard.hf.steered_weights import Site, steer
from regard.looking.guests.input_parts import InputParts, PatchParts, TokenParts
from regard.looking.guests.logit_lens import stack_of
from regard.measures.explanation_measures import total_variation

ALIKE = 1e-3  # TVD of answers by the model's own weights, given back to it


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
        parts: InputParts | None = None,
    ) -> None:
        self.model, self.inputs, self.kind, self.place = model, dict(inputs), kind, place
        self.mask_token = mask_token
        layers = {each.layer: each for each in captured.layers if each.kind == kind}
        self.layers, self.last = sorted(layers), layers[max(layers)]
        weights = captured.weights(kind)[:, 0].float()  # (L, H, Q, K)
        self.parts = parts or _parts(model, inputs, weights.shape[-1])
        weights = weights if place is None else weights[:, :, place : place + 1]
        self._own = weights.permute(2, 0, 1, 3).flatten(1, 2)  # of every position
        rows = self.parts.together(self._own)  # (Q, M, K)
        self.heads, self.keys = weights.shape[1], rows.shape[-1]
        weighed = self.weighed = Weighed(rows, rows > 0, self.parts.together(weights[-1].mean(0)))
        with torch.no_grad():
            self.answers = self._distributions(self.inputs)[0]
        self.said = self.answers.argmax(-1) if said is None else said
        self.whole = self.work = work.reading(self._own.shape[-1], len(self.said))
        self.seen = weighed.allowed.any(1)
        marks = torch.zeros(self.keys, dtype=torch.bool) if special is None else special
        own = torch.eye(*self.seen.shape, dtype=torch.bool, device=self.seen.device)
        if (blank := self.parts.blank) is not None:
            marks = marks.to(blank.device) | blank
        alone = place is not None or kind == "cross"  # else a row is a token of the text itself
        self.erasable = self.seen & ~marks.to(self.seen.device) & (~own | alone)
        with torch.no_grad():  # whether its own weights, given back to it, make its own answers
            parts_of = pieces(len(self.said), self.whole)
            again = torch.cat([self.steered(weighed.weights[None, n], n)[0] for n in parts_of])
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
        own = self._own.view(len(self.said), len(self.layers), self.heads, -1)[:, -1]
        values = self.last.value[0].float()  # (H, positions, D)
        if self.parts.size == 1:
            return (own * values.norm(dim=-1)).norm(dim=1)
        taken = [  # Σ over the positions of a part
            self.parts.together(own[:, head, None] * values[head].T).norm(dim=1)
            for head in range(self.heads)
        ]
        return torch.stack(taken).norm(dim=0)

    def gradients(self, against: Tensor | None = None) -> Tensor:
        parts = pieces(len(self.said), GRADIENT * self.whole)
        return torch.cat([self._gradients(rows, against) for rows in parts])

    def log_probs_without_each(self, tokens: Tensor) -> Tensor:
        lost = torch.arange(self.keys, device=self.said.device)
        if (blank := self.parts.blank) is not None:
            lost = lost[~blank]  # without others nothing changes
        found = _log(self.answers).gather(-1, tokens.T).T[..., None].repeat(1, 1, self.keys)
        with torch.no_grad():
            for part in pieces(len(lost), self.whole):
                found[..., lost[part]] = self._without(lost[part], tokens)
        return found

    def log_probs(self, kept: Tensor, rows: Tensor, tokens: Tensor) -> Tensor:
        found = self.answers.new_empty(len(rows))
        if (blank := self.parts.blank) is not None:
            kept = kept | blank
        with torch.no_grad():
            for here, which, chances in of_each_choice(kept, self.whole, self._with_only):
                places = rows[here]
                if self._moves:  # among what is left of the text
                    places = kept[here].cumsum(-1)[torch.arange(len(here)), places] - 1
                found[here] = _log(chances[which, places.clamp(min=0), tokens[here]])
        return found

    def _run(self, weights: Tensor, rows: slice) -> tuple[Tensor, Tensor | None]:
        """The distributions (R, N, V) by weights (R, N, M, K), and what they are read from: (R, N, D)"""
        tries, answers = weights.shape[:2]
        copies = tries * answers
        own = self._own[rows].expand(tries, -1, -1, -1)
        given = self.parts.apart(weights, own)
        given = given.reshape(copies, len(self.layers), self.heads, own.shape[-1])
        numbers = range(rows.start, rows.start + answers)
        asked = torch.tensor([*numbers] * tries, device=weights.device)
        places = asked if self.place is None else torch.full_like(asked, self.place)
        each = torch.arange(copies, device=weights.device)
        states: list[Tensor] = []

        def change(site: Site, own: Tensor) -> Tensor | None:
            if site.kind != self.kind or not self._is_own(site.name):
                return None
            other = own.clone()
            other[each, :, places] = given[:, self.layers.index(site.layer)].to(own.dtype)
            return other

        def keep(_: nn.Module, args: Any, output: Any) -> None:
            states.append(output[0] if isinstance(output, tuple) else output)

        kind: Kind = "decoder" if self.kind == "cross" else self.kind
        stack = stack_of(self.model, kind, self._is_own)
        hook = stack[-1].register_forward_hook(keep) if stack else None
        try:
            with steer(self.model, change):
                same = self.parts.heard(copies) if self.kind == "cross" else None
                found = self._distributions(same or self.parts.copied(copies))
        finally:
            if hook is not None:
                hook.remove()
        read = states[-1][each, places].float().view(tries, answers, -1) if states else None
        return found[each, asked].view(tries, answers, -1), read

    def _gradients(self, rows: slice, against: Tensor | None) -> Tensor:
        """Σ_d x_d · ∂ log p(y_q) / ∂ x_d: (N, K), one copy for each row"""
        asked = torch.arange(rows.start, rows.stop, device=self.said.device)
        with self.parts.with_leaf(len(asked)) as (copies, given), torch.enable_grad():
            found = _log(self._distributions(copies))
            each = torch.arange(len(asked), device=asked.device)
            total = found[each, asked, self.said[asked]].sum()
            if against is not None:
                total = total - found[each, asked, against[asked]].sum()
            (slopes,) = torch.autograd.grad(total, given)
        return self.parts.over(slopes * given.detach())

    def _without(self, left_out: Tensor, tokens: Tensor) -> Tensor:
        """log p (A, Q, N) of tokens (A, Q) if one of these N keys were not there."""
        others = ~torch.eye(self.keys, dtype=torch.bool, device=self.said.device)[left_out]
        if self.keys == 1:  # nothing is left
            return self.answers.new_full((*tokens.shape, 1), -math.log(self.answers.shape[-1]))
        found = self._with_only(others)  # (N, Q or Q - 1, V)
        if self._moves:
            found = self._in_place(found, left_out)
        asked = tokens.T.expand(len(others), -1, -1)  # (N, Q, A)
        return _log(found.gather(-1, asked)).permute(2, 1, 0)

    def _in_place(self, found: Tensor, left_out: Tensor) -> Tensor:
        """Of texts without token j, (N, Q - 1, V) -> (N, Q, V): row q stands one place before, if j < q.

        Row j itself: in a decoder what the row before says, in an encoder what a mask in its place does.
        """
        rows = torch.arange(self.keys, device=found.device)
        places = (rows - (rows >= left_out[:, None]).long()).clamp(min=0)  # (N, Q)
        moved = found[torch.arange(len(left_out))[:, None], places]
        for n, key in enumerate(left_out.tolist()):
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
        return self._distributions(self.parts.only(kept))

    @property
    def _moves(self) -> bool:
        """Whether a row of answers is a token of the text, which may be another one in a shorter text."""
        return self.parts.moves and self.place is None and self.kind != "cross"

    def _is_own(self, name: str) -> bool:
        """Whether an attention of this name is one of those that are measured."""
        return True

    def _distributions(self, inputs: Mapping[str, Tensor]) -> Tensor:
        """(B, Q, V)"""
        logits = self.model(**inputs).logits
        worked((GRADIENT if logits.requires_grad else 1) * len(logits) * getattr(self, "whole", 0))
        return (logits if logits.dim() == 3 else logits[:, None]).float().softmax(-1)


def _parts(model: Any, inputs: Mapping[str, Tensor], keys: int) -> InputParts:
    if "pixel_values" in inputs:
        return PatchParts(model, inputs, model.config, keys)
    return TokenParts(model, inputs)


def _log(p: Tensor) -> Tensor:
    return p.clamp(min=torch.finfo(p.dtype).tiny).log()
