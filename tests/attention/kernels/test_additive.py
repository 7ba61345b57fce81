"""The additive operators equal their dense definition, for every shape, magnitude, mask and transform."""

import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.autograd import gradcheck, gradgradcheck

from regard.attention.kernels import additive, additive_cpu, additive_torch
from regard.attention.kernels.additive import (
    additive_attention,
    additive_scores,
    dense_additive_scores,
)
from regard.attention.kernels.additive_torch import dense_additive_attention

SIZES = [  # N, G, Lq, Lk, D
    (1, 1, 1, 1, 1), (2, 1, 5, 33, 3), (4, 2, 33, 5, 7), (3, 3, 1, 6, 31), (6, 2, 70, 4, 257),
    (2, 1, 2, 1, 128), (1, 1, 3, 7, 144), (2, 2, 0, 5, 4), (2, 1, 5, 0, 4), (0, 1, 5, 6, 4),
    (2, 1, 3, 5, 0),
]  # fmt: skip


def draw(n, g, lq, lk, d, *, dtype=torch.float64, spread=1.0, seed=0):
    torch.manual_seed(seed)
    query, key = spread * torch.randn(n, lq, d), spread * torch.randn(n, lk, d)
    return query.to(dtype), key.to(dtype), torch.randn(g, d).to(dtype)


def gradients(function, inputs, upstream):
    leaves = [x.detach().clone().requires_grad_() for x in inputs]
    return torch.autograd.grad(function(*leaves), leaves, upstream)


def double(tensors):
    return [x.double() for x in tensors]


def assert_scores_right(query: Tensor, key: Tensor, weight: Tensor, sums=None, error=2e-7):
    """Scores to 2 · error · Σ|w|, gradients to 4 · error · Σ|terms|; sums (N, Lq, Lk, D) are the q + k."""
    grad = torch.randn(query.shape[0], query.shape[1], key.shape[1], dtype=query.dtype)
    got = additive_cpu.scores(query, key, weight)
    dq, dk, dw = additive_cpu.scores_backward(grad, query, key, weight)
    if sums is None:
        sums = query.double()[:, :, None] + key.double()[:, None]
    w = weight.double().repeat(len(query) // len(weight), 1)[:, None, None]
    g, tanh = grad.double()[..., None], torch.tanh(sums)
    slope = torch.cosh(sums.clamp(-300, 300)) ** -2
    at_most = 2 * error * float(w.abs().sum(-1).max())
    torch.testing.assert_close(got.double(), (w * tanh).sum(-1), rtol=0, atol=at_most)
    for name, result, terms, axis in (
        ("dquery", dq, g * w * slope, 2),
        ("dkey", dk, g * w * slope, 1),
        ("dweight", dw, (g * tanh).sum((1, 2)).unflatten(0, (-1, len(weight))), 0),
    ):
        size = (g * w).abs().sum(axis).max() if name != "dweight" else g.abs().sum()
        off = (result.double() - terms.sum(axis)).abs().max()
        assert off <= 4 * error * size, (name, off, size)


# --- the definition ---------------------------------------------------------------------------------


def test_one_pair_by_hand():
    query, key = torch.tensor([[[0.5, -1.0]]]), torch.tensor([[[0.25, 3.0]]])
    by_hand = 2 * torch.tanh(torch.tensor(0.75)) - 3 * torch.tanh(torch.tensor(2.0))
    for scores in (additive_scores, dense_additive_scores, additive_cpu.scores):
        assert scores(query, key, torch.tensor([[2.0, -3.0]])).item() == pytest.approx(
            by_hand.item()
        )


def test_row_n_has_weight_n_modulo_groups():
    query, key, weight = draw(6, 3, 2, 2, 4)
    expected = [dense_additive_scores(query[[n]], key[[n]], weight[[n % 3]])[0] for n in range(6)]
    torch.testing.assert_close(dense_additive_scores(query, key, weight), torch.stack(expected))
    torch.testing.assert_close(additive_scores(query, key, weight), torch.stack(expected))


@pytest.mark.parametrize("backend", [additive_cpu, additive_torch])
@pytest.mark.parametrize("sizes", SIZES)
def test_scores_and_gradients_equal_the_definition(sizes, backend):
    for dtype, tolerance in ((torch.float64, 1e-11), (torch.float32, 1e-4)):
        inputs = draw(*sizes, dtype=dtype)
        expected = dense_additive_scores(*double(inputs))
        upstream = torch.randn_like(expected)
        close = {"rtol": tolerance, "atol": tolerance, "check_dtype": False}
        torch.testing.assert_close(backend.scores(*inputs), expected, **close)
        got = backend.scores_backward(upstream.to(dtype), *inputs)
        wanted = gradients(dense_additive_scores, double(inputs), upstream)
        for result, right in zip(got, wanted, strict=True):
            torch.testing.assert_close(result, right, **close)


def test_not_contiguous_inputs():
    query, key, weight = draw(2, 1, 6, 5, 8)
    query, key = query.mT.contiguous().mT, key[:, :, ::2].repeat_interleave(2, -1)
    right = dense_additive_scores(query, key, weight)
    torch.testing.assert_close(additive_scores(query, key, weight), right)
    torch.testing.assert_close(
        additive_scores(query[:, ::2], key.expand(2, 5, 8), weight), right[:, ::2]
    )


def test_float32_is_right_to_2e_7_of_the_weights():
    for spread in (0.1, 1.0, 5.0, 50.0):
        inputs = draw(4, 2, 48, 48, 256, dtype=torch.float32, spread=spread)
        off = additive_cpu.scores(*inputs) - dense_additive_scores(*double(inputs))
        assert off.abs().max() <= 2e-7 * inputs[2].abs().sum(-1).min()


# --- magnitudes -------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(
    spread=st.floats(-3, 4), shift=st.floats(-4, 4), size=st.floats(-30, 30),
    sign=st.sampled_from([-1.0, 1.0]), opposite=st.booleans(), seed=st.integers(0, 1000),
)  # fmt: skip
def test_any_magnitude(spread, shift, size, sign, opposite, seed):
    """|q|, |k| from 0.001 to 10000, shifted together or apart; weights from 1e-30 to 1e30."""
    query, key, weight = draw(2, 1, 5, 7, 9, dtype=torch.float32, spread=10**spread, seed=seed)
    far = sign * 10**shift
    query, key = query + far, key + (-far if opposite else far)
    weight = weight * 10**size
    weight[0, 0] = 0.0
    sums = query[:, :, None] + key[:, None]  # a float32 sum: its rounding is not the kernel's error
    exact = query.double()[:, :, None] + key.double()[:, None]
    rounding = float((sums - exact).abs().max())
    assert_scores_right(query, key, weight, exact, error=2e-7 + rounding)


def test_large_opposite_numbers_cancel():
    query = torch.full((1, 3, 5), 1e4)
    key = torch.full((1, 4, 5), -1e4 + 0.5)
    key[0, 1] = -1e4 - 2.0
    query[0, 2] = -1e4
    for sign in (1, -1):
        assert_scores_right(sign * query, sign * key, torch.tensor([[1.0, -2.0, 3.0, 1e-20, 0.0]]))


@pytest.mark.parametrize("size", [10.8, 11.0, 22.0, 42.9, 43.1, 44.5, 88.0, 300.0, 1e4])
def test_both_sides_of_every_bound(size):
    signs = torch.tensor(
        [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0], [0.0, 1.0], [0.0, 0.0]]
    )
    query, key = size * signs[None, :, :1] + 0.1, size * signs[None, :, 1:] - 0.3
    query, key = query.repeat(1, 1, 3), key.repeat(1, 1, 3)
    exact = query.double()[:, :, None] + key.double()[:, None]
    rounding = float((query[:, :, None] + key[:, None] - exact).abs().max())
    assert_scores_right(query, key, torch.tensor([[1.0, 0.5, -3.0]]), exact, error=2e-7 + rounding)


def test_float64_keeps_its_precision_at_any_magnitude():
    for spread in (1.0, 30.0, 1e3):
        inputs = draw(2, 1, 5, 7, 9, spread=spread)
        assert_scores_right(*inputs, error=1e-15)


def test_nan_stays_in_its_pair():
    query, key, weight = draw(2, 1, 6, 7, 5, dtype=torch.float32)
    clean = additive_cpu.scores(query, key, weight)
    query[0, 2, 3] = key[1, 5, 0] = torch.nan
    dirty = additive_cpu.scores(query, key, weight)
    expected = clean.clone()
    expected[0, 2], expected[1, :, 5] = torch.nan, torch.nan
    torch.testing.assert_close(dirty, expected, equal_nan=True)


@pytest.mark.parametrize(("dtype", "error"), [(torch.bfloat16, 2**-8), (torch.float16, 2**-11)])
def test_half_precision_rounds_only_inputs_and_results(dtype, error):
    inputs = draw(4, 2, 9, 13, 64, dtype=dtype)
    upstream = torch.randn(4, 9, 13).to(dtype)
    right = additive_cpu.scores(*(x.float() for x in inputs))
    got = additive_cpu.scores(*inputs)
    assert got.dtype == dtype
    torch.testing.assert_close(got.float(), right, rtol=error, atol=1e-6)
    expected = additive_cpu.scores_backward(upstream.float(), *(x.float() for x in inputs))
    for result, wanted in zip(
        additive_cpu.scores_backward(upstream, *inputs), expected, strict=True
    ):
        assert result.dtype == dtype
        torch.testing.assert_close(result.float(), wanted, rtol=error, atol=1e-6)


def test_mixed_dtypes_follow_query_and_key():
    query, key, weight = draw(2, 1, 3, 4, 8, dtype=torch.float32)
    half = additive_scores(query.bfloat16(), key.bfloat16(), weight)
    assert half.dtype == torch.bfloat16
    assert additive_scores(query.bfloat16(), key, weight).dtype == torch.float32
    context, lse = additive_attention(query.half(), key.half(), key.half(), weight)
    assert (context.dtype, lse.dtype) == (torch.float16, torch.float32)


# --- attention --------------------------------------------------------------------------------------

BANDS = [
    (-1, -1, 0),
    (-1, 0, 0),
    (2, 1, 0),
    (0, 0, 1),
    (3, -1, -2),
    (1, 2, 4),
    (0, 0, 50),
    (70, 3, 0),
]


def attention_inputs(n=4, g=2, lq=7, lk=9, d=6, dv=3, mask="full", dtype=torch.float64):
    query, key, weight = draw(n, g, lq, lk, d, dtype=dtype)
    value = torch.randn(n, lk, dv).to(dtype)
    shape = {"none": None, "keys": (2, 1, lk), "full": (2, lq, lk), "own": (n, lq, lk)}[mask]
    allowed = None if shape is None else torch.rand(shape) > 0.4
    if allowed is not None and allowed.shape[1] > 1:
        allowed[0, 2] = False  # a query without any key
    return (query, key, value, weight), allowed


@pytest.mark.parametrize("backend", [additive_cpu, additive_torch])
@pytest.mark.parametrize("mask", ["none", "keys", "full", "own"])
@pytest.mark.parametrize("band", BANDS)
def test_attention_and_gradients_equal_the_definition(band, mask, backend):
    inputs, allowed = attention_inputs(mask=mask, lq=70 if mask == "full" else 7)
    leaves = [x.clone().requires_grad_() for x in inputs]
    right, right_lse = dense_additive_attention(*leaves, allowed, 0.7, *band)
    upstream = torch.randn_like(right)
    context, lse = backend.attention(*inputs, allowed, 0.7, *band)
    torch.testing.assert_close(context, right.detach())
    torch.testing.assert_close(lse, right_lse)
    got = backend.attention_backward(upstream, *inputs, allowed, context, lse, 0.7, *band)
    for result, wanted in zip(got, torch.autograd.grad(right, leaves, upstream), strict=True):
        torch.testing.assert_close(result, wanted)


def test_the_dense_attention_by_hand():
    """The reference itself, pair by pair."""
    (query, key, value, weight), allowed = attention_inputs()
    before, after, offset, scale = 2, 3, 1, 0.7
    context, lse = dense_additive_attention(
        query, key, value, weight, allowed, scale, before, after, offset
    )
    for n in range(4):
        for i in range(7):
            keys = [
                j for j in range(9)
                if allowed[n // 2, i, j] and i + offset - before <= j <= i + offset + after
            ]  # fmt: skip
            s = [scale * (weight[n % 2] * torch.tanh(query[n, i] + key[n, j])).sum() for j in keys]
            if not keys:
                assert context[n, i].eq(0).all()
                assert lse[n, i] == -torch.inf
                continue
            weights = torch.softmax(torch.stack(s), 0)
            torch.testing.assert_close(context[n, i], weights @ value[n, keys])
            torch.testing.assert_close(lse[n, i], torch.stack(s).logsumexp(0))


@pytest.mark.parametrize("lq", [1, 5])
def test_rows_without_a_key_are_zero_with_zero_gradients(lq):
    inputs, _ = attention_inputs(lq=lq)
    allowed = torch.ones(4, 1, 9, dtype=torch.bool)
    allowed[1] = False
    leaves = [x.requires_grad_() for x in inputs]
    context, lse = additive_attention(*leaves, mask=allowed)
    assert context[1].eq(0).all()
    assert lse[1].eq(-torch.inf).all()
    assert lse[0].isfinite().all()
    for gradient in torch.autograd.grad(context.square().sum(), leaves)[:3]:
        assert gradient[1].eq(0).all()
        assert gradient[0].abs().sum() > 0
        assert gradient.isfinite().all()


@pytest.mark.parametrize("lq", [1, 5])
@pytest.mark.parametrize("garbage", [torch.nan, torch.inf])
def test_what_is_masked_reaches_nothing(lq, garbage):
    (query, key, value, weight), _ = attention_inputs(lq=lq)
    allowed = torch.rand(2, 1, 9) > 0.4
    hidden = ~allowed[:, 0].repeat_interleave(2, 0)[..., None]
    dirty = (query, key.masked_fill(hidden, garbage), value.masked_fill(hidden, garbage), weight)

    def attend(*inputs):
        return additive_attention(*inputs, mask=allowed)[0]

    upstream = torch.randn(4, lq, 3, dtype=torch.float64)
    torch.testing.assert_close(attend(*dirty), attend(query, key, value, weight))
    clean = gradients(attend, (query, key, value, weight), upstream)
    for result, wanted in zip(gradients(attend, dirty, upstream), clean, strict=True):
        torch.testing.assert_close(result, wanted)


@pytest.mark.parametrize("sizes", [(2, 1, 0, 5, 4), (2, 1, 5, 0, 4), (0, 1, 5, 6, 4)])
def test_attention_over_nothing(sizes):
    query, key, weight = (x.requires_grad_() for x in draw(*sizes))
    context, lse = additive_attention(query, key, key, weight)
    assert context.shape == query.shape
    assert lse.shape == query.shape[:2]
    assert context.eq(0).all()
    for gradient in torch.autograd.grad(context.sum(), (query, key, weight)):
        assert gradient.eq(0).all()


def test_attention_in_half_precision():
    inputs, allowed = attention_inputs(dtype=torch.bfloat16)
    right, _ = additive_attention(*(x.float() for x in inputs), mask=allowed)
    context, lse = additive_attention(*inputs, mask=allowed)
    assert (context.dtype, lse.dtype) == (torch.bfloat16, torch.float32)
    torch.testing.assert_close(context.float(), right, rtol=2**-8, atol=1e-6)


def test_many_blocks_equal_one():
    inputs, allowed = attention_inputs(n=4, lq=150, lk=40, mask="own")
    right, _ = dense_additive_attention(*inputs, allowed, 1.0, 9, 9, 0)
    for pairs in (1, 500, 7000):
        context, _ = additive_torch.attend(
            additive_cpu.scores, pairs, *inputs, allowed, 1.0, 9, 9, 0
        )
        torch.testing.assert_close(context, right)


# --- derivatives and transforms ---------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [(4, 2, 3, 5, 4), (2, 1, 1, 3, 2)])
def test_gradcheck_of_scores(sizes):
    inputs = [x.requires_grad_() for x in draw(*sizes)]
    assert gradcheck(torch.ops.regard.additive_scores, inputs, check_batched_grad=True)
    assert gradgradcheck(torch.ops.regard.additive_scores, inputs)


def test_gradcheck_of_attention():
    inputs, allowed = attention_inputs(n=2, lq=3, lk=5, d=3, dv=2)
    leaves = [x.requires_grad_() for x in inputs]

    def attend(*inputs):
        return torch.ops.regard.additive_attention(*inputs, allowed, 0.7, 2, 1, 0)[0]

    assert gradcheck(attend, leaves, check_batched_grad=True)
    assert gradgradcheck(attend, leaves)


def test_lse_carries_no_gradient():
    inputs, _ = attention_inputs()
    for lq in (1, 7):
        query = inputs[0][:, :lq].requires_grad_()
        assert not additive_attention(query, *inputs[1:])[1].requires_grad


def test_opcheck():
    inputs, allowed = attention_inputs(n=2, lq=3, lk=5, d=3, dv=2)
    query, key, value, weight = (x.requires_grad_() for x in inputs)
    band = (0.7, 2, 1, 0)
    with torch.no_grad():
        context, lse = additive_cpu.attention(query, key, value, weight, allowed, *band)
    scores = torch.randn(2, 3, 5, dtype=torch.float64)
    everything = (query, key, value, weight, allowed)
    for name, arguments in {
        "additive_scores": (query, key, weight),
        "additive_scores_backward": (scores, query, key, weight),
        "additive_attention": (*everything, *band),
        "additive_attention_backward": (context, *everything, context, lse, *band),
    }.items():
        torch.library.opcheck(getattr(torch.ops.regard, name).default, arguments)


@pytest.mark.parametrize("lq", [1, 7])
def test_compiles_without_a_graph_break(lq):
    inputs, allowed = attention_inputs(lq=lq)

    def step(query, key, value, weight):
        context, _ = additive_attention(query, key, value, weight, mask=allowed, before=3)
        return context.sum() + additive_scores(query, key, weight).square().sum()

    compiled = torch.compile(step, fullgraph=True, backend="aot_eager")
    one = torch.ones((), dtype=torch.float64)
    expected = gradients(step, inputs, one)
    for result, wanted in zip(gradients(compiled, inputs, one), expected, strict=True):
        torch.testing.assert_close(result, wanted)


@pytest.mark.parametrize("lq", [1, 7])
@pytest.mark.parametrize("in_dims", [(0, None, None, None), (1, 0, 0, 1), (None, None, None, 0)])
def test_vmap_equals_a_loop(in_dims, lq):
    inputs, allowed = attention_inputs(lq=lq)
    stacked = [
        x if dim is None else torch.stack([x, 2 * x, x - 1], dim)
        for x, dim in zip(inputs, in_dims, strict=True)
    ]

    def attend(query, key, value, weight):
        return additive_attention(query, key, value, weight, mask=allowed, after=2)

    def scores(query, key, value, weight):
        return additive_scores(query, key, weight)

    def pick(at):
        return [
            x if dim is None else x.select(dim, at) for x, dim in zip(stacked, in_dims, strict=True)
        ]

    contexts, lses = torch.func.vmap(attend, in_dims)(*stacked)
    mapped = torch.func.vmap(scores, in_dims)(*stacked)
    for at in range(3):
        context, lse = attend(*pick(at))
        torch.testing.assert_close(contexts[at], context)
        torch.testing.assert_close(lses[at], lse)
        torch.testing.assert_close(mapped[at], scores(*pick(at)))


def test_batched_gradients_equal_a_loop():
    """vmap over the backward: every mapped gradient has its own weight gradient."""
    inputs, allowed = attention_inputs(n=6)
    query, key, value, weight = (x.requires_grad_() for x in inputs)
    scores = additive_scores(query, key, weight)
    context, _ = additive_attention(query, key, value, weight, mask=allowed[:1], before=4)
    for output, leaves in ((scores, (query, key, weight)), (context, (query, key, value, weight))):
        upstreams = torch.randn(3, *output.shape, dtype=torch.float64)

        def pull(upstream, output=output, leaves=leaves):
            return torch.autograd.grad(output, leaves, upstream, retain_graph=True)

        batched = torch.func.vmap(pull)(upstreams)
        for at, upstream in enumerate(upstreams):
            for result, wanted in zip(batched, pull(upstream), strict=True):
                torch.testing.assert_close(result[at], wanted)


# --- threads, processes, memory ---------------------------------------------------------------------


@pytest.fixture
def threads():
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


def test_the_same_bits_for_any_number_of_threads_and_any_company(threads, monkeypatch):
    monkeypatch.setattr(additive_cpu, "GRAIN", 1)
    query, key, weight = draw(3, 1, 130, 21, 300, dtype=torch.float32)
    query[1] *= 100  # one row in the plain form
    upstream = torch.randn(3, 130, 21)
    results = []
    for count in (1, 2, 5):
        threads(count)
        results.append(additive_cpu.scores(query, key, weight))
        results[-1] = (results[-1], *additive_cpu.scores_backward(upstream, query, key, weight))
    for others in results[1:]:
        for one, other in zip(results[0], others, strict=True):
            assert torch.equal(one, other)
    alone = additive_cpu.scores(query[2:], key[2:], weight)
    assert torch.equal(alone[0], results[0][0][2])


def test_calls_from_many_threads_at_once(threads, monkeypatch):
    monkeypatch.setattr(additive_cpu, "GRAIN", 1)
    threads(3)
    inputs = draw(8, 2, 20, 30, 40, dtype=torch.float32)
    upstream = torch.randn(8, 20, 30)
    right = additive_cpu.scores_backward(upstream, *inputs)
    with ThreadPoolExecutor(8) as pool:
        jobs = [pool.submit(additive_cpu.scores_backward, upstream, *inputs) for _ in range(64)]
        for job in jobs:
            for result, wanted in zip(job.result(), right, strict=True):
                assert torch.equal(result, wanted)


def _score_in_child(queue, inputs):
    additive_cpu.GRAIN = 1
    queue.put(additive_scores(*inputs).sum().item())


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
def test_a_forked_child_has_its_own_threads(threads, monkeypatch):
    monkeypatch.setattr(additive_cpu, "GRAIN", 1)
    threads(2)
    inputs = draw(4, 1, 20, 20, 64, dtype=torch.float32)
    expected = additive_scores(*inputs).sum().item()
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=_score_in_child, args=(queue, inputs))
    child.start()
    child.join(20)
    hung = child.is_alive()
    if hung:
        child.kill()
    assert not hung
    assert queue.get() == expected


MEMORY = """
import resource, torch
from regard.attention.kernels.additive import additive_attention
torch.set_num_threads(2)
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
def step(length):
    query, key = torch.randn(2, length, 32, requires_grad=True), torch.randn(2, length, 32)
    context, _ = additive_attention(query, key, key, torch.randn(1, 32), before=600)
    context.sum().backward()
step(64)
before = peak()
step(3000)
print(peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB on Linux")
def test_memory_is_linear_in_the_length():
    """Whole scores would take 72 MB each, (N, Lq, Lk, D) 2.3 GB. Inputs are 0.8 MB, a block is 4 MB."""
    assert float(run(MEMORY)) < 40


def run(program: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_numba_waits_for_the_first_call():
    run(
        "import sys, regard.attention.kernels.additive as a; assert 'numba' not in sys.modules;"
        "assert a.backend('cpu') == 'numba' and a.backend('meta') == 'torch'"
    )


def test_without_numba_the_dense_form_answers():
    run(
        "import sys; sys.modules['numba'] = None; import torch;"
        "import regard.attention.kernels.additive as a;"
        "q, k, w = torch.randn(2, 3, 4), torch.randn(2, 5, 4), torch.randn(1, 4);"
        "assert a.backend('cpu') == 'torch';"
        "s = a.dense_additive_scores(q, k, w);"
        "torch.testing.assert_close(a.additive_scores(q, k, w), s);"
        "c, _ = a.additive_attention(q, k, k, w);"
        "torch.testing.assert_close(c, torch.softmax(s, -1) @ k)"
    )


def test_without_a_folder_for_the_cache_the_kernels_still_compile():
    printed = run(
        "from numba.core import caching; caching.CacheImpl._locator_classes = [];"
        "import torch; from regard.attention.kernels.additive_cpu import scores;"
        "print(scores(torch.ones(1, 2, 3), -torch.ones(1, 2, 3), torch.ones(1, 3)).sum().item())"
    )
    assert float(printed) == pytest.approx(0.0, abs=1e-6)


def test_backend_names_what_computes():
    assert additive.backend("cpu") == "numba"
    assert additive.backend(torch.device("meta")) == "torch"


def test_without_numba_or_triton_the_operators_run_on_torch(monkeypatch):
    """Inside an operator there is no autograd: the fallback's gradients must be written out."""
    monkeypatch.setattr(additive, "kernels", lambda device_type: additive_torch)
    query, key, value = (
        torch.randn(4, n, 13, dtype=torch.float64, requires_grad=True) for n in (4, 6, 6)
    )
    weight = torch.randn(2, 13, dtype=torch.float64, requires_grad=True)
    mask = torch.ones(2, 4, 6, dtype=torch.bool).tril(2)
    mask[0, 1] = False
    assert gradcheck(additive_scores, (query, key, weight), fast_mode=True)
    assert gradgradcheck(additive_scores, (query, key, weight), fast_mode=True)

    def context(query, key, value, weight):
        return additive_attention(query, key, value, weight, mask=mask, scale=0.7, before=3)[0]

    assert gradcheck(context, (query, key, value, weight), fast_mode=True)
