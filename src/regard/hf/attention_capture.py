"""The attention weights of a Hugging Face model, whatever it attends with."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from regard.hf.hf_mechanisms import Mechanism
from regard.hf.interface_functions import StandIn, stand_in, switch_to_eager
from regard.hf.modules import KINDS, Attending, Kind, attending, own_eager, transformers
from regard.hf.outputs import watch_outputs
from regard.hf.terms import split_mask, total_bias
from regard.words import t


@dataclass(frozen=True)
class CapturedLayer:
    """What one attention did in one call."""

    name: str  # of the module, as in model.named_modules()
    kind: Kind
    layer: int
    step: int  # how often this module had been called before: the step of a generation
    weights: Tensor  # (B, H, Lq, Lk), as the model used them
    query: Tensor | None = None  # (B, H, Lq, D), if asked for
    key: Tensor | None = None  # (B, H, Lk, D), shared ones repeated
    value: Tensor | None = None
    scaling: float | None = None
    bias: Tensor | None = (
        None  # broadcast to the weights: what a model such as T5 adds to its scores
    )

    @property
    def missing(self) -> Tensor:
        """(B, H, Lq): 1 minus the sum of a row, taken by a sink or by dropout."""
        return 1 - self.weights.sum(-1)

    @property
    def scores(self) -> Tensor:
        """scaling · q · k + bias, (B, H, Lq, Lk): before any mask or sink, and without a cap."""
        if self.query is None or self.key is None:
            raise ValueError(
                t("the scores need queries and keys: regard.hf.capture(model, vectors=True)")
            )
        scores = self.query @ self.key.mT * self._scale
        return scores if self.bias is None else scores + self.bias

    @property
    def scaled_query(self) -> Tensor | None:
        """(B, H, Lq, D): its product with a key is the score, without a bias."""
        return None if self.query is None else self.query * self._scale

    @property
    def _scale(self) -> float:
        assert self.query is not None
        return self.query.shape[-1] ** -0.5 if self.scaling is None else self.scaling


@dataclass
class Captured:
    """What the attentions of a model did, call by call."""

    layers: list[CapturedLayer] = field(default_factory=list)
    _calls: Counter[str] = field(default_factory=Counter)

    @property
    def steps(self) -> int:
        """How often the model was called: 1, or the steps of a generation."""
        return max(self._calls.values(), default=0)

    def weights(self, kind: Kind, step: int | None = None) -> Tensor:
        """(layers, B, H, Lq, Lk) of all captured layers of a kind, at one step."""
        of_kind = [layer for layer in self.layers if layer.kind == kind]
        if not of_kind:
            seen = sorted({layer.kind for layer in self.layers})
            raise ValueError(
                t(
                    "no attention of kind {kind} was captured, only {seen}",
                    kind=repr(kind),
                    seen=", ".join(seen),
                )
                if seen
                else t("nothing was captured: call the model inside the with block")
            )
        steps = sorted({layer.step for layer in of_kind})
        if step is None and len(steps) > 1:
            raise ValueError(
                t(
                    "the model was called {count} times: say which step you mean, "
                    "weights({kind}, step=0)",
                    count=len(steps),
                    kind=repr(kind),
                )
            )
        step = steps[0] if step is None else step
        if step not in steps:
            raise ValueError(
                t(
                    "there is no step {step}, only {first} to {last}",
                    step=step,
                    first=steps[0],
                    last=steps[-1],
                )
            )
        return torch.stack([layer.weights for layer in of_kind if layer.step == step])

    def follow(self, beam_indices: Tensor) -> Tensor:
        """The cross-attention of generated sequences: (layers, N, H, T, Lk).

        beam_indices (N, T) is what `generate(..., num_beams=k, return_dict_in_generate=True)` gives
        back: at every step the row that a sequence went through. Rows after its end are 0.
        """
        rows = []
        for step in range(min(beam_indices.shape[1], self.steps)):
            place = beam_indices[:, step]
            row = self.weights("cross", step)[:, place.clamp(min=0), :, -1]
            rows.append(row.masked_fill((place < 0)[:, None, None], 0.0))
        return torch.stack(rows, -2)

    def _add(self, name: str, kind: Kind, layer: int, weights: Tensor, **more: Any) -> None:
        self.layers.append(CapturedLayer(name, kind, layer, self._calls[name], weights, **more))


@contextmanager
def capture(
    model: Any,
    *,
    layers: Collection[int] | None = None,
    kinds: Collection[Kind] | None = None,
    vectors: bool = False,
) -> Iterator[Captured]:
    """Inside the block, keep the attention weights of every layer: those of the model's eager path.

    layers, kinds ("encoder", "decoder", "cross"): keep only these. vectors: queries, keys and
    values as well. A model that runs on an attention of regard keeps it. The model is restored
    after the block; the weights carry gradients unless it runs under `torch.no_grad()`.

    >>> with regard.hf.capture(model) as captured:
    ...     model(**inputs)
    >>> captured.weights("cross")  # (layers, B, H, Lq, Lk)
    """
    _check(model, kinds)
    captured = Captured()
    found = attending(model)

    def wanted(kind: Kind, layer: int) -> bool:
        return (kinds is None or kind in kinds) and (layers is None or layer in layers)

    with ExitStack() as undo:
        if found:
            by_module = {id(each.module): each for each in found}
            record = functools.partial(_Recording, captured, by_module, wanted, vectors)
            stand_in(model, found, record, undo)
        elif vectors:
            raise ValueError(
                t(
                    "{name} does not use the attention interface of transformers: its "
                    "weights may be had, its queries and keys not. Leave vectors=True out",
                    name=type(model).__name__,
                )
            )
        else:
            switch_to_eager(model, undo)

            def keep(kind: Kind, layer: int, weights: Tensor) -> None:
                name = f"{kind}.{layer}"
                if wanted(kind, layer):
                    captured._add(name, kind, layer, weights)
                captured._calls[name] += 1

            watch_outputs(model, keep, undo)
        yield captured


@dataclass(frozen=True)
class _Recording(StandIn):
    """Stands in for an attention function, calls it, and keeps its weights."""

    captured: Captured
    found: dict[int, Attending]  # by the id of the module
    wanted: Callable[[Kind, int], bool]
    vectors: bool
    before: Callable[..., Any] | None  # None: the model's own eager function

    def __call__(
        self,
        module: nn.Module,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attention_mask: Tensor | None,
        **kwargs: Any,
    ) -> tuple[Tensor, Tensor]:
        attention = self.before or own_eager(module)
        assert attention is not None, f"{type(module).__name__} has no eager attention"
        if isinstance(self.before, Mechanism):
            kwargs["output_attentions"] = True
        output, weights = attention(module, query, key, value, attention_mask, **kwargs)
        each = self.found.get(id(module))
        if each is not None:
            if self.wanted(each.kind, each.layer):
                vectors: dict[str, Tensor | None] = {}
                if self.vectors:
                    vectors = {
                        **self._vectors(query, key, value),
                        "bias": total_bias(
                            split_mask(attention_mask)[1], kwargs.get("position_bias")
                        ),
                    }
                self.captured._add(
                    each.name,
                    each.kind,
                    each.layer,
                    weights,
                    scaling=kwargs.get("scaling"),
                    **vectors,
                )
            self.captured._calls[each.name] += 1
        return output, weights

    def _vectors(self, query: Tensor, key: Tensor, value: Tensor) -> dict[str, Tensor]:
        group = query.shape[1] // key.shape[1]
        key, value = (x.repeat_interleave(group, 1) if group > 1 else x for x in (key, value))
        return {"query": query, "key": key, "value": value}


def _check(model: Any, kinds: Collection[str] | None) -> None:
    if not isinstance(model, transformers().PreTrainedModel):
        raise TypeError(
            t(
                "capture is for Hugging Face models, not {name}; for models of regard "
                "use regard.attention.recording.recording",
                name=type(model).__name__,
            )
        )
    if unknown := sorted(set(kinds or ()) - set(KINDS)):
        raise ValueError(
            t(
                "no kind {kind}. The kinds: {kinds}.",
                kind=repr(unknown[0]),
                kinds=", ".join(KINDS),
            )
        )
