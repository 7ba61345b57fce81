"""What may not be attended reaches nothing, whatever it holds; a bad key reaches those that may attend
to it, and a bad query its own row: forward and backward, for every mechanism and in the modules."""

from __future__ import annotations

import copy
import math

import definition
import pytest
import torch
from torch import Tensor

import regard
from regard.attention.normalizers import NORMALIZERS, as_normalizer
from regard.regions import PredictedWindow

POISONS = [math.nan, math.inf, -math.inf, 3e38, -1e30]
REGIONS = [
    "everywhere",
    "causal",
    "window(2)",
    "window(3) & causal",
    "atrous(3)",
    "sparse(3)",
    "~window(1)",
    "predicted-window(4)",
]
SCORES = list(definition.all_scores())
poisons = pytest.mark.parametrize("poison", POISONS, ids=str)


def of_kind(kind: str) -> dict[str, Tensor | None]:
    """Masks under which the last 3 of 20 states are padding, or states that nobody may attend."""
    real = (torch.arange(20) < 17).expand(2, 20)
    return {"padding": real, "pairs": real[:, None, :] & (torch.rand(2, 20, 20) < 0.8)}[kind]


@pytest.mark.parametrize("kind", ["padding", "pairs"])
@pytest.mark.parametrize("region", REGIONS)
@pytest.mark.parametrize("heads", [None, 2, "grouped"])
def test_states_that_nobody_may_attend_reach_no_output_and_no_gradient(heads, region, kind):
    mask = of_kind(kind)
    for score in ("scaled-dot", "additive", "cosine", "concat"):
        options = {"score": score, "region": region}
        if heads is None:
            layer = regard.Attention(8, **options)
        else:
            grouped = {"key_heads": 1} if heads == "grouped" else {}
            layer = regard.MultiHead(8, heads=2, **grouped, **options)
        x, query = torch.randn(2, 20, 8), torch.randn(2, 20, 8)
        x[:, 17:] = 0.1
        for own in (True, False) if kind == "padding" else (False,):  # does padding ask as well?
            wanted = outcome(layer, query, x, mask, own)
            for poison in POISONS:
                spoilt = x.clone()
                spoilt[:, 17:] = poison
                for name, a in outcome(layer, query, spoilt, mask, own).items():
                    torch.testing.assert_close(
                        a, wanted[name], msg=lambda m, n=name, p=poison: f"{n}, {p}: {m}"
                    )


def outcome(layer, query: Tensor, states: Tensor, mask: Tensor, own: bool) -> dict[str, Tensor]:
    """The context of what is real, and the gradients of a loss that uses nothing else."""
    layer = copy.deepcopy(layer)
    layer(torch.zeros(1, 1, 8))  # the parameters of a predicted window have their size now
    states = states.clone().requires_grad_()
    torch.manual_seed(5)
    asking = (states,) if own else (query, states)
    context = layer(*asking, mask=mask).context
    context = context[:, :17] if own else context
    context.square().sum().backward()
    grads = {name: p.grad for name, p in layer.named_parameters() if p.grad is not None}
    return {"context": context, "states": states.grad, **grads}


@poisons
@pytest.mark.parametrize("region", [r for r in REGIONS if r != "predicted-window(4)"])
def test_a_query_reaches_its_own_row_alone(region, poison):
    for (name, score), normalize in (
        (pair, n) for pair in definition.all_scores(torch.float32).items() for n in NORMALIZERS
    ):
        if normalize == "gumbel":
            normalize = "gumbel(straight_through=true)"
        q, k = torch.randn(90, 4), torch.randn(90, 4)
        options = {"score": score, "region": region, "normalize": normalize}
        clean = regard.attend(q, k, **options).context
        q[0] = poison
        got = regard.attend(q, k, **options).context
        case = f"{name}, {normalize}"
        torch.testing.assert_close(got[1:], clean[1:], msg=lambda m, c=case: f"{c}: {m}")
        sees = region != "~window(1)"
        if math.isnan(poison) and normalize != "uniform" and sees:
            assert got[0].isnan().all(), case


@pytest.mark.parametrize("normalize", [*NORMALIZERS, "gumbel(straight_through=true)"])
@pytest.mark.parametrize("training", [False, True])
def test_a_row_with_a_nan_score_is_nan_and_no_other(normalize, training):
    scores = torch.randn(4, 6)
    scores[1, 2] = scores[3, 4] = torch.nan
    allowed = torch.ones(4, 6, dtype=torch.bool)
    allowed[3, 4] = False
    weights, _ = as_normalizer(normalize)(scores, allowed, training=training)
    if normalize != "uniform":  # which looks at no score
        assert weights[1].isnan().any()
    assert weights[[0, 2, 3]].isfinite().all()


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("region", [r for r in REGIONS if r != "predicted-window(4)"])
@pytest.mark.parametrize("score", SCORES)
def test_one_rule_for_a_bad_key_in_every_region(score, region, weights):
    """An infinite key is as bad as a NaN, also where the score of it would be finite, or -inf."""
    mechanism = definition.all_scores(torch.float32)[score]
    queries, keys, value = torch.randn(2, 40, 4), torch.randn(2, 40, 4), torch.randn(2, 40, 3)
    seen = regard.attend(queries, keys, score="scaled-dot", region=region, weights=True).weights
    for poison in (math.nan, math.inf, -math.inf):
        spoilt_keys, spoilt_values = keys.clone(), value.clone()
        spoilt_keys[1, 3], spoilt_values[1, 3] = poison, poison
        reached = torch.zeros(2, 40, dtype=torch.bool)
        reached[1] = seen[1, :, 3] > 0
        for k, v in ((spoilt_keys, value), (keys, spoilt_values)):
            if score == "location" and k is spoilt_keys:
                continue  # which looks at no key
            if score == "location":
                reached &= torch.tensor(mechanism.max_keys > 3)
            got = regard.attend(queries, k, v, score=mechanism, region=region, weights=weights)
            assert torch.equal(got.context.isnan().all(-1), reached)
            assert torch.equal(got.context.isnan().any(-1), reached)


@poisons
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("region", ["everywhere", "causal", "window(3)", "atrous(4)", "sparse(8)"])
@pytest.mark.parametrize("score", SCORES)
def test_an_empty_row_has_finite_gradients_whatever_its_query_holds(score, region, dtype, poison):
    mechanism = definition.all_scores(dtype)[score]
    q, k, v = (torch.randn(2, 80, 4, dtype=dtype) for _ in range(3))
    mask = torch.ones(2, 80, 80, dtype=torch.bool)
    mask[0, 5] = False  # one row of pairs, and a source without a real key
    for allowed, empty in ((mask, (0, 5)), (torch.tensor([True, False])[:, None, None], (1,))):
        q_spoilt = q.clone()
        q_spoilt[empty] = poison
        clean, spoilt = (
            [x.clone().requires_grad_() for x in (given, k, v)] for given in (q, q_spoilt)
        )
        contexts = [
            regard.attend(*x, score=mechanism, region=region, mask=allowed).context
            for x in (clean, spoilt)
        ]
        assert contexts[1][empty].eq(0).all()
        grads = [
            torch.autograd.grad(c.square().sum(), x, allow_unused=True, materialize_grads=True)
            for c, x in zip(contexts, (clean, spoilt), strict=True)
        ]
        for a, b in zip(*grads, strict=True):
            torch.testing.assert_close(b, a)


@pytest.mark.parametrize("normalize", ["softmax", "softmax(0.5)", "sparsemax", "raw", "uniform"])
@pytest.mark.parametrize("score", ["dot", "scaled-dot", "bilinear", "concat", "location"])
def test_where_all_scores_are_held_overflow_stays_in_the_rows_that_may_see_it(score, normalize):
    """The dense path promises more than the fused: huge finite keys and values spoil no earlier row,
    nor what its query learns. (The keys learn from the later rows too, which are NaN.)
    """
    mechanism = definition.all_scores(torch.float32)[score]
    q, k, v = (torch.randn(1, 12, 4) for _ in range(3))
    options = {"score": mechanism, "region": "causal", "normalize": normalize, "weights": True}

    def rows_before(key: Tensor, value: Tensor) -> list[Tensor]:
        query = q.clone().requires_grad_()
        context = regard.attend(query, key, value, **options).context[:, :3]
        if normalize == "uniform":  # which asks no query
            return [context]
        return [context, torch.autograd.grad(context.sum(), query)[0][:, :3]]

    wanted = rows_before(k, v)
    for number in (3e38, -3e38):
        key, value = k.clone(), v.clone()
        key[:, 5], value[:, 5] = number, number
        for a, b in zip(rows_before(key, value), wanted, strict=True):
            torch.testing.assert_close(a, b)


DEVICES = [
    "cpu",
    pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")),
]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("number", [3e38, -3e38])
@pytest.mark.parametrize(
    ("path", "score", "region", "length"),
    [
        ("sdpa", "scaled-dot", "causal", 40),
        ("additive", "additive", "causal", 40),
        ("additive-fused", "additive", "causal", 4200),
        ("sparse", "scaled-dot", "sparse(8) & causal", 300),
        ("sparse", "scaled-dot", "sparse(8)", 300),
    ],
)
def test_paths_that_promise_it_keep_overflow_from_rows_that_may_not_see_it(
    path, score, region, length, number, device
):
    mechanism = definition.all_scores(torch.float32)[score].to(device)
    q, k, v = (torch.randn(1, length, 4, device=device) for _ in range(3))
    options = {"score": mechanism, "region": region}
    assert regard.explain(q, k, v, **options).path == path
    clean = regard.attend(q, k, v, **options).context
    seen = regard.attend(q[:, :40], k[:, :40], region=region, weights=True).weights[0, :, 25] > 0
    k[:, 25], v[:, 25] = number, number
    got = regard.attend(q, k, v, **options).context
    torch.testing.assert_close(got[:, :40][:, ~seen], clean[:, :40][:, ~seen])


@pytest.mark.parametrize("autocast", [False, True])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_a_predicted_window_is_placed_in_float32_at_least(dtype, autocast):
    region = PredictedWindow(10, 16)
    query = torch.randn(4, 30, 16).to(dtype)
    exact = copy.deepcopy(region).double() if autocast else copy.deepcopy(region).to(dtype).double()
    region = region if autocast else region.to(dtype)
    with torch.autocast("cpu", dtype=dtype, enabled=autocast):
        got = region.centre(query, 1000)
    assert got.dtype == torch.float32
    torch.testing.assert_close(got.double(), exact.centre(query.double(), 1000), rtol=0, atol=1e-3)


@pytest.mark.parametrize("region", REGIONS)
@pytest.mark.parametrize("normalize", list(NORMALIZERS))
def test_without_any_key_there_is_nothing_masked_or_not(normalize, region):
    region = region.replace("causal", "causal(end)")
    placed = PredictedWindow(4, 8) if region.startswith("predicted") else region
    q, k = torch.randn(2, 3, 8, requires_grad=True), torch.randn(2, 0, 8, requires_grad=True)
    for mask in (None, torch.ones(2, 1, 0, dtype=torch.bool), torch.ones(2, 3, 0).bool()):
        for weights in (False, True):
            got = regard.attend(
                q, k, region=placed, normalize=normalize, mask=mask, weights=weights
            )
            assert got.context.shape == (2, 3, 8)
            assert got.context.eq(0).all()


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_a_value_that_only_float32_can_hold_spoils_its_rows_alone_under_autocast(dtype, weights):
    x, v = torch.randn(6, 8), torch.randn(6, 8)
    v[3] = 3.4e38
    with torch.autocast("cpu", dtype=dtype):
        attend = regard.attend(x, x, v, region="causal", weights=weights).context
        own = v.clone()
        own[:3], own[4:] = x[:3], x[4:]
        module = regard.Attention(8, region="causal")(own).context
    for context in (attend, module):
        assert context.isnan().any(-1).tolist() == [False] * 3 + [True] * 3


@pytest.mark.parametrize("poison", [math.nan, math.inf], ids=str)
@pytest.mark.parametrize("score", ["scaled-dot", "additive", "cosine", "distance"])
def test_what_a_memory_keeps_from_its_queries_reaches_no_parameter(score, poison):
    for layer in (
        regard.Attention(8, 8, score=score, region="window(1, 0)"),
        regard.MultiHead(8, 8, heads=2, score=score, region="window(1, 0)"),
        regard.MultiHead(8, 8, heads=2, key_heads=1, score=score, region="window(1, 0)"),
    ):
        states = torch.randn(1, 4, 8)
        states[0, 0] = poison
        states.requires_grad_()
        memory = layer.remember(states[:, :2]).append(states[:, 2:])
        pairs = torch.ones(1, 1, 4, dtype=torch.bool)
        pairs[..., 0] = False
        for asked in ({"offset": 3}, {"offset": 1, "mask": pairs}):
            context = layer(torch.randn(1, 1, 8), memory, **asked).context
            grads = torch.autograd.grad(
                context.sum(), [states, *layer.parameters()], allow_unused=True, retain_graph=True
            )
            assert context.isfinite().all()
            assert all(grad is None or grad.isfinite().all() for grad in grads)


@poisons
def test_the_query_of_an_empty_row_reaches_no_parameter_of_a_predicted_window(poison):
    region = PredictedWindow(2.0, 8)
    query = torch.randn(3, 8)
    query[1] = poison
    query.requires_grad_()
    mask = torch.ones(1, 3, 5, dtype=torch.bool)
    mask[:, 1] = False
    context = regard.attend(query, torch.randn(1, 5, 8), region=region, mask=mask).context
    context.sum().backward()
    assert context.isfinite().all()
    assert all(x.grad.isfinite().all() for x in (query, region.weight, region.vector))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("keys", [1, 5, 15, 16, 40])
def test_a_nan_query_is_never_healed(keys, dtype):
    """Torch's own kernel on a CPU gives 0 for it where there are fewer than 16 keys."""
    for score in ("dot", "scaled-dot", "bilinear", "cosine", "concat", "additive", "distance"):
        mechanism = definition.all_scores(dtype)[score]
        q, k = torch.randn(2, 2, 3, 4, dtype=dtype), torch.randn(2, 2, keys, 4, dtype=dtype)
        q[0, 0, 0] = torch.nan
        for region in ("everywhere", "causal(end)", "window(20)"):
            context = regard.attend(q, k, score=mechanism, region=region).context
            seen = regard.attend(q, k, region=region, weights=True).weights[0, 0, 0].isnan().any()
            assert context[0, 0, 0].isnan().all() == seen, (score, region)
            assert context[1].isfinite().all()
    heads = regard.MultiHead(4, 4, heads=2)
    assert heads(q[:, 0].float(), k[:, 0].float()).context[0, 0].isnan().all()


@pytest.mark.parametrize("bad", [-math.inf, math.inf, math.nan])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("region", ["window(1)", "window(0)", "causal", "everywhere"])
def test_a_query_without_end_is_no_empty_row(region, dtype, bad):
    """All its scores are -inf, which is not as if it had no key."""
    k = torch.tensor([[1.0, 0.0], [2.0, 0.0], [1.0, 1.0]], dtype=dtype)
    q, v = torch.ones_like(k), torch.arange(3, dtype=dtype)[:, None]
    q[0, 0] = bad
    for weights in (False, True, regard.Weights(entropy=True, largest=1)):
        found = regard.attend(q, k, v, region=region, weights=weights)
        assert found.context.isnan().squeeze(-1).tolist() == [True, False, False]
        if weights is True:
            seen = regard.attention.regions.as_region(region).mask(3, 3)
            assert torch.equal(
                found.weights.isnan(), seen & torch.tensor([[True], [False], [False]])
            )
