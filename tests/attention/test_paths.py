"""Every fast path equals the dense one: values, gradients, lengths that divide nothing, padding."""

from __future__ import annotations

import itertools
import math

import definition
import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

import regard
from regard.attention import call, paths
from regard.attention.call import AttentionCall
from regard.attention.limits import Limits
from regard.attention.normalizers import as_normalizer
from regard.attention.region import Pattern, Region
from regard.attention.regions import as_region

PATHS = {
    "sdpa": paths.sdpa,
    "one-row": paths.one_row,
    "strided": paths.strided,
    "blocks": paths.blocks,
    "sparse": paths.sparse,
    "additive-fused": paths.additive_fused,
}


def call_of(
    score: str, region: Region | str, normalize: str, mask: Tensor | None, *tensors: Tensor
) -> AttentionCall:
    q, k, v = tensors
    mechanism = definition.all_scores(q.dtype)[score]
    limits = Limits(as_region(region), mask, q.shape[-2], k.shape[-2], q.device)
    projected = mechanism.project_query(q), mechanism.project_key(k)
    return AttentionCall(mechanism, as_normalizer(normalize), *projected, v, limits)


def compare(path: str, *case, dtype: torch.dtype, lengths: tuple[int, int]) -> None:
    score, region, normalize, padded = case
    queries, keys = lengths
    q, k, v = (
        torch.randn(2, 2, n, d, dtype=dtype, requires_grad=True)
        for n, d in ((queries, 4), (keys, 4), (keys, 3))
    )
    mask = None
    if padded:
        mask = (torch.arange(keys) < torch.tensor([keys - 3, 1])[:, None])[:, None, None]
    posed = call_of(score, region, normalize, mask, q, k, v)
    fast, slow = PATHS[path](posed), paths.dense(posed)[0]
    tolerance = (
        {"rtol": 1e-9, "atol": 1e-10} if dtype == torch.float64 else {"rtol": 3e-4, "atol": 3e-5}
    )
    torch.testing.assert_close(fast, slow, **tolerance)
    probe = torch.randn(slow.shape, dtype=dtype)
    got, wanted = (
        torch.autograd.grad((c * probe).sum(), (q, k, v), allow_unused=True, retain_graph=True)
        for c in (fast, slow)
    )
    for a, b in zip(got, wanted, strict=True):
        if a is not None or b is not None:
            torch.testing.assert_close(
                torch.zeros_like(q) if a is None else a,
                torch.zeros_like(q) if b is None else b,
                **tolerance,
            )


both = pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
padding = pytest.mark.parametrize("padded", [False, True], ids=["full", "padded"])


@both
@padding
@pytest.mark.parametrize(
    "region", ["everywhere", "causal(start)", "causal(end)", "window(3, 1)", "~causal(start)"]
)
@pytest.mark.parametrize("score", ["dot", "scaled-dot", "bilinear", "cosine", "location", "concat"])
def test_sdpa(score, region, padded, dtype):
    for normalize in ("softmax", "softmax(0.5)", "softmax(0.05)"):
        compare("sdpa", score, region, normalize, padded, dtype=dtype, lengths=(6, 9))


@both
@padding
@pytest.mark.parametrize("normalize", ["softmax", "sparsemax"])
def test_one_row(normalize, padded, dtype):
    compare("one-row", "concat", "everywhere", normalize, padded, dtype=dtype, lengths=(6, 9))


@both
@padding
@pytest.mark.parametrize("lengths", [(16, 16), (17, 17), (5, 19), (19, 5), (3, 2)], ids=str)
@pytest.mark.parametrize(
    "region",
    [
        "atrous(4)",
        "atrous(5) & causal(start)",
        "atrous(3) & window(7, 2)",
        "atrous(4, align=8)",
        "atrous(2) & atrous(3)",
    ],
)
def test_strided(region, lengths, padded, dtype):
    for score, normalize in itertools.product(
        ("scaled-dot", "additive", "distance"), ("softmax", "raw")
    ):
        compare("strided", score, region, normalize, padded, dtype=dtype, lengths=lengths)


@both
@padding
@pytest.mark.parametrize("lengths", [(96, 96), (71, 71), (40, 110), (110, 40)], ids=str)
@pytest.mark.parametrize(
    "region",
    [
        "window(5)",
        "window(0, 7)",
        "window(9, 3) & causal(start)",
        "window(6, align=12)",
        "window(4, align=end)",
        "window(40, 2)",
    ],
)
def test_blocks(region, lengths, padded, dtype):
    for score, normalize in (
        ("scaled-dot", "softmax"),
        ("additive", "softmax"),
        ("dot", "sparsemax"),
    ):
        compare("blocks", score, region, normalize, padded, dtype=dtype, lengths=lengths)


@both
@padding
@pytest.mark.parametrize("lengths", [(64, 64), (61, 61), (33, 80), (80, 33)], ids=str)
@pytest.mark.parametrize(
    "region",
    ["sparse(5)", "sparse(8) & causal(start)", "sparse(6, align=12)", "atrous(7) | window(3, 1)"],
)
def test_sparse(region, lengths, padded, dtype):
    for score, normalize in (
        ("scaled-dot", "softmax"),
        ("additive", "softmax"),
        ("dot", "uniform"),
    ):
        compare("sparse", score, region, normalize, padded, dtype=dtype, lengths=lengths)


@both
@padding
@pytest.mark.parametrize("lengths", [(9, 9), (7, 40), (40, 7), (1, 5)], ids=str)
@pytest.mark.parametrize(
    "region", ["everywhere", "causal(start)", "causal(end)", "window(3, 1)", "window(2, align=4)"]
)
def test_additive_fused(region, lengths, padded, dtype):
    for normalize in ("softmax", "softmax(0.5)"):
        compare(
            "additive-fused", "additive", region, normalize, padded, dtype=dtype, lengths=lengths
        )


@pytest.mark.parametrize("score", ["scaled-dot", "additive"])
@pytest.mark.parametrize(
    ("region", "path"),
    [
        ("window(8)", "blocks"),
        ("atrous(8)", "strided"),
        ("sparse(32)", "sparse"),
        ("atrous(4) & causal", "strided"),
    ],
)
def test_the_plan_takes_the_path_and_it_agrees_at_length(score, region, path):
    x = torch.randn(1, 2, 1030, 4)
    mechanism = definition.all_scores(torch.float32)[score]
    if (score, path) != ("additive", "blocks"):  # its own kernel knows the band
        assert regard.explain(x, x, score=mechanism, region=region).path == path
    fast = regard.attend(x, x, score=mechanism, region=region).context
    slow = regard.attend(x, x, score=mechanism, region=region, weights=True).context
    torch.testing.assert_close(fast, slow, rtol=1e-4, atol=1e-5)


def test_the_plan_of_a_rearranged_problem_is_the_plan_that_runs():
    """`explain` foretells the inner path from shapes; the run decides it from tensors."""
    x = torch.randn(1, 2, 1030, 4)
    for region in ("window(8)", "atrous(8)", "atrous(8) & causal", "atrous(8) & window(64)"):
        plan = regard.explain(x, x, region=region)
        posed = call_of("scaled-dot", region, "softmax", None, x, x, x)
        ran = []
        real = call.run

        def spy(inner, p, real=real, ran=ran):
            ran.append(inner.path)
            return real(inner, p)

        call.run, keep = spy, call.run
        try:
            posed.compute()
        finally:
            call.run = keep
        foretold, step = [], plan
        while step is not None:
            foretold.append(step.path)
            step = step.inner
        assert ran == foretold


def test_dropout_on_the_fast_path_keeps_the_mean():
    q, k = torch.randn(1, 1, 4, 8), torch.randn(1, 1, 64, 8)
    plan = call_of("dot", "everywhere", "softmax", None, *(torch.randn(1, 4, 4),) * 3).plan()
    assert plan.path == "sdpa"
    many = [regard.attend(q, k, dropout=0.3, training=True).context for _ in range(1500)]
    torch.testing.assert_close(
        torch.stack(many).mean(0), regard.attend(q, k).context, atol=0.06, rtol=0
    )


def test_queries_that_share_their_weights_do_not_share_their_dropout():
    q, k = torch.randn(1, 8, 4), torch.randn(1, 64, 4)
    concat = regard.scores.Concat(4, 4)
    shared = regard.attend(q, k, score=concat).context
    torch.testing.assert_close(shared, shared[:, :1].expand_as(shared))
    dropped = regard.attend(q, k, score=concat, dropout=0.5, training=True).context
    assert not torch.allclose(dropped[:, 0], dropped[:, 1])


@pytest.mark.parametrize("length", [64, 100, 128, 300])
@pytest.mark.parametrize(
    "region", ["window(3, align={})", "sparse(4, align={})", "atrous(3, align={})"]
)
def test_queries_that_stand_beyond_all_keys_on_either_side(region, length):
    """As those of a target that is longer than its source."""
    for place in (-2 * length, -length - 4, -length, length, length + 4, 3 * length):
        q, k = torch.randn(length, 8), torch.randn(length, 8)
        named = region.format(place)
        got = regard.attend(q, k, region=named).context
        wanted = regard.attend(q, k, region=named, weights=True).context
        torch.testing.assert_close(got, wanted)


def test_a_rate_beyond_all_distances_costs_no_more_than_the_text_is_long():
    q, k = torch.randn(5, 8), torch.randn(7, 8)
    for region, near in (
        ("atrous({})", "window(0)"),
        ("atrous({}) & causal(end)", "window(0, align=end)"),
    ):
        got = regard.attend(q, k, region=region.format(10**12)).context
        torch.testing.assert_close(got, regard.attend(q, k, region=near).context)
        plan = regard.explain(q, k, region=region.format(10**12))
        assert plan.pairs <= 35


def test_masks_that_differ_by_sequence_are_counted_one_by_one():
    x, ids = torch.randn(2, 12, 8), torch.tensor([[0] * 6 + [1] * 6, [0] * 4 + [1] * 8])
    pairs = torch.ones(2, 12, 12, dtype=torch.bool).tril()
    for given in (
        {"region": regard.regions.Documents(ids) & regard.regions.Causal()},
        {"region": regard.regions.Prefix(ids[:, 6])},
        {"mask": pairs},
    ):
        plan = regard.explain(x, x, **given)
        assert (plan.path, plan.stored, plan.holds) == ("sdpa", 2 * 12 * 12 * 5, "mask")
    for given in ({"region": regard.regions.Documents(ids[0])}, {"mask": pairs[:1]}):
        assert regard.explain(x, x, **given).stored == 12 * 12 * 5  # the same for both
    heads = regard.MultiHead(8, heads=4, region=regard.regions.Documents(ids))
    assert heads.explain(x).stored == 2 * 12 * 12 * 5  # for all heads


def test_a_mask_of_all_pairs_is_told():
    x, keys = torch.randn(1, 12, 8), torch.ones(1, 1, 12, dtype=torch.bool)
    pairs = 12 * 12 * 5  # true or false, and the numbers that torch's kernel makes of them
    for given, stored, said in (
        ({}, 0, "all weights"),
        ({"mask": keys}, 0, "all weights"),
        ({"region": "causal"}, 0, "all weights"),
        ({"mask": keys.mT & keys}, pairs, "all weights"),
        ({"region": "causal", "mask": keys}, pairs, "together are a mask of all pairs here"),
        ({"region": "first(4) | window(1)"}, pairs, "the region is a mask of all pairs here"),
        ({"region": "(first(4) | window(1)) & causal"}, pairs, "is a mask of all pairs here"),
    ):
        plan = regard.explain(x, x, **given)
        assert (plan.path, plan.stored) == ("sdpa", stored)
        assert plan.why.endswith(said)


class OfAllPairs(TorchDispatchMode):
    """How many tensors of all pairs are whole numbers, and how many are numbers that were filled."""

    def __init__(self, pairs):
        super().__init__()
        self.pairs, self.whole, self.filled = pairs, 0, 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **kwargs or {})
        for x in tree_leaves(out):
            if isinstance(x, torch.Tensor) and x.numel() >= self.pairs:
                self.whole += x.dtype == torch.int64
                self.filled += x.is_floating_point() and "masked_fill." in str(function)
        return out


@pytest.mark.parametrize(
    "region", ["(first(4) | window(8)) & causal", "causal", "window(9, after=3)"]
)
def test_a_region_is_no_distances_of_all_pairs(region):
    q, k, v = torch.randn(3, 40, 8)
    bias = torch.randn(40, 40)
    with OfAllPairs(40 * 40) as made:
        regard.attend(q, k, v, region=region, mask=torch.rand(40, 40) < 0.9)
    assert made.whole == 0
    with OfAllPairs(40 * 40) as made:
        regard.attend(q, k, v, region="causal", bias=bias)
    assert made.filled == 1  # the bias with -inf


def test_what_is_between_queries_and_keys_is_what_their_distances_say():
    places, keys = torch.arange(-7, 12), torch.arange(9)
    for before, after, rate in itertools.product(
        (math.inf, 0, 3, -2), (math.inf, 0, 2, -1), (1, 3)
    ):
        pattern = Pattern(before, after, rate)
        wanted = pattern.holds(places[:, None] - keys)
        assert torch.equal(pattern.between(places, keys), wanted)
        assert torch.equal(pattern.between(places.expand(2, -1), keys), wanted.expand(2, -1, -1))
