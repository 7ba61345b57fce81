"""The CUDA kernels of additive attention against their definition in float64.

On a machine without CUDA they run under Triton's interpreter. That must be chosen before triton is imported,
so `test_under_the_interpreter` runs this file again in a process of its own, and the rest waits for it.
What takes the interpreter many seconds is heavy there, and not on a GPU.
"""

# ruff: noqa: N803, N806  (sizes are capitals)

import os
import subprocess
import sys

import pytest
import torch

pytest.importorskip("triton")

CUDA = torch.cuda.is_available()
INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
DEVICE = "cuda" if CUDA else "cpu"
LONG = [] if CUDA else [pytest.mark.heavy]

if CUDA or INTERPRETED:
    from regard.attention.kernels import additive_triton as kernels
    from regard.attention.kernels import additive_triton_attention as in_bands
    from regard.attention.kernels import additive_triton_gradient as gradients

runs_kernels = pytest.mark.skipif(
    not (CUDA or INTERPRETED), reason="test_under_the_interpreter runs it"
)


def long_to_interpret(test):
    for mark in LONG:
        mark(test)
    return test


@pytest.mark.skipif(CUDA or INTERPRETED, reason="the kernels run in this process")
def test_under_the_interpreter(request):
    environment = os.environ | {"TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", __file__]
    command += ["-m", request.config.option.markexpr]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert " passed" in run.stdout


def draw(*shape, spread=1.0):
    return spread * torch.randn(shape, device=DEVICE)


def exact_scores(query, key, weight):
    """Σ_d w tanh(q + k) in float64, the sum q + k as the inputs' own precision rounds it, or exact."""
    pre = query[:, :, None].double() + key[:, None].double()
    rows = torch.arange(len(query), device=query.device) % len(weight)
    return torch.einsum("nijd,nd->nij", torch.tanh(pre), weight.double()[rows])


def exact_attention(query, key, value, weight, mask, scale, before, after, offset):
    scores = scale * exact_scores(query, key, weight)
    N, Lq, Lk = scores.shape
    i = torch.arange(Lq, device=DEVICE)[:, None] + offset
    j = torch.arange(Lk, device=DEVICE)
    allowed = torch.ones(N, Lq, Lk, dtype=torch.bool, device=DEVICE)
    if before >= 0:
        allowed = allowed & (j >= i - before)
    if after >= 0:
        allowed = allowed & (j <= i + after)
    if mask is not None:
        allowed = allowed & mask.repeat_interleave(N // len(mask), 0)
    scores = scores.masked_fill(~allowed, -torch.inf)
    lse = scores.logsumexp(-1)
    p = torch.exp(scores - lse.masked_fill(lse.isinf(), 0.0)[..., None])
    return p @ value.double(), lse


def exact_gradients(function, inputs, grad):
    inputs = [x.detach().double().requires_grad_() for x in inputs]
    return torch.autograd.grad(function(*inputs), inputs, grad.double())


def assert_scores(query, key, weight, tolerance=5e-7):
    out = kernels.scores(query, key, weight)
    assert out.dtype == query.dtype
    assert out.shape == (len(query), query.shape[1], key.shape[1])
    exact = exact_scores(query, key, weight)
    error = (out.double() - exact).abs().amax((1, 2))
    size = weight.double().abs().sum(-1).repeat(len(query) // len(weight))
    assert (error <= tolerance * size).all(), (error / size).tolist()


def assert_close(out, exact, like, tolerance=2e-6, grad=None):
    """‖out − exact‖ within tolerance of ‖exact‖, or of the ‖grad‖ that it is a sum over."""
    assert out.dtype == like.dtype
    assert out.shape == like.shape
    assert out.isfinite().all()
    error = (out.double() - exact).norm()
    size = exact.norm() + (0.0 if grad is None else grad.double().norm())
    assert error <= tolerance * size, (error / size).item()


SHAPES = [  # N, Lq, Lk, D, G
    (2, 3, 5, 7, 1),
    pytest.param(2, 33, 70, 5, 2, marks=LONG),
    (1, 17, 1, 1, 1),
    pytest.param(4, 1, 9, 4, 2, marks=LONG),
    (1, 1, 65, 4, 1),
    (1, 64, 64, 8, 1),
]


@runs_kernels
@pytest.mark.parametrize(("N", "Lq", "Lk", "D", "G"), SHAPES)
def test_scores_are_the_definition(N, Lq, Lk, D, G):
    assert_scores(draw(N, Lq, D), draw(N, Lk, D), draw(G, D))


@runs_kernels
@pytest.mark.parametrize("spread", [1e-3, 2.0, 4.0, 8.0, 30.0, 1e4])
def test_scores_hold_for_any_magnitude(spread):
    query, key = draw(1, 20, 9, spread=spread), draw(1, 70, 9, spread=spread)
    key[0, :9] = 0.5 - query[0, :9]  # neither large nor small once added
    assert_scores(query, key, draw(1, 9))


@runs_kernels
@pytest.mark.parametrize("size", [8.0, 15.0, 25.0, 45.0, 100.0, 1e4])
@pytest.mark.parametrize("sign", [1, -1])
def test_large_opposites_leave_their_sum(size, sign):
    query = torch.full((1, 2, 5), sign * size, device=DEVICE)
    key = torch.full((1, 3, 5), 0.5 - sign * size, device=DEVICE)
    weight = torch.ones(1, 5, device=DEVICE)
    total = (query[0, 0] + key[0, 0]).double()
    out = kernels.scores(query, key, weight)
    torch.testing.assert_close(
        out.double(), torch.tanh(total).sum().expand(1, 2, 3), rtol=0, atol=5e-7 * 5
    )


@runs_kernels
def test_one_tile_out_of_range_does_not_touch_the_others():
    query, key, weight = draw(1, 80, 3), draw(1, 80, 3), draw(1, 3)
    query[0, 70] = 1e4
    assert_scores(query, key, weight)


WEIGHTS = {
    "zero": [0.0, 0.0, 0.0, 0.0, 0.0],
    "one": [0.0, 0.0, -3.0, 0.0, 0.0],
    "tiny": [1e-30, -2e-30, 3e-30, 1e-31, 1e-32],
    "vanishing": [1e-38, -2e-38, 3e-38, 1e-38, 2e-38],
    "huge": [1e30, -2e30, 3e30, 1e29, 5e30],
    "wide": [1.0, -1e-4, 1e-8, -1e-12, 1e-20],
    "alternating": [5.0, -5.0, 5.0, -5.0, 5.0],
}


@runs_kernels
@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize("spread", [1.0, 5.0])
def test_scores_hold_for_any_weight(name, spread):
    weight = torch.tensor([WEIGHTS[name]], device=DEVICE)
    query, key = draw(1, 3, 5, spread=spread), draw(1, 7, 5, spread=spread)
    assert_scores(query, key, weight)
    assert kernels.scores(query, key, weight).isfinite().all()


@runs_kernels
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.bfloat16, 4e-3), (torch.float16, 5e-4)])
def test_half_precision_is_computed_in_float32(dtype, tolerance):
    query, key, weight = (x.to(dtype) for x in (draw(2, 5, 6), draw(2, 9, 6), draw(1, 6)))
    assert_scores(query, key, weight, tolerance)
    grad = draw(2, 5, 9).to(dtype)
    exact = exact_gradients(exact_scores, (query, key, weight), grad)
    for out, ref, like in zip(
        kernels.scores_backward(grad, query, key, weight), exact, (query, key, weight), strict=True
    ):
        assert_close(out, ref, like, tolerance, grad)


@runs_kernels
@pytest.mark.parametrize(("N", "Lq", "Lk", "D", "G"), SHAPES)
@pytest.mark.parametrize("spread", [1.0, 8.0])
def test_gradients_are_the_definition(N, Lq, Lk, D, G, spread):
    inputs = draw(N, Lq, D, spread=spread), draw(N, Lk, D, spread=spread), draw(G, D)
    grad = draw(N, Lq, Lk)
    outs = kernels.scores_backward(grad, *inputs)
    for out, exact, like in zip(
        outs, exact_gradients(exact_scores, inputs, grad), inputs, strict=True
    ):
        assert_close(out, exact, like, grad=grad)


@runs_kernels
def test_gradients_hold_for_large_opposites():
    query = draw(1, 4, 3, spread=1e4).round()  # whole, so that 0.5 − q and their sum are exact
    inputs = query, 0.5 - query, draw(1, 3)
    grad = torch.eye(4, device=DEVICE)[None]
    outs = kernels.scores_backward(grad, *inputs)
    for out, exact, like in zip(
        outs, exact_gradients(exact_scores, inputs, grad), inputs, strict=True
    ):
        assert_close(out, exact, like, grad=grad)


@runs_kernels
@long_to_interpret
def test_gradients_of_an_expanded_and_of_a_transposed_grad():
    inputs = draw(2, 6, 3), draw(2, 6, 3), draw(1, 3)
    for grad in (torch.ones(1, 1, 1, device=DEVICE).expand(2, 6, 6), draw(2, 6, 6).mT):
        exact = exact_gradients(exact_scores, inputs, grad)
        for out, ref, like in zip(
            kernels.scores_backward(grad, *inputs), exact, inputs, strict=True
        ):
            assert_close(out, ref, like, grad=grad)


@runs_kernels
def test_nothing_in_nothing_out():
    query, key, weight = draw(2, 0, 3), draw(2, 4, 3), draw(1, 3)
    assert kernels.scores(query, key, weight).shape == (2, 0, 4)
    outs = kernels.scores_backward(draw(2, 0, 4), query, key, weight)
    assert [x.shape for x in outs] == [query.shape, key.shape, weight.shape]
    assert not any(x.any() for x in outs)
    context, lse = kernels.attention(key, query, draw(2, 0, 5), weight, None, 1.0, -1, -1, 0)
    assert not context.any()
    assert (lse == -torch.inf).all()


def mask_of(kind, N, Lq, Lk):
    if kind is None:
        return None
    if kind == "transposed":
        return (torch.rand(N, Lk, Lq, device=DEVICE) < 0.6).mT
    rows = {"shared": (1, 1), "padding": (N, 1), "half": (N // 2, Lq), "full": (N, Lq)}[kind]
    mask = torch.rand(*rows, Lk, device=DEVICE) < 0.6
    mask[..., 0] = True
    return mask


def assert_attention(query, key, value, weight, mask, scale, before, after, offset, tolerance=2e-6):
    options = mask, scale, before, after, offset
    inputs = query, key, value, weight
    context, lse = kernels.attention(*inputs, *options)
    exact, exact_lse = exact_attention(*inputs, *options)
    assert_close(context, exact, context.new_empty(exact.shape), tolerance)
    assert context.dtype == value.dtype
    assert lse.dtype == torch.float32
    empty = exact_lse.isinf()
    assert torch.equal(lse.isinf(), empty)
    assert not context[empty].any()
    torch.testing.assert_close(lse[~empty].double(), exact_lse[~empty], rtol=2e-6, atol=5e-6)
    grad = torch.randn_like(context)
    outs = kernels.attention_backward(grad, *inputs, mask, context, lse, *options[1:])
    references = exact_gradients(lambda *x: exact_attention(*x, *options)[0], inputs, grad)
    for out, ref, like in zip(outs, references, inputs, strict=True):
        assert_close(out, ref, like, 2 * tolerance, grad)
    assert not outs[0][empty].any()


@runs_kernels
@pytest.mark.parametrize(
    ("mask", "before", "after", "offset"),
    [
        (None, -1, -1, 0),
        ("full", 3, 2, -2),
        *(
            pytest.param(*case, marks=LONG)
            for case in [
                ("shared", -1, -1, 0),
                ("padding", -1, 0, 3),
                ("half", 4, -1, 0),
                ("transposed", -1, -1, 0),
                (None, 0, 0, 60),
                (None, 1, 1, 40),
                (None, -1, 0, -9),
            ]
        ),
    ],
)
def test_attention_and_its_gradients(mask, before, after, offset):
    N, Lq, Lk, D, Dv = 2, 19, 67, 3, 5
    inputs = draw(N, Lq, D), draw(N, Lk, D), draw(N, Lk, Dv), draw(2, D, spread=3.0)
    assert_attention(*inputs, mask_of(mask, N, Lq, Lk), 0.7, before, after, offset)


@runs_kernels
@pytest.mark.parametrize(("Lq", "Dv", "spread"), [(1, 70, 1.0), (17, 1, 8.0), (2, 16, 1e4)])
def test_attention_of_odd_sizes_and_magnitudes(Lq, Dv, spread):
    query, key = draw(1, Lq, 4, spread=spread), draw(1, 9, 4, spread=spread)
    key[:, :Lq] = 0.25 - query[:, :9]
    assert_attention(query, key, draw(1, 9, Dv), draw(1, 4), None, -1.5, -1, -1, 0)


@runs_kernels
@long_to_interpret
def test_attention_in_several_bands(monkeypatch):
    monkeypatch.setattr(in_bands, "BAND", 1)
    inputs = draw(1, 70, 2), draw(1, 68, 2), draw(1, 68, 3), draw(1, 2)
    assert_attention(*inputs, None, 1.0, 40, 1, 0)


@runs_kernels
def test_attention_in_half_precision():
    inputs = [x.bfloat16() for x in (draw(1, 5, 4), draw(1, 8, 4), draw(1, 8, 6), draw(1, 4))]
    assert_attention(*inputs, None, 1.0, -1, -1, 0, tolerance=8e-3)


@runs_kernels
def test_queries_without_keys_get_nothing_and_give_nothing():
    query, key, value, weight = draw(1, 3, 2), draw(1, 4, 2), draw(1, 4, 3), draw(1, 2)
    mask = torch.ones(1, 3, 4, dtype=torch.bool, device=DEVICE)
    mask[:, 1] = False
    options = 1.0, -1, -1, 0
    context, lse = kernels.attention(query, key, value, weight, mask, *options)
    assert not context[:, 1].any()
    assert lse[0, 1] == -torch.inf
    grad = torch.zeros_like(context)
    grad[:, 1] = 1e3
    outs = kernels.attention_backward(grad, query, key, value, weight, mask, context, lse, *options)
    assert not any(x.any() for x in outs)


@runs_kernels
@long_to_interpret
def test_what_the_mask_hides_from_all_may_be_anything():
    query, key, value, weight = draw(2, 3, 2), draw(2, 6, 2), draw(2, 6, 3), draw(1, 2)
    mask = torch.ones(2, 1, 6, dtype=torch.bool, device=DEVICE)
    mask[:, :, 4:] = False
    context, lse = kernels.attention(query, key, value, weight, mask, 1.0, -1, -1, 0)
    grad = torch.randn_like(context)
    clean = kernels.attention_backward(
        grad, query, key, value, weight, mask, context, lse, 1.0, -1, -1, 0
    )
    key[:, 4], key[:, 5], value[:, 4:] = torch.nan, torch.inf, torch.nan
    again, _ = kernels.attention(query, key, value, weight, mask, 1.0, -1, -1, 0)
    torch.testing.assert_close(again, context)
    dirty = kernels.attention_backward(
        grad, query, key, value, weight, mask, context, lse, 1.0, -1, -1, 0
    )
    for one, other in zip(dirty, clean, strict=True):
        torch.testing.assert_close(one, other)


@runs_kernels
def test_float64_is_the_definition_itself():
    inputs = [x.double() for x in (draw(1, 3, 2), draw(1, 4, 2), draw(1, 4, 3), draw(1, 2))]
    query, key, _, weight = inputs
    out = kernels.scores(query, key, weight)
    torch.testing.assert_close(out, exact_scores(query, key, weight), rtol=1e-14, atol=1e-14)
    outs = kernels.scores_backward(torch.ones_like(out), query, key, weight)
    assert [x.dtype for x in outs] == [torch.float64] * 3
    context, _ = kernels.attention(*inputs, None, 1.0, -1, -1, 0)
    exact, _ = exact_attention(*inputs, None, 1.0, -1, -1, 0)
    torch.testing.assert_close(context, exact, rtol=1e-13, atol=1e-13)


@runs_kernels
@long_to_interpret
def test_splitting_the_work_changes_rounding_only(monkeypatch):
    inputs = draw(1, 18, 3), draw(1, 130, 3), draw(1, 130, 4), draw(1, 3)
    options = None, 1.0, -1, -1, 0
    split, split_lse = kernels.attention(*inputs, *options)
    grad = torch.randn_like(split)
    split_grads = kernels.attention_backward(grad, *inputs, None, split, split_lse, *options[1:])
    for module in (in_bands, gradients):
        monkeypatch.setattr(module, "PROGRAMS", 1)
    whole, whole_lse = kernels.attention(*inputs, *options)
    grads = kernels.attention_backward(grad, *inputs, None, whole, whole_lse, *options[1:])
    torch.testing.assert_close(split, whole)
    torch.testing.assert_close(split_lse, whole_lse)
    for one, other in zip(split_grads, grads, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


@runs_kernels
@long_to_interpret
def test_the_same_call_gives_the_same_bits():
    inputs = draw(2, 40, 6), draw(2, 70, 6), draw(1, 6)
    grad = draw(2, 40, 70)
    first, second = (kernels.scores_backward(grad, *inputs) for _ in range(2))
    assert all(torch.equal(x, y) for x, y in zip(first, second, strict=True))


@pytest.mark.skipif(not CUDA, reason="too large for the interpreter")
@pytest.mark.parametrize("spread", [1.0, 2.5, 20.0])
def test_many_tiles(spread):
    query, key, weight = (
        draw(4, 300, 190, spread=spread),
        draw(4, 517, 190, spread=spread),
        draw(2, 190),
    )
    assert_scores(query, key, weight)
    grad = draw(4, 300, 517)
    exact = exact_gradients(exact_scores, (query, key, weight), grad)
    outs = kernels.scores_backward(grad, query, key, weight)
    for out, ref, like in zip(outs, exact, (query, key, weight), strict=True):
        assert_close(out, ref, like, grad=grad)
    value = draw(4, 517, 200)
    assert_attention(
        query, key, value, weight, mask_of("half", 4, 300, 517), 0.5, 200, 60, 30, 2e-5
    )


@runs_kernels
@pytest.mark.parametrize("spread", [1.0, 4.0])
def test_rounds_that_are_scheduled_together_change_nothing(spread):
    from regard.attention.kernels.additive_triton_tiles import Patch

    query, key = draw(1, 9, 10, spread=spread), draw(1, 20, 10, spread=spread)
    weight = draw(1, 10)
    once, twice = (
        kernels.scores(query, key, weight, patch=Patch(R0=2, unroll=unroll)) for unroll in (1, 2)
    )
    torch.testing.assert_close(once, twice, rtol=1e-6, atol=1e-6)
    exact = exact_scores(query.double(), key.double(), weight.double())
    torch.testing.assert_close(twice.double(), exact, rtol=1e-5, atol=1e-5)
