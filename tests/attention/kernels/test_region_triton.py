"""The kernel of a region against the definition in float64, through `attend`.

On a machine without CUDA it runs under Triton's interpreter, which must be chosen before triton is imported:
`test_under_the_interpreter` runs this file again in a process of its own, and the rest waits for it.
"""

import itertools
import math
import os
import subprocess
import sys
import weakref

import pytest
import torch

import regard
from regard.attention.attend import prepare
from regard.attention.kernels import checked_sdpa, on_trial, tile_sizes
from regard.attention.kernels.launch import Launch
from regard.attention.kernels.region import region_attention as operator
from regard.attention.kernels.region import region_call
from regard.attention.kernels.region.region_passes import region_passes
from regard.attention.plans import known_calls
from regard.attention.regions import as_region
from regard.attention.sequences.documents import Documents
from regard.attention.sequences.prefix import Prefix

pytest.importorskip("triton")

CUDA = torch.cuda.is_available()
INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
DEVICE = "cuda" if CUDA else "cpu"


runs_kernels = pytest.mark.skipif(
    not (CUDA or INTERPRETED), reason="test_under_the_interpreter runs it"
)


@pytest.mark.slow
@pytest.mark.skipif(CUDA or INTERPRETED, reason="the kernels run in this process")
def test_under_the_interpreter(request):
    environment = os.environ | {"TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", __file__]
    command += ["-m", request.config.option.markexpr]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert " passed" in run.stdout


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    """Tiles so small that a short sequence has inner ones, edges and corners."""
    if not (CUDA or INTERPRETED):
        return
    torch.manual_seed(0)
    tile = tile_sizes.RegionTile(16, 16)
    monkeypatch.setattr(tile_sizes, "CHOSEN", dict.fromkeys(("forward", "query", "key"), tile))
    monkeypatch.setattr(known_calls, "_KNOWN", {})
    monkeypatch.setattr(region_call, "FEW_PAIRS", 0)
    if not CUDA:
        here = lambda device: operator.kernels() is not None  # noqa: E731
        monkeypatch.setattr(region_call, "available", here)


def draw(*shape):
    return torch.randn(shape, device=DEVICE)


def compare(q, k, v, *, bias=None, sinks=None, region=None, **choices):
    """Context and all gradients, of what may be NaN too, against the definition in float64."""
    given = [x for x in (q, k, v, bias, sinks) if x is not None]
    low = [x.clone().requires_grad_() for x in given]
    high = [x.double().requires_grad_() for x in given]
    region = as_region(region)
    few, many = ({} if bias is None else {"bias": x[3]} for x in (low, high))
    if sinks is not None:
        few["sinks"], many["sinks"] = low[-1], high[-1]
    plan = regard.explain(*low[:3], **few, region=region, **choices)
    assert plan.path == "region-fused", str(plan)
    ours = regard.attend(*low[:3], **few, region=region, **choices).context
    call = prepare(*high[:3], **many, region=region, **choices)
    exact = call.run(by_definition=True).context
    assert ours.shape == exact.shape
    assert torch.equal(ours.isnan(), exact.isnan())
    grad = torch.randn(ours.shape, device=DEVICE).masked_fill(ours.isnan(), 0.0)
    grads = torch.autograd.grad(ours, low, grad)
    wanted = torch.autograd.grad(exact, high, grad.double())
    for a, b in zip((ours, *grads), (exact, *wanted), strict=True):
        torch.testing.assert_close(a.double(), b, rtol=2e-5, atol=2e-5, equal_nan=True)
    return ours


def spoil(k, v):
    """A NaN in a key, an infinite number in a value, and a whole key of −∞."""
    k[..., 20, 0], v[..., 7, 1], k[..., 33, :] = math.nan, math.inf, -math.inf
    return k, v


REGIONS = [
    "causal",
    "window(3)",
    "window(20) & causal",
    "atrous(3)",
    "atrous(3) & causal",
    "sparse(5)",
    "sparse(5) & causal",
    "first(4) | window(6)",
    "(first(20) | window(6)) & causal",
    "window(0, 9) | first(40)",
]


@runs_kernels
@pytest.mark.parametrize("bad", [False, True], ids=["finite", "not finite"])
@pytest.mark.parametrize("region", REGIONS)
def test_regions(region, bad):
    q, k, v = draw(50, 16), draw(50, 16), draw(50, 16)
    context = compare(q, *(spoil(k, v) if bad else (k, v)), region=region)
    assert bad == bool(context.isnan().any())


@runs_kernels
@pytest.mark.parametrize("bad", [False, True], ids=["finite", "not finite"])
@pytest.mark.parametrize("region", ["first(4) | window(6)", "(first(20) | window(6)) & causal"])
def test_programs_that_share_the_keys_that_all_queries_see(region, bad, monkeypatch):
    from regard.attention.kernels.region import region_launches, region_triton

    monkeypatch.setattr(region_launches, "SHARED_TILES", 1)
    monkeypatch.setattr(region_triton, "_KEPT", {})  # no launches of earlier calls
    shared = []
    launched = region_launches.sum_kernel
    keep = lambda kernel, *rest: shared.append(kernel is launched) or Launch(kernel, *rest)  # noqa: E731
    monkeypatch.setattr(region_launches, "Launch", keep)
    q, k, v = draw(2, 50, 24), draw(2, 50, 24), draw(2, 50, 40)
    compare(q, *(spoil(k, v) if bad else (k, v)), region=region)
    assert any(shared)


@runs_kernels
@pytest.mark.parametrize(
    ("heads", "tiles", "many"), [(3, 5, 4), (16, 32, 132), (4, 4, 7), (7, 1, 3)]
)
def test_tiles_are_dealt_out_once_each_the_longest_first(heads, tiles, many):
    import triton

    from regard.attention.kernels.region.region_tiles import dealt_out

    triton_language = pytest.importorskip("triton.language")
    dealt = triton.jit(_dealt_to)
    _dealt_to.__globals__.update(tl=triton_language, dealt_out=dealt_out)
    found = torch.full((heads * tiles,), -1, dtype=torch.int32, device=DEVICE)
    dealt[(heads * tiles,)](found, tiles, many)
    assert sorted(found.tolist()) == list(range(heads * tiles))
    turns = (found % tiles).split(many)  # 0: the longest of a head
    assert all(a.max() <= b.min() for a, b in itertools.pairwise(turns))
    dealt[(heads * tiles,)](found, tiles, 0)
    assert found.tolist() == list(range(heads * tiles))


def _dealt_to(found, tiles, many):
    pid = tl.program_id(0)  # noqa: F821  (the test says what it is)
    tl.store(found + pid, dealt_out(pid, tiles, many))  # noqa: F821


@runs_kernels
@pytest.mark.parametrize("bad", [False, True], ids=["finite", "not finite"])
@pytest.mark.parametrize("region", ["sparse(5)", "sparse(5) & causal"])
def test_a_small_region_of_several_passes_is_a_mask_of_pairs(region, bad, monkeypatch):
    monkeypatch.setattr(region_call, "FEW_PAIRS", 50 * 50)
    q, k, v = draw(2, 3, 50, 16), draw(2, 3, 50, 16), draw(2, 3, 50, 16)
    if bad:
        spoil(k, v)
    with torch.inference_mode():
        regard.attend(q, k, v, region=region)
    counted = []
    monkeypatch.setattr(Launch, "__call__", _counting(Launch.__call__, counted))
    compare(q, k, v, region=region)
    assert len(counted) == 3  # one forward, two backward
    compare(q, k, v, region=region, bias=draw(50, 50))
    compare(q, k, v, region=region, mask=torch.rand(50, device=DEVICE) > 0.3)
    compare(q[:, :, :1], k, v, region="sparse(5, align=end)")


def _counting(launch, counted):
    def call(self, *tensors):
        counted.append(self.kernel)
        launch(self, *tensors)

    return call


@runs_kernels
def test_all_keys(monkeypatch):
    monkeypatch.setattr(on_trial, "ON", {on_trial.CHECKED_SDPA})
    monkeypatch.setattr(region_call, "better_kernel", lambda *_: None)
    q, k, v = draw(50, 16), draw(50, 16), draw(50, 16)
    compare(q, k, v)
    leaves = [x.requires_grad_() for x in (q, *spoil(k, v))]
    context = regard.attend(*leaves).context
    assert context.isnan().all()
    assert all(x.isfinite().all() for x in torch.autograd.grad(context.sum(), leaves))


@runs_kernels
@pytest.mark.parametrize("align", ["start", "end", -20, 7])
def test_queries_that_stand_elsewhere(align):
    region = regard.regions.Window(9, 4, align=align) | regard.regions.First(3)
    compare(draw(2, 21, 16), draw(2, 47, 16), draw(2, 47, 16), region=region)
    strided = regard.regions.Atrous(4, align=align)
    compare(draw(2, 47, 16), draw(2, 21, 16), draw(2, 21, 16), region=strided)


@runs_kernels
@pytest.mark.parametrize(("size", "value_size"), [(16, 16), (24, 40), (3, 65)])
def test_sizes(size, value_size):
    compare(draw(2, 33, size), draw(2, 33, size), draw(2, 33, value_size), region="window(5)")


@runs_kernels
@pytest.mark.parametrize("bad", [False, True], ids=["finite", "not finite"])
def test_sequences(bad):
    q, k, v = draw(2, 1, 50, 16), draw(2, 1, 50, 16), draw(2, 1, 50, 16)
    if bad:
        spoil(k, v)
    ids = torch.randint(0, 4, (2, 1, 50), device=DEVICE)
    in_pieces, mixed = Documents(ids.sort().values), Documents(ids)
    causal = regard.regions.Causal()
    for region in (in_pieces, in_pieces & causal, mixed, mixed & regard.regions.Window(9)):
        compare(q, k, v, region=region)
    lengths = torch.tensor([[7], [41]], device=DEVICE)
    compare(q, k, v, region=Prefix(lengths))
    compare(q, k, v, region=Prefix(lengths[0, 0]) & regard.regions.Window(12))


@runs_kernels
@pytest.mark.parametrize("region", ["everywhere", "window(9)", "sparse(5)"])
def test_masks(region):
    q, k, v = draw(2, 1, 40, 16), draw(2, 1, 40, 16), draw(2, 1, 40, 16)
    keys = torch.rand(2, 1, 1, 40, device=DEVICE) > 0.5
    pairs = torch.rand(2, 1, 40, 40, device=DEVICE) > 0.5
    pairs[:, :, 5] = False
    compare(q, k, v, region=region, mask=keys)
    compare(q, *spoil(k.clone(), v.clone()), region=region, mask=pairs)
    lengths = torch.tensor([[0], [15]], device=DEVICE)
    k[:, :, 15:], v[:, :, 15:] = math.nan, math.inf
    context = compare(q, k, v, region=region, lengths=lengths)
    assert (context[0] == 0).all()
    assert context.isfinite().all()


@runs_kernels
@pytest.mark.parametrize("rows", [1, 40])
@pytest.mark.parametrize("region", ["everywhere", "sparse(5) & causal"])
def test_a_bias_learns(region, rows):
    bias = draw(2, rows, 40)
    bias[0, 0, 3] = -math.inf
    q, k, v = draw(2, 2, 40, 16), draw(2, 2, 40, 16), draw(2, 2, 40, 16)
    compare(q, k, v, region=region, bias=bias, normalize="softmax(0.5)")


@runs_kernels
def test_a_bias_that_is_not_finite_spoils_who_may_attend_to_it():
    q, k, v, bias = draw(40, 16), draw(40, 16), draw(40, 16), draw(40, 40)
    bias[3, 20], bias[20, 3], bias[26, 2], bias[25] = math.nan, math.nan, math.inf, -math.inf
    q, bias = q.requires_grad_(), bias.requires_grad_()
    context = regard.attend(q, k, v, region="causal", bias=bias).context
    assert context.isnan().any(-1).nonzero().flatten().tolist() == [20, 26]
    assert (context[25] == 0).all()
    kept = context.nan_to_num()
    assert all(x.isfinite().all() for x in torch.autograd.grad(kept.sum(), [q, bias]))


@runs_kernels
@pytest.mark.parametrize("region", ["everywhere", "sparse(5) & causal"])
def test_a_cap_and_sinks(region):
    q, k, v = draw(2, 2, 40, 16), draw(2, 2, 40, 16), draw(2, 2, 40, 16)
    compare(q, k, v, region=region, cap=1.5, sinks=draw(2), normalize="softmax(0.5)")
    shared = draw(2, 1, 1, 40, 16), draw(2, 1, 1, 40, 16)
    compare(draw(2, 1, 2, 40, 16), *shared, region=region, sinks=draw(1, 2), bias=draw(40))
    x = draw(2, 2, 40, 16)
    other = regard.explain(x, x, region=region, sinks=draw(2, 1))
    assert other.path != "region-fused"  # of every sequence another one


@pytest.mark.heavy
@runs_kernels
def test_sinks_may_lie_anywhere():
    q, k, v = draw(2, 4, 20, 16), draw(2, 4, 20, 16), draw(2, 4, 20, 16)
    many = draw(8)
    for sinks in (many[::2], many[:1].expand(4), many[4:]):
        ours = regard.attend(q, k, v, region="window(3)", sinks=sinks).context
        wanted = regard.attend(q, k, v, region="window(3)", sinks=sinks.clone()).context
        assert torch.equal(ours, wanted)


@runs_kernels
def test_heads_that_share_keys():
    mask = torch.rand(2, 1, 1, 1, 40, device=DEVICE) > 0.3
    shared = draw(2, 2, 1, 40, 16), draw(2, 2, 1, 40, 24)
    compare(draw(2, 2, 3, 30, 16), *shared, region="causal(end)", mask=mask)
    compare(draw(2, 4, 30, 16), draw(2, 1, 30, 16), draw(2, 1, 30, 16), region="window(4)")
    compare(draw(2, 4, 30, 16), draw(30, 16), draw(4, 30, 16), region="window(4)")
    compare(draw(2, 2, 3, 30, 16), *shared, region="atrous(3)", bias=draw(2, 1, 1, 40))


@runs_kernels
def test_a_query_that_is_not_finite_spoils_itself_and_an_empty_row_is_zero():
    q, k, v = draw(1, 1, 40, 16), draw(1, 1, 40, 16), draw(1, 1, 40, 16)
    mask = torch.ones(40, 40, dtype=torch.bool, device=DEVICE)
    mask[5] = mask[30] = False
    q[..., 5, :], q[..., 30, 2] = math.nan, math.inf
    leaves = [x.requires_grad_() for x in (q, k, v)]
    context = regard.attend(*leaves, region="causal", mask=mask).context
    assert context.isfinite().all()
    assert (context[..., [5, 30], :] == 0).all()
    assert all(x.isfinite().all() for x in torch.autograd.grad(context.sum(), leaves))
    with torch.no_grad():
        q[..., 9, 1] = math.nan
        spoilt = regard.attend(*leaves, region="causal", mask=mask).context
    assert spoilt.isnan().any(-1).flatten().nonzero().flatten().tolist() == [9]


def capped_with_sink(q, k, v, sink, allowed, cap):
    s = cap * torch.tanh(q @ k.mT * 0.25 / cap)
    s = s.masked_fill(~allowed, -math.inf)
    every = torch.cat([s, sink[:, None, None].expand(*s.shape[:-1], 1)], -1)
    return every.softmax(-1)[..., :-1] @ v, every.logsumexp(-1)


@runs_kernels
@pytest.mark.parametrize("region", ["window(4, align=-10)", "sparse(5) & causal"])
def test_cap_sink_and_the_log_of_the_sum(region):
    given = [draw(2, 2, 40, 16), draw(2, 2, 40, 16), draw(2, 2, 40, 16), draw(2)]
    low = [x.clone().requires_grad_() for x in given]
    high = [x.double().requires_grad_() for x in given]
    region = as_region(region)
    numbers = region_passes(region, 40, 40).numbers
    ours, lse = operator.region_attention(*low[:3], numbers, sink=low[3], scale=0.25, cap=1.5)
    allowed = region.mask(40, 40, device=DEVICE)
    exact, log = capped_with_sink(*high, allowed, 1.5)
    grad = torch.randn_like(ours)
    wanted = torch.autograd.grad(exact, high, grad.double())
    for a, b in zip(
        (ours, lse, *torch.autograd.grad(ours, low, grad)), (exact, log, *wanted), strict=True
    ):
        torch.testing.assert_close(a.double(), b, rtol=3e-5, atol=3e-5)


def by_definition(kernel, q, k, v, causal, scale):
    """In place of torch's kernel; a number that is not finite reaches everything."""
    s = q @ k.mT * scale
    if causal:
        s = s.masked_fill(torch.ones_like(s, dtype=torch.bool).triu(1), -math.inf)
    return s.softmax(-1) @ v, s.logsumexp(-1), None


def gradients_by_definition(kernel, grad, q, k, v, context, lse, causal, scale, rest):
    leaves = [x.detach().requires_grad_() for x in (q, k, v)]
    with torch.enable_grad():
        context = by_definition(kernel, *leaves, causal, scale)[0]
    return [x.contiguous() for x in torch.autograd.grad(context, leaves, grad)]


@runs_kernels
@pytest.mark.parametrize("bad", [False, True], ids=["finite", "not finite"])
@pytest.mark.parametrize("region", ["everywhere", "causal"])
def test_a_kernel_of_torch_and_ours_where_a_head_is_not_finite(region, bad, monkeypatch):
    monkeypatch.setattr(on_trial, "ON", {on_trial.CHECKED_SDPA})
    monkeypatch.setattr(region_call, "better_kernel", lambda *_: "flash")
    ran = []
    for name, run in (("forward", by_definition), ("backward", gradients_by_definition)):
        if not CUDA:
            kept = lambda *given, name=name, run=run: ran.append(name) or run(*given)  # noqa: E731
            monkeypatch.setattr(checked_sdpa, f"torch_{name}", kept)
    low = [draw(2, 3, 40, 16) for _ in range(3)]
    if bad:
        spoil(low[1][1, 2], low[2][1, 2])
        low[0][0, 1, 9, 3] = math.nan
    low = [x.half().requires_grad_() if CUDA else x.requires_grad_() for x in low]
    high = [x.detach().double().requires_grad_() for x in low]
    assert regard.explain(*low, region=region).path == "sdpa-checked"
    exact = prepare(*high, region=region).run(by_definition=True).context
    for _ in range(2):  # the second call is a known one
        ours = regard.attend(*low, region=region).context
        assert torch.equal(ours.isnan(), exact.isnan())
        assert bad == bool(ours.isnan().any())
        grad = torch.randn_like(ours).masked_fill(ours.isnan(), 0.0)
        grads = torch.autograd.grad(ours, low, grad)
        kept = exact.masked_fill(exact.isnan(), 0.0)
        if bad:
            grads[0][0, 1, 9] = 0.0  # of the query that is not finite itself
            assert all(x.isfinite().all() for x in grads)
            continue
        wanted = torch.autograd.grad(kept, high, grad.double(), retain_graph=True)
        far = 2e-3 if CUDA else 2e-5
        for a, b in zip((ours, *grads), (exact, *wanted), strict=True):
            torch.testing.assert_close(a.double(), b, rtol=far, atol=far)
    assert CUDA or ran == ["forward", "backward"] * 2


@runs_kernels
def test_a_call_that_is_known_is_not_planned_again(monkeypatch):
    x, mask = draw(2, 2, 20, 16), torch.rand(20, device=DEVICE) > 0.3
    calls = [{"region": "window(3)"}, {"mask": mask}, {"bias": draw(20, 20)}]
    calls += [choices | {"score": "dot"} for choices in calls]
    first = [regard.attend(x, x, **choices).context for choices in calls]
    with pytest.raises(ValueError, match="dropout"):
        regard.attend(x, x, dropout=2.0)
    other = regard.attend(x, x, region="window(4)").context
    monkeypatch.setattr(regard.attention.attend, "prepare", None)
    for choices, wanted in zip(calls, first, strict=True):
        assert torch.equal(regard.attend(x, x, **choices).context, wanted)
    assert not torch.equal(other, first[0])
    with pytest.raises(TypeError):  # another shape is another call
        regard.attend(x[:, :, :19], x, region="window(3)")


@runs_kernels
def test_a_region_that_holds_tensors_is_known_as_long_as_it_is_there(monkeypatch):
    x, ids = draw(2, 2, 20, 16), torch.arange(20, device=DEVICE) // 6
    documents, prefix = Documents(ids), Prefix(torch.tensor([[3], [9]], device=DEVICE))
    regions = [documents, documents & regard.regions.Causal(), prefix]
    first = [regard.attend(x, x, region=region).context for region in regions]
    other = Documents(ids // 2)
    with monkeypatch.context() as planned_once:
        planned_once.setattr(regard.attention.attend, "prepare", None)
        for region, wanted in zip(regions, first, strict=True):
            assert torch.equal(regard.attend(x, x, region=region).context, wanted)
        for region, y in ((other, x), (documents, x[:, :1])):
            with pytest.raises(TypeError):  # another one, or another shape
                regard.attend(y, y, region=region)
    regard.attend(x, x, region=other)
    bounds = weakref.ref(other.bounds)
    del other, region
    assert bounds() is None  # nothing that is known of it keeps its tensors
    compare(x, x, x, region=documents)


@runs_kernels
def test_half_precision():
    q, k, v = (draw(1, 2, 40, 16).half() for _ in range(3))
    ours = regard.attend(q, k, v, region="sparse(5)").context
    exact = regard.attend(q.double(), k.double(), v.double(), region="sparse(5)").context
    assert ours.dtype == torch.float16
    assert (ours.double() - exact).abs().max() < 2e-3


@pytest.mark.heavy
@runs_kernels
def test_any_memory_layout():
    q, k, v = (draw(2, 40, 3, 16).transpose(1, 2) for _ in range(3))
    compare(q, k, v, region="window(5)")
    compare(q.mT.contiguous().mT, k[..., ::2].repeat(1, 1, 1, 2), v, region="atrous(3)")


@pytest.mark.heavy
@runs_kernels
@pytest.mark.slow
@pytest.mark.parametrize("name", ["(first(4) | window(6)) & causal", "sparse(5)"])
def test_one_graph_for_every_length(name):
    region = as_region(name)
    compiled = torch.compile(
        lambda *x: regard.attend(*x, region=region).context,
        fullgraph=True, dynamic=True, backend="aot_eager",
    )  # fmt: skip
    for length in (24, 40):
        x = [draw(1, 2, length, 16).requires_grad_() for _ in range(3)]
        ours, wanted = compiled(*x), regard.attend(*x, region=region).context
        assert torch.equal(ours, wanted)
        grads = [torch.autograd.grad(y.sum(), x) for y in (ours, wanted)]
        assert all(torch.equal(a, b) for a, b in zip(*grads, strict=True))


@runs_kernels
def test_what_other_paths_compute():
    x = draw(2, 2, 40, 16)
    other = [
        {"region": "~causal"},
        {"region": "causal", "normalize": "sparsemax"},
        {"region": "causal", "score": "distance"},
        {"region": "causal", "weights": True},
        {"region": "causal", "dropout": 0.5, "training": True},
        {"region": Documents(torch.zeros(2, 2, 40, dtype=torch.long, device=DEVICE))},
    ]
    for choices in other:
        assert regard.explain(x, x, **choices).path != "region-fused"
    assert regard.explain(x, x).path == ("region-fused" if CUDA or INTERPRETED else "sdpa")
    assert regard.explain(x.double(), x.double(), region="causal").path != "region-fused"
    wide = draw(2, 40, 300)
    assert regard.explain(wide, wide, region="causal").path != "region-fused"


def test_nothing_changes_without_the_kernel():
    x = torch.randn(2, 2, 40, 16)
    if not INTERPRETED:
        assert regard.explain(x, x, region="causal").path == "sdpa"


@runs_kernels
@pytest.mark.skipif(CUDA, reason="a kernel in place of cuDNN's")
def test_a_kernel_that_is_planned_anew_is_used_for_shapes_that_come_again(monkeypatch):
    monkeypatch.setattr(on_trial, "ON", {on_trial.CHECKED_SDPA})
    monkeypatch.setattr(region_call, "better_kernel", lambda *_: "cudnn")
    ran = []
    planned = lambda *given: ran.append(1) or by_definition(*given)  # noqa: E731
    monkeypatch.setattr(checked_sdpa, "torch_forward", planned)
    counts = []
    for length in (37, 37, 37, 41, 37, 41):
        q, k, v = (draw(1, 2, length, 16) for _ in range(3))
        exact = prepare(q, k, v).run(by_definition=True).context
        assert torch.allclose(regard.attend(q, k, v).context, exact, atol=1e-5)
        counts.append(len(ran))
    assert counts == [0, 0, 1, 1, 2, 2]


def test_documents_and_prefixes_are_checked():
    with pytest.raises(TypeError, match="whole numbers"):
        Documents(torch.zeros(3))
    with pytest.raises(ValueError, match="one for every key"):
        regard.attend(torch.randn(5, 4), torch.randn(5, 4), region=Documents(torch.arange(4)))
    with pytest.raises(ValueError, match="two ways"):
        regard.attend(torch.randn(5, 4), torch.randn(6, 4), region=Prefix(torch.tensor(2)))


def test_documents_in_heads():
    ids = torch.tensor([[0, 0, 1, 1], [0, 1, 1, 1]])
    attention = regard.MultiHead(8, heads=2, region=Documents(ids))
    weights = attention(torch.randn(2, 4, 8), weights=True).weights
    same = ids[:, None, :, None] == ids[:, None, None]
    assert torch.equal(weights > 0, same.expand_as(weights))


@pytest.mark.parametrize("shape", [(6,), (2, 6), (3, 2, 6)])
def test_documents_of_all_heads_have_the_bounds_of_one(shape):
    ids = torch.randint(0, 3, shape)
    for_heads = Documents(ids).for_heads(-3)
    wanted = Documents(for_heads.ids)
    assert torch.equal(for_heads.bounds, wanted.bounds)
    assert for_heads.leads == wanted.leads == ([()] if len(shape) == 1 else [(*shape[:-1], 1)])


@pytest.mark.parametrize("kind", ["kernel", "none"])
def test_a_region_is_not_kept_by_what_is_known_of_it(kind):
    """Whether or not the kernel takes it: documents and a band are no region of its own."""
    region = Documents(torch.tensor([0, 0, 1, 1]))
    region = (
        region & regard.regions.Causal() if kind == "kernel" else region | regard.regions.Window(1)
    )
    assert (region_passes(region, 4, 4) is None) == (kind == "none")
    gone = weakref.ref(region)
    del region
    assert gone() is None


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64, torch.int8])
def test_documents_and_prefixes_keep_a_copy_of_their_numbers(dtype):
    x, given = torch.randn(1, 4, 8), torch.tensor([0, 0, 1, 1], dtype=dtype)
    length = torch.tensor(2, dtype=dtype)
    regions = [Documents(given), Prefix(length)]
    before = [regard.attend(x, x, region=region).context for region in regions]
    given.fill_(5)
    length.fill_(4)
    for region, wanted in zip(regions, before, strict=True):
        assert torch.equal(regard.attend(x, x, region=region).context, wanted)
        torch.testing.assert_close(regard.attend(x, x, region=region, weights=True).context, wanted)


def test_a_prefix_longer_than_any_text_is_all_of_it():
    ends = Prefix(torch.tensor([2**33 + 1, -3, 5])).ends
    assert ends.tolist() == [2**31 - 1, 0, 5]
