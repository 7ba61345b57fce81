"""Every attention of every model says truly whether a vector that is not attended to enters its weights."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
import torch
from registered_models import MODELS, built, drawn, drawn_of, run, texts_of
from torch import Tensor, nn

from regard.attention.memory import Memory
from regard.attention.module import AttentionModule
from regard.attention.multi_head import MultiHead
from regard.attention.pooling import AttentionPooling
from regard.models.reader_answers import Pointer
from regard.registry import find

TRANSLATORS = [kind for kind in MODELS if find("models", kind).task == "translate"]
SEVERAL = [kind for kind in MODELS if len(texts_of(kind)) > 1]
SPAN = {"answers": "span"}
# Options with which a model attends to what it does not attend to as usual; the first is as it is.
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "luong": [{}, {"attention": "local-p"}, {"score": "location"}],
    "recurrent": [{}, {"attention": {"normalize": "uniform"}}, {"attention": {"dynamic": False}}],
    "recurrent-language": [{"attention": {}}],
    "classifier": [{}, {"encoder": "transformer"}],
    "abcnn": [{"variant": variant, "width": 2} for variant in (1, 2, 3)],
    "reader": [
        {},
        {"focus": "uniform"},
        {"focus": "impatient"},
        {"focus": "impatient", "question": "general", "attention": {"dynamic": False}},
        {"question": "general"},
        {"question": "self", "focus": "last"},
        {"task": SPAN},
        {"task": SPAN, "dynamic": True},
    ],
    "deep-lstm-reader": [{}, {"task": SPAN}],
}
WAYS = [
    pytest.param(kind, way, id=f"{kind}-{number}")
    for kind in MODELS
    if find("models", kind).task != "embed"  # whose weights are of places, and not attention's
    for number, way in enumerate(VARIANTS.get(kind, [{}]))
]
OF_SEVERAL = [way for way in WAYS if way.values[0] in SEVERAL]


def attentions(model: nn.Module) -> dict[str, AttentionModule]:
    return {n: m for n, m in model.named_modules() if isinstance(m, AttentionModule)}


def poolings(model: nn.Module) -> dict[str, AttentionPooling]:
    return {n: m for n, m in model.named_modules() if isinstance(m, AttentionPooling)}


class Call(NamedTuple):
    """One call of one attention inside a model."""

    name: str
    query: Tensor | None  # None: of a pooling, which has its own
    states: Tensor  # what is attended to: states, or the keys that are remembered of them
    given: tuple[Any, dict[str, Any]]
    weights: Tensor


def calls(model: nn.Module, kind: str, texts: dict[str, Tensor]) -> list[Call]:
    """All of them, in a forward pass over these texts."""
    seen: list[Call] = []
    undo = []
    if find("models", kind).task == "read":
        texts = {name: text for name, text in texts.items() if _reads(model, name)}

    def ask(_: nn.Module, args: Any, given: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        return args, {**given, "weights": True}

    def keep(name: str) -> Any:
        def kept(_: nn.Module, args: Any, given: dict[str, Any], made: Any) -> None:
            if isinstance(made.weights, Tensor):
                query, *source = args if hasattr(made, "context") else (None, *args)
                states = query if not source else source[0]
                states = states.keys if isinstance(states, Memory) else states
                seen.append(Call(name, query, states, (args, given), made.weights))

        return kept

    for name, part in (attentions(model) | poolings(model)).items():
        if isinstance(part, AttentionModule):
            undo.append(part.register_forward_pre_hook(ask, with_kwargs=True))
        undo.append(part.register_forward_hook(keep(name), with_kwargs=True))
    with torch.no_grad():
        run(model, kind, texts)
    for each in undo:
        each.remove()
    return seen


def _reads(model: nn.Module, name: str) -> bool:
    return name != "candidates" or hasattr(model, "output")


@pytest.mark.parametrize(("kind", "way"), WAYS)
def test_a_query_that_is_not_attended_to_moves_the_weights_if_and_only_if_it_is_general(kind, way):
    """In place: what the model itself attends with and to, and its query changed alone."""
    model = built(kind, **way)
    found = calls(model, kind, drawn_of(kind))
    parts = attentions(model)
    pointers = {f"{n}.attention" for n, m in model.named_modules() if isinstance(m, Pointer)}
    assert {call.name for call in found} | pointers == {*parts, *poolings(model)}
    for call in found:
        if call.query is None:
            assert poolings(model)[call.name].kind == "self", call.name
            continue
        attention, ((query, *source), given) = parts[call.name], call.given
        if attention.key_size is None:  # the queries are the states that are attended to
            assert attention.kind == "self", call.name
            memory = source[0] if source else attention.remember(query)
            assert isinstance(memory, Memory)
            torch.testing.assert_close(attention.remember(query).keys, memory.keys)
            continue
        other = torch.randn(query.shape, generator=torch.Generator().manual_seed(3)).to(query)
        moved = attention(other, *source, **given).weights
        assert torch.allclose(moved, call.weights) == (attention.kind == "self"), call.name


@pytest.mark.parametrize(("kind", "way"), WAYS)
def test_every_attention_tells_two_queries_apart_if_and_only_if_it_is_general(kind, way):
    """By itself, over states of any kind: also a pointer, whose scores are the answer of its model."""
    for name, attention in attentions(built(kind, **way)).items():
        if attention.key_size is None:
            assert attention.kind == "self", name
            continue
        states = torch.randn(2, 6, attention.key_size).double()
        queries = (torch.randn(2, 3, attention.query_size).double() for _ in range(2))
        here, there = (attention(query, states, weights=True).weights for query in queries)
        assert torch.allclose(here, there) == (attention.kind == "self"), name


@pytest.mark.parametrize(("kind", "way"), OF_SEVERAL)
def test_another_text_moves_the_weights_over_this_one_if_and_only_if_they_are_general(kind, way):
    """A text is changed; where what is attended to stays as it was, only a query can have moved them."""
    model = built(kind, **way)
    says = {name: part.kind for name, part in (attentions(model) | poolings(model)).items()}
    texts = drawn_of(kind)
    proved, touched = set(), set()
    before = calls(model, kind, texts)
    for name in texts:
        after = calls(model, kind, {**texts, name: drawn(name, 1)})
        for a, b in zip(before, after, strict=True):
            asked = a.query is not None and not torch.equal(a.query, b.query)
            if not torch.equal(a.states, b.states):
                touched.add((a.name, name))
            elif asked or says[a.name] == "self":
                moved = not torch.allclose(a.weights, b.weights)
                assert moved == (says[a.name] == "general"), (a.name, name)
                proved.add(a.name)
    for (
        call
    ) in before:  # what is read with the other text in mind is told by the test before this one
        knows_all = {(call.name, name) for name in texts if name != "candidates"} <= touched
        assert call.name in proved or knows_all, call.name


@pytest.mark.parametrize("kind", MODELS)
def test_a_pooling_has_a_query_of_its_own(kind):
    for name, pooling in poolings(built(kind)).items():
        assert pooling.kind == "self", name
        states = torch.randn(2, 6, pooling._size()).double()
        other = torch.cat([states[:1], torch.randn_like(states[1:])])
        torch.testing.assert_close(pooling(states).weights[0], pooling(other).weights[0])


def test_what_attends_without_a_module_says_it_too():
    """Bare self-attention has no parameters, and its model no module of the heart."""
    encoder = built("bare-classifier").encoder
    assert encoder.kind == "self"
    assert not attentions(encoder)
    assert not poolings(encoder)


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
    run(model, kind, drawn_of(kind), target=0)
    first = {name: torch.cat(each, -2) for name, each in kept.items()}
    kept.clear()
    run(model, kind, drawn_of(kind), target=1)
    for name, attention in attentions(model).items():
        same = torch.allclose(first[name], torch.cat(kept[name], -2))
        assert same == name.startswith("encoder."), name
        heads = isinstance(attention, MultiHead)
        assert first[name].dim() == (4 if heads else 3)
