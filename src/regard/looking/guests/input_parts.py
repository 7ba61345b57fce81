"""What can be taken out of an input of a model of somebody else: tokens, patches, moments of a sound.

Legend: B copies, K parts, which are the keys that a record shows; N choices of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from regard.explanations.token_subsets import packed

OF_TOKENS = ("input_ids", "attention_mask", "token_type_ids")  # inputs that have a place for each
Inputs = dict[str, Tensor]


class InputParts:
    """inputs: of one example."""

    moves = False  # what is left moves together, and the rows of answers with it
    size = 1  # positions of the model in a part

    def __init__(self, model: Any, inputs: Mapping[str, Tensor]) -> None:
        self.model, self.inputs = model, dict(inputs)

    def copied(self, copies: int) -> Inputs:
        return {name: x.expand(copies, *x.shape[1:]) for name, x in self.inputs.items()}

    @contextmanager
    def with_leaf(self, copies: int) -> Iterator[tuple[Inputs, Tensor]]:
        """Copies of the inputs, and what of them has a gradient."""
        raise NotImplementedError

    def heard(self, copies: int) -> dict[str, Any]:
        """Copies for other weights of the cross-attention, which change nothing before it."""
        return self.copied(copies)

    def over(self, product: Tensor) -> Tensor:
        """Of numbers on that leaf the sum over each part: (B, K)"""
        raise NotImplementedError

    def only(self, kept: Tensor) -> Inputs:
        """The inputs with these parts alone: bool (N, K)"""
        raise NotImplementedError

    def together(self, x: Tensor) -> Tensor:
        """Of numbers of every position the sum over each part: (..., positions) -> (..., K)"""
        return x

    def apart(self, given: Tensor, own: Tensor) -> Tensor:
        """The same back: the positions of a part share what it is given as they do among `own` weights."""
        return given

    @property
    def blank(self) -> Tensor | None:
        """bool (K,): parts that hold nothing, so that nothing is lost without them."""
        return None


class TokenParts(InputParts):
    moves = True

    @contextmanager
    def with_leaf(self, copies: int) -> Iterator[tuple[Inputs, Tensor]]:
        inputs = self.copied(copies)
        embedded = self.model.get_input_embeddings()(inputs.pop("input_ids"))
        leaf = embedded.detach().clone().requires_grad_()
        yield {**inputs, "inputs_embeds": leaf}, leaf

    def over(self, product: Tensor) -> Tensor:
        return product.sum(-1).float()

    def only(self, kept: Tensor) -> Inputs:
        _, mask = packed(self.inputs["input_ids"][0], kept)
        parts = {"attention_mask": mask.long()}
        for name, x in self.inputs.items():
            if name not in OF_TOKENS:
                parts[name] = x.expand(len(kept), *x.shape[1:])
            elif name != "attention_mask":
                parts[name] = packed(x[0], kept)[0]
        return parts


class PatchParts(InputParts):
    """keys: positions of the model, the patches behind those that are none."""

    def __init__(self, model: Any, inputs: Mapping[str, Tensor], config: Any, keys: int) -> None:
        super().__init__(model, inputs)
        size, self.keys = config.patch_size, keys
        self.patch = (size, size) if isinstance(size, int) else (int(size[-2]), int(size[-1]))

    @contextmanager
    def with_leaf(self, copies: int) -> Iterator[tuple[Inputs, Tensor]]:
        inputs = self.copied(copies)
        leaf = inputs["pixel_values"].detach().clone().requires_grad_()
        yield {**inputs, "pixel_values": leaf}, leaf

    def over(self, product: Tensor) -> Tensor:
        """0 for what is no patch"""
        pixels = product.sum(1)[:, None].float()
        sums = F.avg_pool2d(pixels, self.patch, divisor_override=1).flatten(1)
        return F.pad(sums, (self.keys - sums.shape[1], 0))

    def only(self, kept: Tensor) -> Inputs:
        """All other patches in the colour that the model takes for grey, 0."""
        pixels = self.inputs["pixel_values"]
        (high, wide), (height, width) = self.patch, pixels.shape[-2:]
        rows, columns = height // high, width // wide
        cells = kept[:, self.keys - rows * columns :].view(len(kept), 1, rows, columns)
        there = cells.repeat_interleave(high, -2).repeat_interleave(wide, -1)
        more = (0, width - there.shape[-1], 0, height - there.shape[-2])
        greyed = pixels * F.pad(there, more, value=True)
        return {**self.copied(len(kept)), "pixel_values": greyed}


class SoundParts(InputParts):
    """Every `size` of the model's `frames` in a row; without one it is silent there."""

    def __init__(self, model: Any, inputs: Mapping[str, Tensor], frames: int, size: int) -> None:
        super().__init__(model, inputs)
        self.frames, self.size = frames, size
        self.name = next(name for name in ("input_features", "input_values") if name in inputs)
        given = self.inputs[self.name]
        bins = getattr(model.config, "num_mel_bins", None)
        self.time = 2 if given.dim() == 3 and given.shape[1] == bins else 1
        self.silence = given.min() if given.dim() == 3 else given.new_zeros(())
        self.keys = -(-frames // size)
        self._encoded: Tensor | None = None
        length = given.shape[self.time]
        samples = torch.arange(length, device=given.device)
        self.places = samples * frames // length // size  # which part each moment belongs to
        self.groups = torch.arange(frames, device=given.device) // size

    @contextmanager
    def with_leaf(self, copies: int) -> Iterator[tuple[Inputs, Tensor]]:
        inputs = self.copied(copies)
        leaf = inputs[self.name].detach().clone().requires_grad_()
        yield {**inputs, self.name: leaf}, leaf

    def heard(self, copies: int) -> dict[str, Any]:
        """What the encoder made of the sound is the same whatever its decoder attends to."""
        if {*self.inputs} != {self.name, "decoder_input_ids"}:
            return self.copied(copies)
        if self._encoded is None:
            with torch.no_grad():
                self._encoded = self.model.get_encoder()(self.inputs[self.name])[0]
        states = self._encoded.expand(copies, -1, -1)
        written = self.inputs["decoder_input_ids"].expand(copies, -1)
        return {"encoder_outputs": (states,), "decoder_input_ids": written}

    def over(self, product: Tensor) -> Tensor:
        moments = product if product.dim() == 2 else product.sum(3 - self.time)
        return self._summed(moments.float(), self.places)

    def only(self, kept: Tensor) -> Inputs:
        there = kept[:, self.places]  # (N, moments)
        given = self.inputs[self.name]
        if given.dim() == 3:
            there = there[:, None] if self.time == 2 else there[..., None]
        return {**self.copied(len(kept)), self.name: given.where(there, self.silence)}

    def together(self, x: Tensor) -> Tensor:
        return x if self.size == 1 else self._summed(x, self.groups)

    def apart(self, given: Tensor, own: Tensor) -> Tensor:
        if self.size == 1:
            return given
        counts = self.together(torch.ones_like(own))
        sums = self.together(own)
        even = (1 / counts)[..., self.groups]
        known = own / sums.clamp(min=1e-30)[..., self.groups]
        shares = torch.where(sums[..., self.groups] > 0, known, even)
        return given[..., self.groups] * shares

    @property
    def blank(self) -> Tensor:
        heard = self.inputs[self.name] != self.silence
        moments = heard if heard.dim() == 2 else heard.any(3 - self.time)
        return self._summed(moments.float(), self.places)[0] == 0

    def _summed(self, x: Tensor, groups: Tensor) -> Tensor:
        return x.new_zeros(*x.shape[:-1], self.keys).index_add(-1, groups, x)


class TowerParts(TokenParts):
    """Tokens of a model that reads a picture beside them, which stays one however many texts there are."""

    def copied(self, copies: int) -> Inputs:
        return {
            name: x.expand(copies, *x.shape[1:]) if name in OF_TOKENS else x
            for name, x in self.inputs.items()
        }

    @contextmanager
    def with_leaf(self, copies: int) -> Iterator[tuple[Inputs, Tensor]]:
        inputs = self.copied(copies)
        table = self.model.text_model.get_input_embeddings()
        leaf = table(inputs["input_ids"]).detach().clone().requires_grad_()
        hook = table.register_forward_hook(lambda *_: leaf)
        try:
            yield inputs, leaf
        finally:
            hook.remove()

    def only(self, kept: Tensor) -> Inputs:
        parts = super().only(kept)
        return {name: x if name in OF_TOKENS else self.inputs[name] for name, x in parts.items()}


class TowerPatches(PatchParts):
    """The picture of a model that reads a text beside it, which stays one."""

    def copied(self, copies: int) -> Inputs:
        return {
            name: x.expand(copies, *x.shape[1:]) if name == "pixel_values" else x
            for name, x in self.inputs.items()
        }
