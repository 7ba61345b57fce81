"""Every attention of every model says truly whether a vector that is not attended to enters its weights."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from regard.attention.memory import Memory
from regard.attention.module import AttentionModule
from regard.attention.multi_head import MultiHead
from regard.attention.pooling import AttentionPooling
from regard.options import ModelOptions
from regard.recipe.recipe import Recipe
from regard.registry import BUILT_IN, find, kinds
from regard.tasks.recipe_task import task_of

SMALL = {"size": 8, "embedding": 8, "hidden": 8, "inner": 8, "maxout": 8, "heads": 2, "layers": 2}
MODELS = kinds("models")
TRANSLATORS = [kind for kind in MODELS if find("models", kind).task == "translate"]
LENGTH = 6


def built(kind: str) -> nn.Module:
    """A model of this kind, small, of random weights."""
    options: type[ModelOptions] = find("models", kind)
    small = {name: value for name, value in SMALL.items() if name in options.model_fields}
    (reads, *_) = getattr(options, "reads", ("",))
    task = {"kind": options.task} | ({"input": reads} if reads else {})
    given = {"task": task, "model": {"kind": kind, **small}}
    recipe = Recipe.model_validate(given)
    sizes = {name: field.any_size for name, field in task_of(recipe).fields.items()}
    torch.manual_seed(0)
    model = recipe.model.build(sizes).double().eval()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.8)
    return model


def attentions(model: nn.Module) -> dict[str, AttentionModule]:
    return {n: m for n, m in model.named_modules() if isinstance(m, AttentionModule)}


@pytest.mark.parametrize("kind", MODELS)
def test_the_weights_of_self_attention_are_deaf_to_another_query_and_those_of_general_are_not(kind):
    for name, attention in attentions(built(kind)).items():
        if attention.key_size is None:
            assert attention.kind == "self", name
            continue  # there is no other text: the next test
        states = torch.randn(2, LENGTH, attention.key_size).double()
        queries = (torch.randn(2, 3, attention.query_size).double() for _ in range(2))
        here, there = (attention(query, states, weights=True).weights for query in queries)
        assert torch.allclose(here, there) == (attention.kind == "self"), name


@pytest.mark.parametrize("kind", MODELS)
def test_a_pooling_has_a_query_of_its_own(kind):
    for name, pooling in built(kind).named_modules():
        if isinstance(pooling, AttentionPooling):
            assert pooling.kind == "self", name
            states = torch.randn(2, LENGTH, pooling._size()).double()
            other = torch.cat([states[:1], torch.randn_like(states[1:])])
            torch.testing.assert_close(pooling(states).weights[0], pooling(other).weights[0])


def run(model: nn.Module, task: str, seed: int) -> None:
    """A forward pass over a source that is always the same and a target drawn by the seed."""
    mask = torch.ones(2, LENGTH, dtype=torch.bool)
    source = torch.tensor([[4, 3, 4, 4, 3, 4], [3, 3, 4, 3, 4, 4]])
    target = torch.randint(3, 5, (2, LENGTH), generator=torch.Generator().manual_seed(seed))
    match task:
        case "translate":
            model(source, mask, target)
        case "classify":
            model(source, mask, target[:, :1])
        case "language":
            model(source[:, :1], mask[:, :1], source)
        case "masked":
            model.encode(source, mask)
        case "tag":
            model(source, mask, source[..., None].expand(-1, -1, 3))
        case _:
            pytest.skip(f"nothing here knows what a model for {task} reads")


@pytest.mark.parametrize("kind", BUILT_IN["models"])
def test_what_a_model_hands_to_self_attention_is_one_sequence(kind):
    """Where there is no source of keys, the keys are those of the queries' own sequence."""
    model, task = built(kind), find("models", kind).task
    if "text" not in getattr(find("models", kind), "reads", ("text",)):
        pytest.skip("it reads no plain text")
    seen: list[tuple[AttentionModule, tuple[Any, ...]]] = []
    for attention in attentions(model).values():
        attention.register_forward_hook(lambda module, args, _: seen.append((module, args)))
    run(model, task, 0)
    assert bool(seen) == bool(attentions(model))
    for attention, (query, *source) in seen:
        if attention.key_size is None:
            memory = source[0] if source else attention.remember(query)
            assert isinstance(memory, Memory)
            torch.testing.assert_close(attention.remember(query).keys, memory.keys)


@pytest.mark.parametrize("kind", TRANSLATORS)
def test_another_target_moves_general_weights_and_leaves_those_of_the_source_alone(kind):
    model = built(kind)
    kept: dict[str, list[torch.Tensor]] = {}
    for name, attention in attentions(model).items():
        attention.register_forward_pre_hook(
            lambda _, args, given: (args, {**given, "weights": True}), with_kwargs=True
        )
        attention.register_forward_hook(
            lambda _, args, made, name=name: kept.setdefault(name, []).append(made.weights)
        )
    run(model, "translate", 0)
    first = {name: torch.cat(each, -2) for name, each in kept.items()}
    kept.clear()
    run(model, "translate", 1)
    for name, attention in attentions(model).items():
        same = torch.allclose(first[name], torch.cat(kept[name], -2))
        assert same == name.startswith("encoder."), name
        heads = isinstance(attention, MultiHead)
        assert first[name].dim() == (4 if heads else 3)
