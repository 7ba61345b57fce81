"""The same on a GPU: every combination against float64 on the CPU, and the kernels at full size."""

from __future__ import annotations

import copy

import definition
import pytest
import torch

import regard
from regard.attention.argument_checks import real_mask

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")

SCORES = list(definition.all_scores())


@pytest.mark.parametrize("region", [*definition.REGIONS, "sparse(16)", "atrous(8)", "window(16)"])
@pytest.mark.parametrize("score", SCORES)
def test_every_combination_equals_float64_on_the_cpu(score, region):
    length = 300 if "1" in region and "," not in region else 33
    on_cpu = definition.all_scores()[score]
    on_gpu = copy.deepcopy(on_cpu).float().cuda()
    for normalize in ("softmax", "softmax(0.5)", "sparsemax", "raw", "uniform"):
        q, k, v = (torch.randn(2, 2, length, 4, dtype=torch.float64) for _ in range(3))
        mask = torch.arange(length) < torch.tensor([length, 9])[:, None]
        mask = mask[:, None, None]
        k[1, :, 9:] = torch.nan
        low = [x.float().cuda().requires_grad_() for x in (q, k, v)]
        high = [x.requires_grad_() for x in (q, k, v)]
        options = {"region": region, "normalize": normalize}
        got = regard.attend(*low, score=on_gpu, mask=mask.cuda(), **options).context
        wanted = regard.attend(*high, score=on_cpu, mask=mask, **options).context
        size = wanted.abs().max().clamp(min=1)
        assert (got.cpu().double() - wanted).abs().max() < 2e-5 * size, normalize
        grads = torch.autograd.grad(got.sum(), low, allow_unused=True)
        exact = torch.autograd.grad(wanted.sum(), high, allow_unused=True)
        for a, b in zip(grads, exact, strict=True):
            if a is not None and b is not None:
                assert (a.cpu().double() - b).abs().max() < 1e-4 * b.abs().max().clamp(min=1), (
                    normalize
                )


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_additive_at_full_size(dtype):
    score = regard.scores.Additive(64, 64, 64).cuda().to(dtype)
    q, k, v = (
        torch.randn(18, 1000, 64, device="cuda", dtype=dtype, requires_grad=True) for _ in range(3)
    )
    mask = torch.arange(1000, device="cuda") < torch.tensor([1000, 700] * 9, device="cuda")[:, None]
    options = {"region": "causal", "mask": mask[:, None]}
    assert regard.explain(q, k, v, score=score, **options).path == "additive-fused"
    got = regard.attend(q, k, v, score=score, **options).context
    exact_score = copy.deepcopy(score).double()
    high = [x.detach().double().requires_grad_() for x in (q, k, v)]
    wanted = regard.attend(*high, score=exact_score, **options).context
    tolerance = 1e-5 if dtype == torch.float32 else 2e-2
    assert (got.double() - wanted).abs().max() < tolerance * wanted.abs().max()
    for a, b in zip(
        torch.autograd.grad(got.float().square().sum(), (q, k, v)),
        torch.autograd.grad(wanted.square().sum(), high),
        strict=True,
    ):
        assert (a.double() - b).abs().max() < (
            2e-5 if dtype == torch.float32 else 5e-2
        ) * b.abs().max()


def test_additive_attention_in_linear_memory():
    score = regard.scores.Additive(64, 64, 64).cuda()
    peaks = []
    for length in (16_384, 32_768):
        q, k = (torch.randn(1, length, 64, device="cuda", requires_grad=True) for _ in range(2))
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        regard.attend(q, k, score=score).context.sum().backward()
        peaks.append(torch.cuda.max_memory_allocated() - before)
    assert peaks[1] < 32_768**2 * 4 / 3  # the scores alone would be 4 GB
    assert peaks[1] < 2.2 * peaks[0]


def test_compiled_by_inductor():
    model = regard.MultiHead(64, heads=4, score="additive", region="window(16) & causal").cuda()
    compiled = torch.compile(model, fullgraph=True)
    x = torch.randn(2, 100, 64, device="cuda")
    torch.testing.assert_close(compiled(x).context, model(x).context, atol=1e-5, rtol=1e-4)


def test_draws_repeat_with_a_generator():
    q, k = torch.randn(2, 3, 4, device="cuda"), torch.randn(2, 50, 4, device="cuda")
    draws = [
        regard.attend(
            q,
            k,
            normalize="hard",
            training=True,
            generator=torch.Generator("cuda").manual_seed(seed),
        ).choice.index
        for seed in (1, 1, 2)
    ]
    assert torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[0], draws[2])


@pytest.mark.parametrize(
    "region", ["everywhere", "causal", "window(16)", "atrous(8)", "sparse(16)"]
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("learns", [False, True], ids=["given", "learnt"])
def test_a_bias_equals_float64_on_the_cpu(region, dtype, learns):
    """With rows that it forbids and pairs that it spoils; fused, or explain says why it is not."""
    given = [torch.randn(2, 2, 300, 8, device="cuda", dtype=dtype) for _ in range(3)]
    bias = torch.randn(2, 300, 300, device="cuda")
    bias[:, 7] = -torch.inf
    bias[0, 9, 9:40] = -torch.inf
    for kind in {dtype, torch.float32}:
        for normalize in ("softmax", "softmax(0.5)"):
            low = [x.detach().clone().requires_grad_() for x in given]
            low.append(bias.to(kind).requires_grad_(learns))
            high = [x.detach().double().cpu().requires_grad_() for x in low]
            options = {"region": region, "normalize": normalize}
            got = regard.attend(*low[:3], bias=low[3], **options).context
            wanted = regard.attend(*high[:3], bias=high[3], **options).context
            close = 2e-5 if dtype == torch.float32 else 2e-2
            assert (got.cpu().double() - wanted).abs().max() < close * wanted.abs().max()
            assert got[:, :, 7].eq(0).all()
            asked = 4 if learns else 3
            grads = torch.autograd.grad(got.float().sum(), low[:asked])
            exact = torch.autograd.grad(wanted.sum(), high[:asked])
            for a, b in zip(grads, exact, strict=True):
                assert a.isfinite().all()
                assert (a.cpu().double() - b).abs().max() < 2 * close * b.abs().max().clamp(min=1)
            bad = low[3].detach().clone()
            bad[1, 20, 20] = torch.nan
            rows = regard.attend(*low[:3], bias=bad, **options).context.isnan().any(-1)
            assert rows.nonzero().tolist() == [[0, 1, 20], [1, 1, 20]]


def test_which_biases_the_fused_kernels_take():
    x = torch.randn(2, 2, 64, 8, device="cuda", dtype=torch.bfloat16)
    bias = torch.randn(64, 64, device="cuda")
    learnt = bias.bfloat16().requires_grad_()
    assert regard.explain(x, x, bias=learnt).path == "sdpa"
    plan = regard.explain(x, x, bias=bias)
    assert plan.path == "dense"
    assert plan.why == "torch's fused kernels take no float32 bias beside bfloat16"
    with torch.autocast("cuda", dtype=torch.bfloat16):
        assert regard.explain(x, x, bias=bias).path == "sdpa"
        low = regard.attend(x, x, bias=bias).context
    torch.testing.assert_close(low, regard.attend(x, x, bias=bias).context, atol=0.03, rtol=0.03)


def test_lengths_are_taken_without_waiting_for_them():
    """What a CPU refuses is no more than none and all of them here: to look would stall."""
    lengths = torch.tensor([4, -1, 9, 0], device="cuda")
    before = torch.cuda.get_sync_debug_mode()
    torch.cuda.set_sync_debug_mode("error")
    try:
        real = real_mask(None, lengths, (4,), 6)
    finally:
        torch.cuda.set_sync_debug_mode(before)
    assert real.sum(-1).tolist() == [4, 0, 6, 0]
