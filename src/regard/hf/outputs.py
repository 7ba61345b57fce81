"""The weights of models that do not use the attention interface: what they return when asked."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from torch import Tensor, nn

from regard.hf.modules import Kind
from regard.words import t

Keep = Callable[[Kind, int, Tensor], None]


def watch_outputs(model: Any, keep: Keep, undo: ExitStack) -> None:
    """Ask the model for its attentions at every call, and keep them if they are weights."""
    encoder = model.get_encoder() if model.config.is_encoder_decoder else None
    if encoder is not None:
        _watch(encoder, {"attentions": "encoder"}, model, keep, undo)
        _watch(
            model, {"decoder_attentions": "decoder", "cross_attentions": "cross"}, model, keep, undo
        )
    else:
        kind: Kind = (
            "decoder"
            if model.can_generate() or getattr(model.config, "is_decoder", False)
            else "encoder"
        )
        _watch(model, {"attentions": kind}, model, keep, undo)


def _watch(
    module: nn.Module, fields: dict[str, Kind], model: nn.Module, keep: Keep, undo: ExitStack
) -> None:
    name = type(model).__name__
    if "output_attentions" not in inspect.signature(module.forward).parameters:
        raise ValueError(
            t(
                "{name} has no attention weights to give: it neither uses the attention "
                "interface of transformers nor takes output_attentions",
                name=name,
            )
        )

    def ask(_: nn.Module, args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        return args, {**kwargs, "output_attentions": True}

    def read(_: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
        for field, kind in fields.items():
            given = getattr(output, field, None)
            if not given:
                raise ValueError(
                    t(
                        "{name} gave no {field}, though it was asked for them; it does not use the "
                        "attention interface of transformers. Load it with attn_implementation='eager' "
                        "and without return_dict=False",
                        name=name,
                        field=field,
                    )
                )
            for layer, weights in enumerate(given):
                check_weights(weights, kind, name, training=module.training)
                keep(kind, layer, weights)

    undo.callback(module.register_forward_pre_hook(ask, with_kwargs=True).remove)
    undo.callback(module.register_forward_hook(read, with_kwargs=True).remove)


def check_weights(weights: Any, kind: Kind, name: str, *, training: bool) -> None:
    """Refuse what some models return under the name of attentions."""
    what = None
    if not isinstance(weights, Tensor) or weights.dim() != 4:
        what = t("something else than one tensor (B, H, Lq, Lk) a layer")
    elif not training and (weights.min() < 0 or weights.sum(-1).max() > 1.01):
        what = t("numbers that are not weights (below 0, or more than 1 in a row)")
    elif kind == "encoder" and weights.shape[-2] != weights.shape[-1]:
        what = t(
            "weights over {weights_shape} places for {value} positions",
            weights_shape=weights.shape[-1],
            value=weights.shape[-2],
        )
    if what is not None:
        raise ValueError(
            t(
                "{name} cannot be captured: it does not use the attention interface of "
                "transformers, and as its {kind} attentions it returns {what}",
                name=name,
                kind=kind,
                what=what,
            )
        )
