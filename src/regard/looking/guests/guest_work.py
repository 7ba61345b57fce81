"""How much work a model of somebody else has with an input, by its sizes."""

from __future__ import annotations

from typing import Any

from regard.explanations.model_work import FEATURE, ModelWork
from regard.hf.modules import KINDS, Kind, attending
from regard.looking.guests.guest_changes import Heads

WIDTHS = ("hidden_size", "d_model", "n_embd", "dim")
COUNTS = ("num_attention_heads", "encoder_attention_heads", "n_head", "num_heads", "n_heads")
DEPTHS = ("num_hidden_layers", "n_layer", "num_layers", "n_layers")


def heads_in(model: Any) -> dict[Kind, Heads]:
    """The attentions of a model by kind; of one that does not use the interface, as its config says."""
    config = model.config
    found = attending(model)
    if not found:
        kind: Kind = "decoder" if model.can_generate() else "encoder"
        layers = _number(config, DEPTHS) or 1
        return {kind: Heads(tuple(range(layers)), _number(config, COUNTS) or 1)}
    heads: dict[Kind, Heads] = {}
    for kind in KINDS:
        of_kind = [each for each in found if each.kind == kind]
        if of_kind:
            layers_of = tuple(dict.fromkeys(each.layer for each in of_kind))
            module = of_kind[0].module
            count = _number(module, COUNTS) or _number(getattr(module, "config", config), COUNTS)
            heads[kind] = Heads(layers_of, count or 1)
    return heads


def guest_work(model: Any) -> ModelWork:
    width = _number(model.config, WIDTHS) or 64
    kinds = heads_in(model)
    layers = {kind: len(kinds[kind].layers) if kind in kinds else 0 for kind in KINDS}
    heads = {kind: layers[kind] * kinds[kind].heads if kind in kinds else 0 for kind in KINDS}
    pairs = {kind: FEATURE * 2.0 * width * layers[kind] for kind in KINDS}
    token = float(sum(each.numel() for each in model.parameters()))
    return ModelWork(
        token,
        pairs["cross"],
        pairs["encoder"],
        pairs["decoder"],
        (heads["cross"], heads["encoder"], heads["decoder"]),
    )


def _number(owner: Any, names: tuple[str, ...]) -> int | None:
    for name in names:
        if isinstance(number := getattr(owner, name, None), int):
            return number
    inner = getattr(owner, "text_config", None)
    return None if inner is None else _number(inner, names)
