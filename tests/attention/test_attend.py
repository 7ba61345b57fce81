"""Every score × region × normaliser equals the definition, in values and in gradients."""

from __future__ import annotations

import inspect

import definition
import pytest
import torch

import regard
from regard.attention.regions import as_region

SCORES = list(definition.all_scores())
B, LQ, LK, D, DV = 3, 6, 7, 4, 3


def inputs(dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, ...]:
    """Ragged: row 0 is full, row 1 padded with NaN and inf, row 2 has nothing to attend to."""
    generator = torch.Generator().manual_seed(3)
    q, k, v = (
        torch.randn(B, n, d, dtype=torch.float64, generator=generator)
        for n, d in ((LQ, D), (LK, D), (LK, DV))
    )
    mask = torch.ones(B, 1, LK, dtype=torch.bool)
    mask[1, :, 4:] = False
    mask[2] = False
    k[1, 4:], v[1, 5:], k[2, 0], v[2, 3] = torch.nan, torch.inf, -torch.inf, torch.nan
    return (*(x.to(dtype).requires_grad_() for x in (q, k, v)), mask)


def expected(score, region, normalize, q, k, v, mask, bias=None):
    rows = [
        definition.attend(
            q[b],
            k[b],
            v[b],
            score,
            definition.REGIONS[region],
            normalize,
            mask[b].expand(LQ, LK),
            bias,
        )
        for b in range(B)
    ]
    return torch.stack([c for c, _ in rows]), torch.stack([w for _, w in rows])


@pytest.mark.parametrize("weights", [False, True], ids=["context", "weights"])
@pytest.mark.parametrize("region", definition.REGIONS)
@pytest.mark.parametrize("score", SCORES)
def test_every_combination_equals_the_definition(score, region, weights):
    for normalize in definition.NORMALIZERS:
        mechanism = definition.all_scores()[score]
        q, k, v, mask = inputs()
        parameters = [q, k, v, *mechanism.parameters()]
        context, rows = expected(mechanism, region, normalize, q, k, v, mask)
        attended = regard.attend(
            q, k, v, score=mechanism, region=region, normalize=normalize, mask=mask, weights=weights
        )
        torch.testing.assert_close(attended.context, context)
        probe = torch.linspace(-1, 1, context.numel(), dtype=torch.float64).view_as(context)
        wanted, got = (
            torch.autograd.grad((c * probe).sum(), parameters, allow_unused=True)
            for c in (context, attended.context)
        )
        for name, a, b in zip([*"qkv", *["parameter"] * 9], got, wanted, strict=False):
            a, b = (torch.zeros(()) if x is None else x for x in (a, b))
            assert a.isfinite().all(), (normalize, name)
            a, b = torch.broadcast_tensors(a, b.to(a.dtype).nan_to_num())
            torch.testing.assert_close(a, b, msg=lambda m, at=(normalize, name): f"{at}: {m}")
        if weights:
            torch.testing.assert_close(attended.weights, rows)
            assert not attended.weights[1, :, 4:].any()
            assert not attended.weights[2].any()
        else:
            assert attended.weights is None


@pytest.mark.parametrize("region", definition.REGIONS)
@pytest.mark.parametrize("score", SCORES)
def test_every_combination_with_a_bias_equals_the_definition(score, region):
    for normalize in definition.NORMALIZERS:
        mechanism = definition.all_scores()[score]
        q, k, v, mask = inputs()
        bias = torch.randn(LQ, LK, dtype=torch.float64)
        wanted = expected(mechanism, region, normalize, q, k, v, mask, bias)
        asked = {"score": mechanism, "region": region, "normalize": normalize, "mask": mask}
        got = regard.attend(q, k, v, **asked, bias=bias, weights=True)
        torch.testing.assert_close(got[:2], wanted)


@pytest.mark.parametrize(
    "normalize", ["softmax", "sparsemax", "uniform", "hard", "hard(2)", "gumbel(0.7)"]
)
@pytest.mark.parametrize("region", definition.REGIONS)
def test_weights_are_a_distribution_over_what_is_allowed(region, normalize):
    q, k, v, mask = inputs()
    weights = regard.attend(
        q, k, v, region=region, normalize=normalize, mask=mask, training=True, weights=True
    ).weights
    allowed = as_region(region).mask(LQ, LK) & mask
    assert (weights >= 0).all()
    assert not weights[~allowed].any()
    torch.testing.assert_close(weights.sum(-1), allowed.any(-1).double())


@pytest.mark.parametrize(
    ("dtype", "tolerance"),
    [(torch.float32, 1e-5), (torch.bfloat16, 4e-2), (torch.float16, 6e-3)],
    ids=["float32", "bfloat16", "float16"],
)
@pytest.mark.parametrize("region", ["everywhere", "causal(start)", "sparse(3)"])
@pytest.mark.parametrize("score", SCORES)
def test_dtypes(score, region, dtype, tolerance):
    for normalize in ("softmax", "sparsemax", "raw", "uniform"):
        q, k, v, mask = inputs(dtype)
        low = definition.all_scores(dtype)[score]
        high = definition.all_scores(dtype)[score].double()  # the rounded parameters, exactly
        options = {"region": region, "normalize": normalize, "mask": mask}
        got = regard.attend(q, k, v, score=low, **options)
        exact = regard.attend(q.double(), k.double(), v.double(), score=high, **options)
        assert got.context.dtype == dtype
        torch.testing.assert_close(
            got.context.double(), exact.context, atol=tolerance, rtol=tolerance
        )
        got.context.float().sum().backward()
        assert all(x.grad.isfinite().all() for x in (q, k, v) if x.grad is not None)


@pytest.mark.parametrize("normalize", ["softmax", "raw", "uniform"])
@pytest.mark.parametrize("region", ["everywhere", "window(1)", "atrous(2)", "sparse(2)"])
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_any_leading_axes(score, region, normalize, dtype):
    torch.manual_seed(0)
    mechanism = definition.all_scores(dtype)[score]
    q, k, v = (torch.randn(2, 3, n, 4, dtype=dtype) for n in (5, 6, 6))
    options = {"score": mechanism, "region": region, "normalize": normalize}
    whole = regard.attend(q, k, v, **options).context
    for a in range(2):
        torch.testing.assert_close(regard.attend(q[a], k[a], v[a], **options).context, whole[a])
        single = regard.attend(q[a, 1], k[a, 1], v[a, 1], **options).context
        torch.testing.assert_close(single, whole[a, 1])
    one, many = q[:, :1], k[:1]
    spread = regard.attend(one, many, v, **options).context
    assert spread.shape == (2, 3, 5, 4)
    by_hand = regard.attend(one.expand(2, 3, 5, 4), many.expand(2, 3, 6, 4), v, **options).context
    torch.testing.assert_close(spread, by_hand)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("score", SCORES)
def test_a_row_does_not_depend_on_its_batch_or_its_padding(score, dtype):
    torch.manual_seed(1)
    mechanism = definition.all_scores(dtype)[score]
    q, k, v = (torch.randn(4, n, 4, dtype=dtype) for n in (3, 5, 5))
    lengths = torch.tensor([5, 2, 4, 1])
    mask = (torch.arange(5) < lengths[:, None])[:, None]
    together = regard.attend(q, k, v, score=mechanism, mask=mask).context
    for b, length in enumerate(lengths.tolist()):
        alone = regard.attend(
            q[b : b + 1], k[b : b + 1, :length], v[b : b + 1, :length], score=mechanism
        )
        torch.testing.assert_close(together[b : b + 1], alone.context)
    more_k, more_v = (torch.cat([x, torch.full_like(x, 1e30)], 1) for x in (k, v))
    more = torch.nn.functional.pad(mask, (0, 5))
    padded = regard.attend(q, more_k, more_v, score=mechanism, mask=more).context
    torch.testing.assert_close(padded, together)


@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 5, 1), (1, 1, 5), (4, 1, 1)], ids=str)
@pytest.mark.parametrize("score", SCORES)
def test_batch_one_and_length_one(score, shape):
    batch, queries, keys = shape
    mechanism = definition.all_scores(torch.float32)[score]
    q, k = torch.randn(batch, queries, 4), torch.randn(batch, keys, 4)
    attended = regard.attend(q, k, score=mechanism, weights=True)
    assert attended.context.shape == (batch, queries, 4)
    assert attended.weights.shape == (batch, queries, keys)
    torch.testing.assert_close(attended.weights.sum(-1), torch.ones(batch, queries))
    torch.testing.assert_close(regard.attend(q, k, score=mechanism).context, attended.context)


@pytest.mark.parametrize("shape", [(0, 3, 4), (2, 0, 4), (2, 3, 0)], ids=str)
@pytest.mark.parametrize("score", SCORES)
def test_nothing_to_attend_to(score, shape):
    batch, queries, keys = shape
    q, k, v = (
        torch.randn(batch, queries, 4),
        torch.randn(batch, keys, 4),
        torch.randn(batch, keys, 2),
    )
    mechanism = definition.all_scores(torch.float32)[score]
    attended = regard.attend(q, k, v, score=mechanism, region="window(1)", weights=True)
    assert attended.context.shape == (batch, queries, 2)
    assert attended.weights.shape == (batch, queries, keys)
    assert not attended.context.any()


@pytest.mark.parametrize(
    "score", ["dot", "scaled-dot", "bilinear", "cosine", "additive", "distance"]
)
def test_bare_self_attention_is_permutation_equivariant(score):
    mechanism = definition.all_scores()[score]
    x, order = torch.randn(2, 6, 4, dtype=torch.float64), torch.randperm(6)
    straight = regard.attend(x, x, score=mechanism).context
    shuffled = regard.attend(x[:, order], x[:, order], score=mechanism).context
    torch.testing.assert_close(shuffled, straight[:, order])


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize(
    "region", ["causal", "window(1)", "window(1, 0)", "sparse(2) & causal", "atrous(2)"]
)
@pytest.mark.parametrize("length", [6, 300])
def test_a_bad_key_reaches_only_the_queries_that_may_see_it(region, length, weights):
    """NaN and inf pass through a weight of 0: they must be kept out, not multiplied away."""
    torch.manual_seed(0)
    allowed = as_region(region).mask(length, length)
    for score in ("scaled-dot", "additive", "distance"):
        mechanism = definition.all_scores(torch.float32)[score]
        q, k, v = (torch.randn(2, length, 4) for _ in range(3))
        clean = regard.attend(q, k, v, score=mechanism, region=region).context
        k[0, 3, 0], v[0, 4, 1], v[1, 2] = torch.nan, torch.inf, -torch.inf
        q, k, v = (x.requires_grad_() for x in (q, k, v))
        attended = regard.attend(q, k, v, score=mechanism, region=region, weights=weights)
        for b, bad in ((0, [3, 4]), (1, [2])):
            sees = allowed[:, bad].any(-1)
            assert attended.context[b, sees].isnan().all()
            torch.testing.assert_close(attended.context[b, ~sees], clean[b, ~sees])
        attended.context.nan_to_num().sum().backward()
        assert all(x.grad.isfinite().all() for x in (q, k, v))


def test_dropout_acts_after_the_weights_are_reported_and_repeats_with_a_generator():
    q, k, v = torch.randn(2, 3, 4), torch.randn(2, 50, 4), torch.randn(2, 50, 4)

    def run(seed: int, training: bool = True) -> regard.Attended:
        generator = torch.Generator().manual_seed(seed)
        return regard.attend(
            q, k, v, dropout=0.5, training=training, weights=True, generator=generator
        )

    torch.testing.assert_close(run(1).context, run(1).context, rtol=0, atol=0)
    assert not torch.equal(run(1).context, run(2).context)
    torch.testing.assert_close(run(1).weights, run(1, training=False).weights)
    torch.testing.assert_close(run(1, training=False).context, regard.attend(q, k, v).context)
    many = torch.stack([run(seed).context for seed in range(2000)]).mean(0)
    torch.testing.assert_close(many, regard.attend(q, k, v).context, atol=0.05, rtol=0)


@pytest.mark.parametrize("normalize", ["hard", "gumbel", "gumbel(0.5, straight_through=true)"])
def test_draws_repeat_with_a_generator(normalize):
    q, k = torch.randn(2, 3, 4), torch.randn(2, 50, 4)
    draws = [
        regard.attend(
            q, k, normalize=normalize, training=True, generator=torch.Generator().manual_seed(seed)
        ).context
        for seed in (1, 1, 2)
    ]
    assert torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[0], draws[2])


def test_wrong_input_is_answered_with_what_was_given_and_what_was_expected():
    q, k, v = torch.randn(2, 3, 8), torch.randn(2, 5, 6), torch.randn(2, 4, 6)
    with pytest.raises(ValueError, match=r"one size, given query \(2, 3, 8\) and key \(2, 5, 6\)"):
        regard.attend(q, k)
    with pytest.raises(ValueError, match=r"one value for every key.*value \(2, 4, 6\)"):
        regard.attend(k, k, v)
    with pytest.raises(ValueError, match=r"leading axes must broadcast.*key \(3, 5, 6\)"):
        regard.attend(k, torch.randn(3, 5, 6))
    with pytest.raises(ValueError, match=r"at least two axes"):
        regard.attend(torch.randn(6), k)
    with pytest.raises(TypeError, match=r"floating-point dtype; given query int64, key float32"):
        regard.attend(torch.ones(2, 3, 6, dtype=torch.long), k)
    with pytest.raises(
        ValueError, match=r"Bilinear was made for key vectors of size 7, given key \(2, 5, 6\)"
    ):
        regard.attend(q, k, score=regard.scores.Bilinear(8, 7))
    with pytest.raises(TypeError, match=r"must be bool, True where a key may be attended"):
        regard.attend(k, k, mask=torch.ones(2, 5, 5))
    with pytest.raises(ValueError, match=r"\(\.\.\., Lq, Lk\) = \(2, 5, 5\); given \(2, 4, 5\)"):
        regard.attend(k, k, mask=torch.ones(2, 4, 5, dtype=torch.bool))
    with pytest.raises(TypeError, match="dtype; given query float32, key float64"):
        regard.attend(k, k.double())
    with pytest.raises(ValueError, match=r"mask\[:, None, None, :\]"):
        regard.attend(*[torch.randn(3, 2, 5, 6)] * 2, mask=torch.ones(3, 5, dtype=torch.bool))
    with pytest.raises(ValueError, match="dropout"):
        regard.attend(k, k, dropout=1.5)
    with pytest.raises(TypeError, match="call it to make one"):
        regard.attend(k, k, score=regard.scores.Dot)


def test_a_padding_mask_without_its_query_axis_is_refused_even_where_sizes_agree():
    x = torch.randn(5, 5, 4)  # 5 rows of length 5: (B, Lk) and (Lq, Lk) look the same
    with pytest.raises(ValueError, match=r"mask\[:, None, :\]"):
        regard.attend(x, x, mask=torch.ones(5, 5, dtype=torch.bool))
    with pytest.raises(ValueError, match=r"mask\[:, None, :\]"):
        regard.attend(x[:2], x[:2], mask=torch.ones(2, 5, dtype=torch.bool))
    pattern = torch.ones(5, 5, dtype=torch.bool).tril()
    torch.testing.assert_close(
        regard.attend(x[:2], x[:2], mask=pattern).context,
        regard.attend(x[:2], x[:2], region="causal").context,
    )


def test_a_named_score_with_parameters_warns_that_they_are_lost():
    x = torch.randn(2, 3, 4)
    with pytest.warns(UserWarning, match="lost when attend returns"):
        assert regard.attend(x, x, score="additive(6)").context.shape == (2, 3, 4)
    with pytest.warns(UserWarning, match=r"regard.regions.PredictedWindow\(...\)"):
        assert regard.attend(x, x, region="predicted-window(6)").context.shape == (2, 3, 4)


def test_explain_names_the_path_and_the_reason():
    x = torch.randn(1, 2, 2048, 8)
    additive, long = regard.scores.Additive(8, 8), torch.randn(1, 8192, 8)
    assert regard.explain(long, long, score=additive).path == "additive-fused"
    assert "kept for the gradient" in str(regard.explain(x, x, score=additive))
    paths = {
        "sdpa": {},
        "additive": {"score": additive},
        "one-row": {"score": regard.scores.Concat(8, 8)},
        "blocks": {"region": "window(8)"},
        "strided": {"region": "atrous(4)"},
        "sparse": {"region": "window(32) | atrous(64)"},
        "dense": {"weights": True},
    }
    for path, options in paths.items():
        plan = regard.explain(x, x, **options)
        assert plan.path == path
        assert str(plan).startswith(path)
    assert "asked for" in str(regard.explain(x, x, weights=True))
    assert "float64" in str(regard.explain(x.double(), x.double()))


def test_attend_and_explain_take_the_same_arguments_and_say_so():
    ours, plan = (inspect.signature(f).parameters for f in (regard.attend, regard.explain))
    assert list(ours) == list(plan)
    assert list(ours)[:5] == ["query", "key", "value", "score", "region"]
    assert {"mask", "bias", "weights"} <= set(ours)
    layer = regard.MultiHead(8, heads=2)
    asked, told = (inspect.signature(f).parameters for f in (layer.forward, layer.explain))
    assert list(asked) == list(told)
    assert {"source", "mask", "bias", "offset"} <= set(asked)
    x = torch.randn(2, 8)
    for asked, name in (
        (regard.attend, "attend"),
        (regard.explain, "explain"),
        (layer, "MultiHead"),
        (layer.explain, r"MultiHead\.explain"),
    ):
        told = rf"^{name}\(\) got an unexpected keyword argument 'maks'. Did you mean 'mask'\?"
        with pytest.raises(TypeError, match=told):
            asked(x, x, maks=None)
    with pytest.raises(TypeError, match=r"^attend\(\) missing a required argument: 'key'"):
        regard.attend(x)
