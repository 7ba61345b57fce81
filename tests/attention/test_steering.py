"""Steered attention: an attention's own weights change nothing, others only what they should."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

import regard
from regard.attention.recording import recording
from regard.attention.steering import Steer, steering
from regard.models import transformer_models as family
from regard.models.presets import luong, recurrent, rnnsearch, tutorial
from regard.search import Search, search

V, BOS = 23, 2
SOURCE = torch.tensor([[5, 6, 7, 8, 9, 10, 3], [11, 12, 13, 3, 0, 0, 0]])
MASK = SOURCE != 0
INPUTS = torch.tensor([[2, 4, 5, 6, 7], [2, 8, 9, 10, 11]])
SMALL = {"size": 16, "heads": 4, "inner": 24, "norm": "pre", "dropout": 0.0}
NEAR = {"region": "window(1)"}


def small(place: str = "before", **options) -> nn.Module:
    return recurrent(V, V, embedding=6, hidden=8, place=place, **options)


MODELS = {
    **{place: lambda p=place: small(p) for place in ("before", "after", "between", "next")},
    "input-feeding": lambda: small("after", input_feeding=True),
    "window": lambda: small(attention={"region": "window(2)"}),
    "predicted-window": lambda: small(attention={"region": "predicted-window(width=2)"}),
    "sparsemax": lambda: small(attention={"normalize": "sparsemax"}),
    "hard": lambda: small(attention={"normalize": "hard"}),
    "location": lambda: tutorial(V, V, hidden=8, max_length=5),
    "rnnsearch": lambda: rnnsearch(V, V, embedding=6, hidden=8, maxout=4, init="default"),
    "luong": lambda: luong(V, V, embedding=6, hidden=8, layers=2, init="default"),
    "transformer": lambda: family.transformer(V, V, **SMALL, encoder_layers=2, decoder_layers=2),
    "grouped-heads": lambda: family.transformer(
        V, V, **SMALL, key_heads=2,
        encoder_layers=1, decoder_layers=2,
    ),
    "windows": lambda: family.transformer(
        V, V, **SMALL, encoder_layers=2, decoder_layers=2, encoder_attention=NEAR,
        decoder_attention=NEAR, cross_attention=NEAR,
    ),
}  # fmt: skip


def filled(model: nn.Module) -> nn.Module:
    """With weights large enough that every part matters."""
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for p in model.parameters():
            p.normal_(std=0.4, generator=generator)
    return model.eval()


def logits(model: nn.Module, inputs: Tensor = INPUTS) -> Tensor:
    return model.decoder.project(model(SOURCE, MASK, inputs).outputs)


def stepwise(model: nn.Module, inputs: Tensor = INPUTS) -> Tensor:
    state, found = model.decoder.start(model.encode(SOURCE, MASK)), []
    for tokens in inputs.unbind(1):
        step = model.decoder.step(tokens, state)
        state = step.state
        found.append(step.logits)
    return torch.stack(found, 1)


def whole_maps(model: nn.Module) -> dict[str, Tensor]:
    """The weights of every attention of a run over whole targets, steps joined."""
    kept: dict[str, list[Tensor]] = {}
    with torch.no_grad(), recording(model) as recorded:
        logits(model)
    for name, weights, *_ in recorded:
        kept.setdefault(name, []).append(weights)
    return {name: torch.cat(parts, -2) for name, parts in kept.items()}


def everywhere(weights: Tensor) -> Steer:
    return Steer(weights, torch.ones(len(weights), weights.shape[-2], dtype=torch.bool))


def changed(weights: Tensor, row: int) -> Steer:
    """At one row all heads look at the second key; elsewhere nonsense that must not be used."""
    forced = torch.full_like(weights, 7.0)
    forced[..., row, :] = 0.0
    forced[..., row, 1] = 1.0
    rows = torch.zeros(len(weights), weights.shape[-2], dtype=torch.bool)
    rows[:, row] = True
    return Steer(forced, rows)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("run", [logits, stepwise])
def test_its_own_weights_change_nothing(name, run):
    model = filled(MODELS[name]())
    before, maps = run(model), whole_maps(model)
    with steering(model, {name: everywhere(weights) for name, weights in maps.items()}):
        after = run(model)
        again = run(model)
    torch.testing.assert_close(after, before, atol=1e-6, rtol=1e-5)
    assert torch.equal(again, after)
    assert torch.equal(run(model), before)


@pytest.mark.parametrize("name", MODELS)
def test_steps_are_steered_as_whole_targets_are(name):
    model = filled(MODELS[name]())
    plan = {n: changed(w, 2) for n, w in whole_maps(model).items() if n.startswith("decoder")}
    before = logits(model)
    with steering(model, plan):
        whole, steps = logits(model), stepwise(model)
    torch.testing.assert_close(steps, whole, atol=1e-5, rtol=1e-5)
    assert torch.equal(whole[:, :2], before[:, :2])  # what was said before the row knows nothing
    assert not torch.allclose(whole[:, 2], before[:, 2], atol=1e-4)


@pytest.mark.parametrize("recorded_first", [True, False])
def test_what_is_recorded_and_reported_is_what_was_used(recorded_first):
    model = filled(MODELS["transformer"]())
    maps, name = whole_maps(model), "decoder.blocks.1.cross"
    steer = changed(maps[name], 3)
    if recorded_first:
        with recording(model) as recorded, steering(model, {name: steer}):
            decoded = model(SOURCE, MASK, INPUTS, weights=True)
    else:
        with steering(model, {name: steer}), recording(model) as recorded:
            decoded = model(SOURCE, MASK, INPUTS, weights=True)
    (kept,) = (each.weights for each in recorded if each.name == name)
    assert torch.equal(kept[..., 3, :], steer.weights[..., 3, :])
    torch.testing.assert_close(kept[..., :3, :], maps[name][..., :3, :])
    assert model.decoder.reported == 1
    assert decoded.attended.weights[:, 3, 1].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("name", ["before", "window", "luong", "transformer", "windows"])
def test_all_hypotheses_of_a_search_are_steered(name):
    model = filled(MODELS[name]())
    crosses = [n for n in whole_maps(model) if n == "decoder.attention" or n.endswith("cross")]
    heads = (1,) if "blocks" in crosses[0] else ()  # the same for all of them
    steer = changed(torch.zeros(1, *heads, 6, 7), 2)
    encoded = model.encode(SOURCE[:1], MASK[:1])
    settings = Search(beam=4, nbest=4, max_length=6, attention=True)
    free = search(model.decoder, encoded, settings)[0]
    with steering(model, dict.fromkeys(crosses, steer)):
        found = search(model.decoder, encoded, settings)[0]
        assert [h.score for h in found] != [h.score for h in free]
        for hypothesis in found:
            assert hypothesis.attention[2].tolist() == [0, 1, 0, 0, 0, 0, 0]
            inputs = torch.tensor([[BOS, *hypothesis.tokens]])
            said = [*hypothesis.tokens, 3][: len(hypothesis.log_probs)]
            with torch.no_grad():
                outputs = model.decoder(inputs, encoded).outputs
                scored = model.decoder.project(outputs).log_softmax(-1)
            log_probs = [float(scored[0, t, token]) for t, token in enumerate(said)]
            assert log_probs == pytest.approx(hypothesis.log_probs, abs=1e-5)


def test_each_sentence_has_weights_of_its_own_for_all_its_hypotheses():
    """Hypotheses that are asked as rows, and (where positions matter) as sentences."""
    for name in ("before", "window"):
        model = filled(MODELS[name]())
        weights = torch.zeros(2, 3, 7)
        weights[0, :, 0] = weights[1, :, 2] = 1.0
        rows = torch.tensor([[True, True, False]])
        state = model.decoder.start(model.encode(SOURCE, MASK))
        with steering(model, {"decoder.attention": Steer(weights, rows)}):
            step = model.decoder.step(torch.tensor([BOS, BOS]), state, weights=True)
            twice = step.state.select(torch.tensor([0, 0, 1, 1]))
            step = model.decoder.step(torch.tensor([4, 5, 6, 7]), twice, weights=True)
            last = model.decoder.step(torch.tensor([4, 5, 6, 7]), step.state, weights=True)
        assert step.attended.weights.argmax(-1).tolist() == [0, 0, 2, 2]
        assert step.attended.weights.amax(-1).tolist() == [1.0] * 4
        assert last.attended.weights.amax() < 1.0


def test_gradients_reach_the_given_weights():
    model = filled(MODELS["before"]())
    weights = whole_maps(model)["decoder.attention"].requires_grad_()
    rows = torch.zeros(2, 5, dtype=torch.bool)
    rows[:, 1] = True
    with steering(model, {"decoder.attention": Steer(weights, rows)}):
        logits(model)[:, 1].logsumexp(-1).sum().backward()
    assert weights.grad[:, 1].abs().sum() > 0
    assert weights.grad[:, [0, 2, 3, 4]].abs().sum() == 0


def test_an_attention_on_its_own_is_steered_by_positions_and_by_steps():
    attention = regard.Attention(8, 6, score="additive")
    query, states, weights = torch.randn(1, 4, 8), torch.randn(1, 5, 6), torch.rand(1, 4, 5)
    memory = attention.remember(states)
    with steering(attention, {"": everywhere(weights)}):
        whole = attention(query, states, weights=True)
        steps = [attention(q, memory, weights=True) for q in query.split(1, 1)]
    assert torch.equal(whole.weights, weights)
    torch.testing.assert_close(whole.context, weights @ states)
    torch.testing.assert_close(torch.cat([s.context for s in steps], 1), whole.context)


def test_a_wrong_plan_is_refused_with_what_is_right():
    model = filled(MODELS["transformer"]())
    rows = torch.ones(1, 5, dtype=torch.bool)
    steer = Steer(torch.zeros(1, 4, 5, 7), rows)
    with pytest.raises(ValueError, match="Did you mean 'decoder\\.blocks\\.0\\.cross'"):
        steering(model, {"decoder.blocks.0.kross": steer}).__enter__()
    name = "decoder.blocks.0.cross"
    for weights, message in (
        (torch.zeros(1, 5, 7), "heads, Q, K"),
        (torch.zeros(1, 4, 5, 6), "has 7 keys"),
        (torch.zeros(3, 4, 5, 7), "for 3 sentences, but 2 came"),
    ):
        with (
            pytest.raises(ValueError, match=message),
            steering(model, {name: Steer(weights, rows)}),
        ):
            logits(model)
    with pytest.raises(ValueError, match="with the Q of the rows"):
        Steer(torch.zeros(1, 4, 6, 7), rows)
    with pytest.raises(ValueError, match="must be bool"):
        Steer(torch.zeros(1, 4, 5, 7), rows.float())
    assert not model.decoder.blocks[0].cross._forward_hooks


def test_one_head_is_steered_and_the_others_have_their_own_weights():
    torch.manual_seed(0)
    attention = regard.MultiHead(8, 6, heads=2)
    query, states = torch.randn(2, 3, 8), torch.randn(2, 5, 6)
    given = torch.softmax(torch.randn(1, 1, 3, 5), -1)
    rows = torch.tensor([[[False, False, False], [False, True, False]]])  # head 1 at query 1
    own = attention(query, states, weights=True)
    with steering(attention, {"": Steer(given, rows)}):
        steered = attention(query, states)
    expected = own.weights.clone()
    expected[:, 1, 1] = given[0, 0, 1]
    torch.testing.assert_close(steered.weights, expected)
    values = attention.recall(attention.remember(states))[1]
    torch.testing.assert_close(steered.context, attention.merge(expected @ values))
    assert torch.equal(steered.context[:, [0, 2]], own.context[:, [0, 2]])
    with pytest.raises(ValueError, match="the weights to steer by"):
        Steer(given[0], rows)


@pytest.mark.parametrize("heads", [None, 2])
def test_who_is_sent_to_a_state_that_is_not_finite_gets_nan(heads):
    layer = regard.Attention(8) if heads is None else regard.MultiHead(8, heads=heads)
    model = nn.Sequential(layer)
    x = torch.randn(1, 4, 8)
    x[0, 2] = torch.nan
    weights = torch.zeros(1, *(() if heads is None else (heads,)), 4, 4)
    weights[..., 0, 2] = weights[..., 1, 3] = 1.0
    with steering(model, {"0": Steer(weights, torch.tensor([[True, True, False, False]]))}):
        context = model(x).context
    assert context.isnan().any(-1).tolist() == [[True, False, True, True]]
