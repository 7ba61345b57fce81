"""What if it had looked elsewhere? One step of a translation attends to what it is told to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from regard.attention.attend import Attended
from regard.attention.memory import Memory
from regard.attention.module import Attends, MultiHead
from regard.attention.steering import Steer, steering
from regard.looking.maps import Attentions, heads_of
from regard.looking.question import BadQuestion, Force, Question
from regard.view.record import Side


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
    names = [*attentions] if force.layer is None else [[*attentions][force.layer]]
    with ExitStack() as undo:
        plan = {name: _steer(force, attentions[name], keys) for name in names}
        undo.enter_context(steering(model, plan))
        if force.head is not None:
            for attention in (attentions[name] for name in names):
                if isinstance(attention, MultiHead):
                    undo.enter_context(_in_one_head(attention, force.head))
        yield


def forced_note(question: Question, sides: Mapping[str, Side]) -> tuple[str, ...]:
    """What was forced, and what was not, a line each."""
    if (force := question.force) is None:
        return ()
    source, target = sides["source"].tokens, sides["target"].tokens
    if force.step >= len(target):
        return (f"nothing was forced: the translation ends before token {force.step + 1}",)
    where = [f"layer {force.layer + 1}"] if force.layer is not None else []
    where += [f"head {force.head + 1}"] if force.head is not None else []
    words = ", ".join(source[key] for key in force.keys)
    note = (
        f"forced: token {force.step + 1} ({target[force.step]}) attends to {words} "
        f"in {', '.join(where) or 'every cross-attention'}"
    )
    unforced = "the measures of explanation are of the model as it is, without force"
    return (note, unforced) if question.explain else (note,)


def _steer(force: Force, attention: Attends, keys: int) -> Steer:
    weights = torch.zeros(1, force.step + 1, keys)
    weights[0, force.step, list(force.keys)] = 1 / len(force.keys)
    rows = torch.arange(force.step + 1) == force.step
    return Steer(weights[:, None] if attention.heads_axis else weights, rows[None])


@contextmanager
def _in_one_head(attention: MultiHead, head: int) -> Iterator[None]:
    """Inside a `steering` of all heads: the others have their own weights back."""
    own: list[Tensor] = []

    def ask(_: nn.Module, args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        return args, {**kwargs, "weights": True}

    def keep(_: nn.Module, __: Any, output: Attended) -> None:
        assert output.weights is not None
        own.append(output.weights)

    def give_back(_: nn.Module, args: tuple[Tensor, Memory], output: Attended) -> Attended:
        assert output.weights is not None
        steered = torch.arange(attention.heads, device=output.weights.device) == head
        weights = torch.where(steered[:, None, None], output.weights, own.pop())
        values = attention.recall(args[1])[1]
        return Attended(attention.merge(weights.to(values) @ values), weights, output.choice)

    with ExitStack() as undo:
        for handle in (
            attention.register_forward_pre_hook(ask, with_kwargs=True),
            attention.register_forward_hook(keep, prepend=True),  # before the steering
            attention.register_forward_hook(give_back),
        ):
            undo.callback(handle.remove)
        yield


def _check(force: Force, attentions: Attentions, keys: int) -> None:
    if not attentions:
        raise BadQuestion("this model does not attend to the source: there is nothing to force")
    heads = min(map(heads_of, attentions.values()))
    for name, count in (("layer", len(attentions)), ("head", heads)):
        number = getattr(force, name)
        if number is not None and number >= count:
            raise BadQuestion(
                f"force.{name} is {number}, but there {'is' if count == 1 else 'are'} {count}, "
                "counted from 0"
            )
    if max(force.keys) >= keys:
        raise BadQuestion(
            f"force.keys has {max(force.keys)}, but the source has {keys} tokens (its end is one), "
            "counted from 0"
        )
