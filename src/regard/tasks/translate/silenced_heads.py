"""What if some heads said nothing? Their weights are 0 for a whole translation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import torch
from torch import nn

from regard.attention.module import AttentionModule
from regard.attention.steering import Steer, steering
from regard.records.maps import Attentions, heads_of
from regard.records.question import LONGEST, BadQuestion, HeadOff
from regard.words import t


@contextmanager
def silencing(
    model: nn.Module, off: Sequence[HeadOff], attentions: Mapping[str, Attentions], keys: int
) -> Iterator[None]:
    """Inside the block, the run of the model that begins in it is without these heads.

    attentions: by their kind, a layer each; keys: the tokens of the source with its end.
    """
    heads: dict[str, set[int]] = {}
    modules: dict[str, AttentionModule] = {}
    for each in off:
        name, attention = _layer(each, attentions)
        count = heads_of(attention)
        if each.head is not None and each.head > count:
            raise BadQuestion(
                t("off.head is {head}, but there {are} in a layer", head=each.head, are=_are(count))
            )
        modules[name] = attention
        heads.setdefault(name, set()).update(range(count) if each.head is None else [each.head - 1])
    plan = {name: _silence(modules[name], which, keys) for name, which in heads.items()}
    with steering(model, plan):
        yield


def _layer(off: HeadOff, attentions: Mapping[str, Attentions]) -> tuple[str, AttentionModule]:
    layers = list(attentions.get(off.map, {}).items())
    if not layers:
        raise BadQuestion(t("this model has no {map} attention to switch off", map=off.map))
    if off.layer > len(layers):
        raise BadQuestion(
            t(
                "off.layer is {layer}, but there {are} ({map})",
                layer=off.layer,
                are=_are(len(layers)),
                map=off.map,
            )
        )
    return layers[off.layer - 1]


def _silence(attention: AttentionModule, heads: set[int], keys: int) -> Steer:
    """Weights of 0 at every query that there can be; they take no memory before they are used."""
    count = LONGEST if attention.key_size is None else keys  # a past grows, a source does not
    if not attention.heads_axis:
        return Steer(torch.zeros(1).expand(1, LONGEST, count), torch.ones(1, LONGEST).bool())
    rows = torch.zeros(1, heads_of(attention), LONGEST, dtype=torch.bool)
    rows[:, sorted(heads)] = True
    return Steer(torch.zeros(1).expand(1, 1, LONGEST, count), rows)


def _are(count: int) -> str:
    return f"is {count}" if count == 1 else t("are {count}", count=count)
