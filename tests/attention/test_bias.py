"""bias=: weights = normalize(score(q, k) + bias), on every path, with gradients; -inf forbids a pair."""

from __future__ import annotations

import math

import definition
import pytest
import torch
from torch import Tensor, nn

import regard
from regard.attention.recording import recording
from regard.attention.scores import as_score
from regard.attention.steering import Steer, steering

SCORES = list(definition.all_scores())
LENGTH = 300
PATHS = {  # region and score, and the path that they take
    "sdpa": ("everywhere", "scaled-dot"),
    "sdpa, causal": ("causal", "scaled-dot"),
    "blocks": ("window(8)", "scaled-dot"),
    "strided": ("atrous(4)", "scaled-dot"),
    "strided, causal": ("atrous(7) & causal", "scaled-dot"),
    "sparse": ("sparse(16)", "scaled-dot"),
    "dense": ("everywhere", "distance"),
    "additive": ("causal", "additive"),
    "one-row": ("everywhere", "concat"),
}
SHAPES = {
    "pairs": (LENGTH, LENGTH),
    "heads": (2, 1, 1),
    "keys": (2, 1, LENGTH),
    "queries": (LENGTH, 1),
    "all": (3, 2, LENGTH, LENGTH),
    "number": (),
}
paths = pytest.mark.parametrize("path", PATHS)


def tensors(dtype: torch.dtype = torch.float32, length: int = LENGTH) -> list[Tensor]:
    return [torch.randn(3, 2, length, 4, dtype=dtype) for _ in range(3)]


def single(score: str) -> regard.scores.Score:
    """In float32 with the parameters that it has in float64."""
    return definition.all_scores()[score].float()


def by_definition(
    q: Tensor, k: Tensor, v: Tensor, bias: Tensor, score: str, region: str
) -> tuple[Tensor, Tensor]:
    """In float64, with the whole matrix of scores."""
    scores = definition.all_scores()[score](q, k) + bias
    allowed = regard.attention.regions.as_region(region).mask(q.shape[-2], k.shape[-2])
    scores = scores.masked_fill(~allowed, -math.inf)
    empty = (scores == -math.inf).all(-1, keepdim=True)
    weights = scores.masked_fill(empty, 0.0).softmax(-1).masked_fill(empty, 0.0)
    return weights @ v, weights


def differentiated(context: Tensor, given: list[Tensor]) -> tuple[Tensor, ...]:
    probe = torch.linspace(-1, 1, context.numel(), dtype=torch.float64).view(context.shape)
    return torch.autograd.grad((context * probe.to(context)).sum(), given)


@pytest.mark.parametrize("shape", SHAPES)
@paths
def test_every_path_equals_the_definition_and_gives_the_bias_a_gradient(path, shape):
    region, score = PATHS[path]
    low = [*tensors(), torch.randn(SHAPES[shape])]
    high = [x.double().requires_grad_() for x in low]
    low = [x.requires_grad_() for x in low]
    made = single(score)
    got = regard.attend(*low[:3], score=made, region=region, bias=low[3]).context
    wanted = by_definition(*high, score, region)[0]
    torch.testing.assert_close(got.double(), wanted, rtol=1e-4, atol=1e-5)
    used = [x for x in (0, 1, 2, 3) if (x, path) != (0, "one-row")]
    for a, b in zip(
        differentiated(got, [low[x] for x in used]),
        differentiated(wanted, [high[x] for x in used]),
        strict=True,
    ):
        torch.testing.assert_close(a.double(), b, rtol=1e-3, atol=3e-4)


@paths
def test_a_bias_that_is_not_learnt_takes_the_fast_path_and_explain_says_so(path):
    region, score = PATHS[path]
    q, k, v = tensors()
    made = single(score)
    bias = torch.randn(2, 1, LENGTH)
    asked = {"score": made, "region": region, "bias": bias}
    assert regard.explain(q, k, v, **asked).path == path.split(",")[0]
    got = regard.attend(q, k, v, **asked).context
    wanted = by_definition(*(x.double() for x in (q, k, v, bias)), score, region)[0]
    torch.testing.assert_close(got.double(), wanted, rtol=1e-4, atol=1e-5)


def test_the_plan_tells_where_a_bias_goes():
    x, bias = torch.randn(1, 2, 64, 8), torch.randn(2, 64, 64)
    plan = regard.explain(x, x, bias=bias)
    assert plan.why.endswith("nobody asked for all weights; the bias is its mask")
    assert (plan.stored, plan.holds) == (2 * 64 * 64 * 4, "bias")
    learnt = regard.explain(x, x, bias=bias.requires_grad_())
    assert learnt.path == "dense"
    assert learnt.why == "torch's fused kernel gives a bias no gradient on a CPU"
    with torch.no_grad():
        assert regard.explain(x, x, bias=bias).path == "sdpa"
    long = torch.randn(1, 5000, 4)
    score = single("additive")
    assert regard.explain(long, long, score=score).path == "additive-fused"
    plan = regard.explain(long, long, score=score, bias=torch.zeros(5000))
    assert plan.path == "additive"
    assert plan.why.endswith("the fused kernel takes no bias")
    assert "axis has length 0" in regard.explain(x[:, :, :0], x, bias=bias[:, :0]).why


@pytest.mark.parametrize("normalize", ["softmax(0.7)", "sparsemax", "raw"])
@pytest.mark.parametrize("score", SCORES)
def test_gradcheck(score, normalize):
    made = definition.all_scores()[score]
    mask = torch.tensor([[[True, True, False]], [[True, True, True]]])
    q, k, v = (torch.randn(2, n, 4, dtype=torch.float64, requires_grad=True) for n in (2, 3, 3))
    for shape in ((2, 2, 3), (2, 1, 3), (1, 2, 3), (2, 1), (3,)):
        bias = torch.randn(shape, dtype=torch.float64, requires_grad=True)

        def context(q, k, v, bias):
            return regard.attend(
                q, k, v, score=made, normalize=normalize, mask=mask, bias=bias
            ).context

        assert torch.autograd.gradcheck(context, (q, k, v, bias))
    if normalize == "softmax(0.7)":
        assert torch.autograd.gradgradcheck(context, (q, k, v, bias))


def test_the_weights_are_the_normalised_sum():
    """On paper: dot scores (1, 3), a bias of (2, 0) makes them equal."""
    q, k = torch.tensor([[1.0]]), torch.tensor([[1.0], [3.0]])
    weights = regard.attend(q, k, score="dot", bias=torch.tensor([2.0, 0.0]), weights=True).weights
    torch.testing.assert_close(weights, torch.tensor([[0.5, 0.5]]))
    # after the score's own scale, before the temperature: (1 + 2) / 0.5 against 3 / 0.5 + ln 3 / 0.5
    bias = torch.tensor([2.0, math.log(3)])
    asked = {"score": "dot", "bias": bias, "normalize": "softmax(0.5)"}
    for more in ({"weights": True}, {}):
        context = regard.attend(q, k, **asked, **more).context
        torch.testing.assert_close(context, torch.tensor([[0.1 * 1 + 0.9 * 3]]))


def test_alibi_is_a_bias():
    """Press et al. 2022: s - m (i - j), under causal; the nearest key weighs most when all scores are 0."""
    i, j = torch.arange(6)[:, None], torch.arange(6)
    slopes = torch.tensor([0.5, 0.25])[:, None, None]
    zero, value = torch.zeros(1, 2, 6, 4), torch.randn(1, 2, 6, 3)
    bias = -slopes * (i - j)
    attended = regard.attend(zero, zero, value, region="causal", bias=bias, weights=True)
    powers = torch.exp(-slopes * (i - j)) * (j <= i)
    wanted = powers / powers.sum(-1, keepdim=True)
    torch.testing.assert_close(attended.weights, wanted.expand(1, 2, 6, 6))
    fast = regard.attend(zero, zero, value, region="causal", bias=bias).context
    torch.testing.assert_close(fast, wanted @ value)


class RelativeBias(nn.Module):
    """b(i - j), a learned number for each distance and head, far ones shared: as T5 has it."""

    def __init__(self, heads: int, farthest: int) -> None:
        super().__init__()
        self.farthest = farthest
        self.table = nn.Embedding(2 * farthest + 1, heads)

    def forward(self, queries: int, keys: int, start: int = 0) -> Tensor:
        distance = torch.arange(start, start + queries)[:, None] - torch.arange(keys)
        place = distance.clamp(-self.farthest, self.farthest) + self.farthest
        return self.table(place).movedim(-1, 0)  # (heads, Lq, Lk)


@pytest.mark.parametrize("region", ["everywhere", "window(3)", "sparse(4)"])
def test_a_relative_bias_is_learnt(region):
    """The targets come from an attention with a table; another table finds it back."""
    torch.manual_seed(0)
    theirs, ours = RelativeBias(2, 2), RelativeBias(2, 2)
    x = torch.randn(8, 2, 40, 4)
    with torch.no_grad():
        wanted = regard.attend(x, x, region=region, bias=theirs(40, 40)).context
    optimizer = torch.optim.Adam(ours.parameters(), 0.1)
    for _ in range(120):
        loss = (regard.attend(x, x, region=region, bias=ours(40, 40)).context - wanted).square()
        optimizer.zero_grad()
        loss.mean().backward()
        optimizer.step()
    assert loss.mean() < 1e-4


@paths
def test_minus_infinity_forbids_a_pair(path):
    region, score = PATHS[path]
    made = single(score)
    hidden = torch.rand(3, 2, 1, LENGTH) < 0.4
    if path != "one-row":
        hidden = hidden | (torch.rand(3, 2, LENGTH, LENGTH) < 0.4)
    bias = torch.zeros(hidden.shape).masked_fill(hidden, -math.inf)
    results = []
    for asked in ({"bias": bias}, {"mask": ~hidden}):
        given = [x.requires_grad_() for x in tensors_like(7)]
        context = regard.attend(*given, score=made, region=region, **asked).context
        results.append([context, *differentiated(context, given[1:])])
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


def tensors_like(seed: int) -> list[Tensor]:
    numbers = torch.Generator().manual_seed(seed)
    return [torch.randn(3, 2, LENGTH, 4, generator=numbers) for _ in range(3)]


@pytest.mark.parametrize("learns", [False, True], ids=["given", "learnt"])
@paths
def test_a_row_of_minus_infinity_is_an_empty_row(path, learns):
    region, score = PATHS[path]
    made = single(score)
    given = [x.requires_grad_() for x in tensors()]
    bias = torch.randn(LENGTH, LENGTH)
    bias[5] = -math.inf
    bias[7, 9:] = -math.inf
    if path == "one-row":
        bias = torch.full((1, LENGTH), -math.inf)
    bias.requires_grad_(learns)
    asked = {"score": made, "region": region, "bias": bias}
    context = regard.attend(*given, **asked).context
    assert context[:, :, 5].eq(0).all()
    assert context.isfinite().all()
    grads = torch.autograd.grad(context.sum(), [*given, *[bias] * learns], allow_unused=True)
    assert all(g is None or g.isfinite().all() for g in grads)
    if learns:
        assert grads[-1][bias == -math.inf].eq(0).all()
    weights = regard.attend(*given, **asked, weights=True).weights
    assert weights[:, :, 5].eq(0).all()


@pytest.mark.parametrize("normalize", ["softmax", "sparsemax", "raw", "uniform", "hard", "gumbel"])
def test_minus_infinity_forbids_under_every_normaliser(normalize):
    q, k = torch.randn(2, 4, 8), torch.randn(2, 6, 8)
    hidden = torch.rand(2, 4, 6) < 0.5
    hidden[0, 1] = True
    bias = torch.zeros(2, 4, 6).masked_fill(hidden, -math.inf)
    got = regard.attend(q, k, normalize=normalize, bias=bias, weights=True)
    wanted = regard.attend(q, k, normalize=normalize, mask=~hidden, weights=True)
    torch.testing.assert_close(got.weights, wanted.weights)
    torch.testing.assert_close(got.context, wanted.context)


@pytest.mark.parametrize("number", [math.nan, math.inf])
@paths
def test_nan_in_a_bias_spoils_the_rows_that_may_attend_there_and_no_others(path, number):
    region, score = PATHS[path]
    made = single(score)
    q, k, v = tensors()
    clean = torch.randn(LENGTH, LENGTH)
    bias, places = clean.clone(), [(3, 3), (40, 9), (9, 40), (LENGTH - 1, 0), (200, 196)]
    for i, j in places:
        bias[i, j] = number
    allowed = regard.attention.regions.as_region(region).mask(LENGTH, LENGTH)
    rows = sorted({i for i, j in places if allowed[i, j]})
    if path == "one-row":
        bias = clean = clean[:1]
        bias = bias.masked_fill(torch.arange(LENGTH) == 8, number)
        rows = list(range(LENGTH))
    for weights in (False, True):
        asked = {"score": made, "region": region, "weights": weights}
        got = regard.attend(q, k, v, **asked, bias=bias)
        wanted = regard.attend(q, k, v, **asked, bias=clean)
        assert got.context[:, :, rows].isnan().all()
        others = [i for i in range(LENGTH) if i not in rows]
        torch.testing.assert_close(got.context[:, :, others], wanted.context[:, :, others])
        if weights:
            assert (got.weights.isnan() == (allowed & bad_rows(rows))).all()


def bad_rows(rows: list[int]) -> Tensor:
    bad = torch.zeros(LENGTH, 1, dtype=torch.bool)
    bad[rows] = True
    return bad


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, 3e38])
@pytest.mark.parametrize("learns", [False, True], ids=["given", "learnt"])
@pytest.mark.parametrize("masked", [False, True])
@paths
def test_what_the_bias_holds_where_nobody_may_look_reaches_nothing(path, masked, learns, number):
    region, score = PATHS[path]
    made = single(score)
    allowed = regard.attention.regions.as_region(region).mask(LENGTH, LENGTH)
    mask = (torch.arange(LENGTH) < 250)[None, None, None] if masked else None
    allowed = allowed if mask is None else allowed & mask[0, 0]
    clean = torch.randn(LENGTH, LENGTH) if path != "one-row" else torch.randn(1, LENGTH)
    spoilt = clean.masked_fill(~allowed[: len(clean)], number)
    results = []
    for bias in (clean, spoilt):
        given = [*tensors_like(3), bias]
        for x in given[: 4 if learns else 3]:
            x.requires_grad_()
        context = regard.attend(*given[:3], score=made, region=region, mask=mask, bias=bias).context
        wanted = [x for x in given if x.requires_grad][path == "one-row" :]
        results.append([context, *differentiated(context, wanted)])
    for a, b in zip(*results, strict=True):
        assert torch.equal(a, b)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("single", [False, True], ids=["half", "single"])
def test_half_precision_takes_a_bias_of_its_own_or_of_float32(dtype, single):
    q, k, v = (x.to(dtype) for x in tensors(length=40))
    bias = (3 * torch.randn(40, 40)).to(torch.float32 if single else dtype)
    got = regard.attend(q, k, v, bias=bias).context
    assert got.dtype == dtype
    wanted = by_definition(*(x.double() for x in (q, k, v, bias)), "scaled-dot", "everywhere")[0]
    torch.testing.assert_close(got.double(), wanted, rtol=0.02, atol=0.02)


@pytest.mark.parametrize(
    ("bias", "error", "message"),
    [
        (
            torch.ones(3, 5, dtype=torch.bool),
            TypeError,
            "where keys may be attended is said by mask=",
        ),
        (torch.ones(3, 5).double(), TypeError, "dtype of the query, float32; given float64"),
        (torch.ones(3, 5).long(), TypeError, "dtype of the query, float32; given int64"),
        (
            torch.ones(5, 3),
            ValueError,
            r"broadcast to \(..., Lq, Lk\) = \(2, 3, 5\); given \(5, 3\)",
        ),
        (torch.ones(4, 3, 5), ValueError, r"given \(4, 3, 5\)"),
        (torch.ones(1, 2, 3, 5), ValueError, r"given \(1, 2, 3, 5\)"),
    ],
)
def test_mistakes_are_answered(bias, error, message):
    q, k = torch.randn(2, 3, 8), torch.randn(2, 5, 8)
    for function in (regard.attend, regard.explain):
        with pytest.raises(error, match=message):
            function(q, k, bias=bias)
    with pytest.raises(error, match=message):
        regard.Attention(8, 8)(q, k, bias=bias)


def test_heads_are_named_when_a_bias_does_not_fit_them():
    x = torch.randn(2, 5, 8)
    message = r"\(..., heads, Lq, Lk\) = \(2, 4, 5, 5\); given \(3, 5, 5\)"
    with pytest.raises(ValueError, match=message):
        regard.MultiHead(8, heads=4)(x, bias=torch.zeros(3, 5, 5))


@pytest.mark.parametrize("region", ["everywhere", "window(2)", "predicted-window(3)"])
@pytest.mark.parametrize("score", ["scaled-dot", "additive", "concat"])
def test_modules_add_it_to_the_scores_of_each_head(score, region):
    heads = regard.MultiHead(8, heads=2, score=score, region=region)
    x, bias = torch.randn(3, 6, 8), torch.randn(2, 6, 6)
    plain = heads.prepare(x, weights=True)
    scores = heads.score.pair(plain.query, plain.key) + bias
    wanted, _ = heads.normalize(scores, plain.limits.allowed)
    if plain.limits.factor is not None:
        wanted = wanted * plain.limits.factor
    got = heads(x, bias=bias, weights=True)
    torch.testing.assert_close(got.weights, wanted)
    torch.testing.assert_close(heads(x, bias=bias).context, got.context)
    assert heads.explain(x, bias=bias, weights=True).path == "dense"


@pytest.mark.parametrize("kind", ["single", "heads"])
@pytest.mark.parametrize("region", ["causal(end)", "window(2, 0, end)"])
def test_steps_equal_the_whole(region, kind):
    """The bias belongs to the call: each step brings that of its query and of the keys there are."""
    if kind == "single":
        attention, bias = regard.Attention(8, region=region), torch.randn(7, 7)
    else:
        attention, bias = regard.MultiHead(8, heads=2, region=region), torch.randn(2, 7, 7)
    x = torch.randn(3, 7, 8)
    whole, memory = attention(x, bias=bias).context, None
    for t in range(7):
        step = x[:, t : t + 1]
        memory = attention.remember(step) if memory is None else memory.append(step)
        row = bias[..., t : t + 1, : t + 1]
        got = attention(step, memory, bias=row, offset=t).context
        torch.testing.assert_close(got, whole[:, t : t + 1])


def test_a_memory_that_forgets_takes_the_bias_of_the_keys_it_has():
    attention = regard.MultiHead(8, heads=2, region="window(2) & causal")
    x, bias = torch.randn(3, 9, 8), torch.randn(2, 9, 9)
    whole = attention(x, bias=bias).context
    memory = attention.remember(x[:, :1])
    for t in range(1, 9):
        memory = memory.advance(x[:, t : t + 1])
        row = bias[:, t : t + 1, memory.start : t + 1]
        got = attention(x[:, t : t + 1], memory, bias=row, offset=t).context
        torch.testing.assert_close(got, whole[:, t : t + 1])
    assert memory.start > 0


def test_a_recording_keeps_the_scores_with_their_bias():
    attention, x = regard.MultiHead(8, heads=2, region="causal").eval(), torch.randn(1, 5, 8)
    bias = torch.randn(2, 5, 5)
    bias[1, 3, 2] = -math.inf
    with recording(attention, details=True) as recorded:
        attention(x, bias=bias)
    (each,) = recorded
    again, _ = attention.normalize(each.scores, each.allowed)
    torch.testing.assert_close(again, each.weights)
    assert each.scores.isfinite().all()
    assert not each.allowed.expand(1, 2, 5, 5)[0, 1, 3, 2]
    call = attention.prepare(x)
    plain = attention.score.pair(call.query, call.key)
    torch.testing.assert_close(each.scores - plain, bias.masked_fill(bias.isinf(), 0)[None])


def test_steering_goes_on_under_a_bias():
    attention, x, bias = regard.Attention(8).eval(), torch.randn(1, 4, 8), torch.randn(4, 4)
    rows = torch.tensor([[False, True, False, False]])
    given = torch.zeros(1, 4, 4)
    given[0, 1, 2] = 1.0
    with steering(attention, {"": Steer(given, rows)}):
        context = attention(x, bias=bias).context
    plain = attention(x, bias=bias).context
    torch.testing.assert_close(context[0, 1], x[0, 2])
    torch.testing.assert_close(context[0, [0, 2, 3]], plain[0, [0, 2, 3]])


@pytest.mark.parametrize("learns", [False, True], ids=["given", "learnt"])
def test_compile_gives_the_same_without_a_graph_break(learns):
    torch._dynamo.reset()
    heads = regard.MultiHead(8, heads=2, region="window(2) & causal")
    x, bias = torch.randn(2, 11, 8), torch.randn(2, 11, 11, requires_grad=learns)

    def model(x, bias):
        return heads(x, bias=bias).context

    compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x, bias), model(x, bias))
    if learns:
        got, wanted = (torch.autograd.grad(f(x, bias).sum(), bias) for f in (compiled, model))
        torch.testing.assert_close(got, wanted)


def test_export():
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.heads = regard.MultiHead(8, heads=2)

        def forward(self, x: Tensor, bias: Tensor) -> Tensor:
            return self.heads(x, bias=bias).context

    model, x, bias = Model().eval(), torch.randn(2, 5, 8), torch.randn(2, 5, 5)
    exported = torch.export.export(model, (x, bias)).module()
    torch.testing.assert_close(exported(x, bias), model(x, bias))


@pytest.mark.filterwarnings("ignore:There is a performance drop")
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("score", SCORES)
def test_vmap_equals_a_loop(score, weights):
    mechanism = single(score)
    q, k, v = torch.randn(3, 2, 5, 4), torch.randn(3, 2, 6, 4), torch.randn(3, 2, 6, 4)
    bias = torch.randn(3, 5, 6)

    def one(q, k, v, bias):
        return regard.attend(q, k, v, score=mechanism, bias=bias, weights=weights).context

    wanted = torch.stack([one(*x) for x in zip(q, k, v, bias, strict=True)])
    torch.testing.assert_close(torch.func.vmap(one)(q, k, v, bias), wanted)


@pytest.mark.parametrize("region", ["everywhere", "sparse(2)", "window(2)"])
def test_autocast(region):
    heads = regard.MultiHead(8, heads=2, region=region)
    x, bias = torch.randn(2, 90, 8), torch.randn(2, 90, 90, requires_grad=True)
    for weights in (False, True):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            low = heads(x, bias=bias, weights=weights).context
        wanted = heads(x, bias=bias, weights=weights).context
        torch.testing.assert_close(low.float(), wanted, atol=0.06, rtol=0.06)
        got, exact = (torch.autograd.grad(c.float().sum(), bias)[0] for c in (low, wanted))
        torch.testing.assert_close(got, exact, atol=0.03, rtol=0.1)


def test_dropout_falls_on_the_weights_that_the_bias_made():
    q, k, bias = torch.randn(1, 1, 4, 8), torch.randn(1, 1, 64, 8), torch.randn(4, 64)
    many = [regard.attend(q, k, bias=bias, dropout=0.3, training=True).context for _ in range(1500)]
    wanted = regard.attend(q, k, bias=bias).context
    torch.testing.assert_close(torch.stack(many).mean(0), wanted, atol=0.08, rtol=0)


def test_a_module_that_vouches_for_its_states_takes_a_bias_too():
    x, bias = torch.randn(2, 40, 8), torch.randn(2, 40, 40)
    heads = regard.MultiHead(8, heads=2)
    wanted = heads(x, bias=bias).context
    heads.nan_safe = False
    torch.testing.assert_close(heads(x, bias=bias).context, wanted)


@pytest.mark.parametrize("score", ["scaled-dot", "location(8)", "additive(4)"])
def test_a_row_of_minus_infinity_is_empty_whatever_its_query_holds(score):
    by = regard.Attention(6, score=score).score if "(" in score else score
    q, k = torch.randn(1, 3, 6), torch.randn(1, 5, 6)
    q[0, 1] = torch.nan
    bias = torch.zeros(3, 5)
    bias[1] = -torch.inf
    for weights in (False, True):
        context = regard.attend(q, k, score=by, bias=bias, weights=weights).context
        assert not context[0, 1].any()
        assert context.isfinite().all()


@pytest.mark.parametrize("bias", [0.5, [1.0], "x"])
def test_a_bias_that_is_no_tensor_is_told(bias):
    with pytest.raises(TypeError, match="must be a tensor"):
        regard.attend(torch.randn(1, 3, 6), torch.randn(1, 5, 6), bias=bias)


def test_a_bias_of_float64_is_refused_under_autocast_too():
    q, k, bias = torch.randn(1, 3, 6), torch.randn(1, 5, 6), torch.zeros(3, 5).double()
    with torch.autocast("cpu", dtype=torch.bfloat16), pytest.raises(TypeError, match="dtype"):
        regard.attend(q, k, bias=bias)


@paths
@pytest.mark.parametrize("bad", [math.nan, math.inf])
@pytest.mark.parametrize("masked", [True, False])
def test_what_is_not_finite_stays_in_its_row(path, bad, masked):
    """A loss that leaves the row out has the gradients that it would have without it; so has a mask."""
    region, score = PATHS[path]
    q, k, v = (x.double().requires_grad_() for x in tensors())
    allowed = torch.ones(LENGTH, LENGTH, dtype=torch.bool)
    bias = torch.zeros(LENGTH, LENGTH, dtype=torch.float64)
    bias[5, 5] = bad
    allowed[5, 5] = not masked
    others = [row for row in range(LENGTH) if row != 5]
    by = as_score(score, query_size=q.shape[-1], key_size=k.shape[-1]).double()
    found = []
    for given in (bias, torch.zeros_like(bias)):
        context = regard.attend(q, k, v, score=by, region=region, mask=allowed, bias=given).context
        assert context[..., others, :].isfinite().all()
        found.append(torch.autograd.grad(context[..., others, :].square().sum(), (q, k, v)))
        assert masked or given is not bias or context[..., 5, :].isnan().all()
    for ours, wanted in zip(*found, strict=True):
        torch.testing.assert_close(ours, wanted)


def test_a_bias_of_the_keys_of_each_row_is_told_how_to_be_written():
    q, k = torch.randn(3, 4, 4), torch.randn(3, 5, 4)
    of_rows = torch.randn(3, 5)
    with pytest.raises(ValueError, match=r"given \(3, 5\).*bias\[:, None, :\]"):
        regard.attend(q, k, bias=of_rows)
    got = regard.attend(q, k, bias=of_rows[:, None, :]).context
    wanted = (q @ k.mT / 2 + of_rows[:, None, :]).softmax(-1) @ k
    torch.testing.assert_close(got, wanted)
    heads = regard.MultiHead(4, heads=2)
    with pytest.raises(ValueError, match=r"bias\[:, None, None, :\]"):
        heads(q, k, bias=of_rows)


@pytest.mark.parametrize("queries", [3, 4], ids=["as many queries as rows", "more queries"])
def test_a_bias_of_pairs_is_one_whatever_the_batch(queries):
    """(Lq, Lk) broadcasts, also in the one batch that has as many rows as queries."""
    q, k, pairs = torch.randn(3, queries, 4), torch.randn(3, 5, 4), torch.randn(queries, 5)
    got = regard.attend(q, k, bias=pairs).context
    torch.testing.assert_close(got, (q @ k.mT / 2 + pairs).softmax(-1) @ k)
    torch.testing.assert_close(got, regard.attend(q, k, bias=pairs[None]).context)


@pytest.mark.parametrize("what", ["mask", "bias"])
def test_keys_that_all_rows_share_have_no_rows_to_be_mistaken_for(what):
    """(Lq, Lk) is a pattern of pairs where the keys are (Lk, D), also with as many queries as keys."""
    q, k = torch.randn(3, 5, 4), torch.randn(5, 4)
    pattern = torch.ones(5, 5, dtype=torch.bool).tril()
    given = pattern if what == "mask" else torch.zeros(5, 5).masked_fill(~pattern, -math.inf)
    got = regard.attend(q, k, **{what: given}).context
    torch.testing.assert_close(got, regard.attend(q, k, region="causal").context)
    for keys in (k[None], k) if what == "mask" else ():  # rows that only the queries have
        with pytest.raises(ValueError, match=r"given \(3, 5\)"):
            regard.attend(q[:, :3], keys, mask=given[:3])
