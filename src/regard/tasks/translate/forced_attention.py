"""What if it had looked elsewhere? One step of a translation attends to what it is told to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

from regard.attention.module import AttentionModule
from regard.attention.steering import Steer, steering
from regard.records.maps import Attentions, heads_of
from regard.records.question import BadQuestion, Force
from regard.words import t


@contextmanager
def forcing(
    model: nn.Module, force: Force | None, attentions: Attentions, keys: int
) -> Iterator[None]:
    """Inside the block, the run of the model that begins in it attends as it is told to.

    attentions: those to the source, a layer each; keys: the tokens of the source with its end.
    """
    if force is None:
        yield
        return
    _check(force, attentions, keys)
    names = [*attentions] if force.layer is None else [[*attentions][force.layer - 1]]
    with steering(model, {name: _steer(force, attentions[name], keys) for name in names}):
        yield


def _steer(force: Force, attention: AttentionModule, keys: int) -> Steer:
    weights = torch.zeros(1, force.step + 1, keys)
    weights[0, force.step, list(force.keys)] = torch.tensor(force.shares)
    rows = (torch.arange(force.step + 1) == force.step)[None]
    if not attention.heads_axis:
        return Steer(weights, rows)
    if force.head is not None:
        rows = rows & (torch.arange(heads_of(attention)) == force.head - 1)[:, None]
        rows = rows[None]
    return Steer(weights[:, None], rows)


def _check(force: Force, attentions: Attentions, keys: int) -> None:
    if not attentions:
        raise BadQuestion(t("this model does not attend to the source: there is nothing to force"))
    heads = min(map(heads_of, attentions.values()))
    for name, count in (("layer", len(attentions)), ("head", heads)):
        number = getattr(force, name)
        if number is not None and number > count:
            raise BadQuestion(
                t.plural(
                    count,
                    "force.{name} is {number}, but there is {n}",
                    "force.{name} is {number}, but there are {n}",
                    name=name,
                    number=number,
                )
            )
    if max(force.keys) >= keys:
        raise BadQuestion(
            t(
                "force.keys has {keys}, but the source has {value} tokens (its end is one), "
                "counted from 0",
                keys=max(force.keys),
                value=keys,
            )
        )
