"""What a question changes of a model of somebody else: one row of weights, or heads that say nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor

from regard.hf.modules import Kind, attending
from regard.hf.steered_weights import Site, steer
from regard.looking.guests.compared_towers import sees
from regard.records.question import BadQuestion, Force, Question
from regard.words import t


class Heads(NamedTuple):
    """Of one kind of attention."""

    layers: tuple[int, ...]  # as modules count them, in their order
    heads: int


@contextmanager
def changed(
    model: Any, question: Question, kinds: Mapping[Kind, Heads], forced: Kind, keys: int
) -> Iterator[None]:
    """Inside the block, a run of the model as the question wants it.

    forced: the kind that a forced row is of; keys: how many it has.
    """
    if question.force is None and not question.off:
        yield
        return
    _check(question, kinds, forced, keys)
    texts = any(not sees(each.name) for each in attending(model))  # beside which a picture is read

    def change(site: Site, weights: Tensor) -> Tensor | None:
        place = kinds[site.kind].layers.index(site.layer) + 1
        other = None
        for off in question.off:
            if (off.map, off.layer) == (site.kind, place) and not (texts and sees(site.name)):
                other = weights.clone() if other is None else other
                other[:, slice(None) if off.head is None else off.head - 1] = 0
        force = question.force
        if force is not None and site.kind == forced and force.layer in (None, place):
            row = force.step - site.start
            if 0 <= row < weights.shape[2]:
                other = weights.clone() if other is None else other
                heads = slice(None) if force.head is None else force.head - 1
                other[:, heads, row] = _shares(force, weights)
        return other

    with steer(model, change):
        yield


def _shares(force: Force, weights: Tensor) -> Tensor:
    row = weights.new_zeros(weights.shape[-1])
    row[torch.tensor(force.keys, device=weights.device)] = weights.new_tensor(force.shares)
    return row


def _check(question: Question, kinds: Mapping[Kind, Heads], forced: Kind, keys: int) -> None:
    for off in question.off:
        if off.map not in kinds:
            raise BadQuestion(t("this model has no {map} attention to switch off", map=off.map))
        there = kinds[off.map]  # type: ignore[index]
        _within("off.layer", off.layer, len(there.layers))
        _within("off.head", off.head, there.heads)
    if (force := question.force) is None:
        return
    if forced not in kinds:
        raise BadQuestion(t("the weights of this model cannot be forced"))
    _within("force.layer", force.layer, len(kinds[forced].layers))
    _within("force.head", force.head, kinds[forced].heads)
    if max(force.keys) >= keys:
        raise BadQuestion(
            t(
                "force.keys has {key}, but there are {keys} tokens, counted from 0",
                key=max(force.keys),
                keys=keys,
            )
        )
    if forced == "decoder" and max(force.keys) > force.step:
        raise BadQuestion(
            t(
                "token {query} cannot look at token {key}, which comes later",
                query=force.step + 1,
                key=max(force.keys) + 1,
            )
        )
    if forced != "cross" and force.step >= keys:
        raise BadQuestion(
            t(
                "force.step is {step}, but there are {keys} tokens, from 0",
                step=force.step,
                keys=keys,
            )
        )


def _within(name: str, number: int | None, count: int) -> None:
    if number is not None and number > count:
        raise BadQuestion(
            t.plural(
                count,
                "{name} is {number}, but there is {n}",
                "{name} is {number}, but there are {n}",
                name=name,
                number=number,
            )
        )
