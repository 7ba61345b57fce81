"""gradcheck, gradgradcheck, torch.compile, torch.export, autocast, vmap."""

from __future__ import annotations

import definition
import pytest
import torch
from torch import nn

import regard

SCORES = list(definition.all_scores())


def small(*sizes: tuple[int, int]) -> list[torch.Tensor]:
    return [torch.randn(2, n, d, dtype=torch.float64, requires_grad=True) for n, d in sizes]


@pytest.mark.parametrize("normalize", ["softmax(0.7)", "sparsemax", "raw", "uniform"])
@pytest.mark.parametrize("score", SCORES)
def test_gradcheck(score, normalize):
    mechanism = definition.all_scores()[score]
    mask = torch.tensor([[[True, True, False]], [[True, True, True]]])

    def context(q, k, v, *_):
        return regard.attend(q, k, v, score=mechanism, normalize=normalize, mask=mask).context

    assert torch.autograd.gradcheck(
        context, (*small((2, 4), (3, 4), (3, 2)), *mechanism.parameters())
    )


@pytest.mark.parametrize("region", ["window(1)", "atrous(2) & causal", "sparse(2)"])
def test_gradcheck_through_the_fast_paths(region):
    from regard.attention import paths
    from regard.attention.call import AttentionCall

    x = torch.randn(1, 5, 2, dtype=torch.float64, requires_grad=True)
    path = {"w": paths.blocks, "a": paths.strided, "s": paths.sparse}[region[0]]

    def context(x):
        limits = regard.attention.limits.Limits(
            regard.attention.regions.as_region(region), None, 5, 5, x.device
        )
        score, softmax = regard.scores.Dot(), regard.normalizers.Softmax()
        return path(AttentionCall(score, softmax, x, x, x, limits))

    assert torch.autograd.gradcheck(context, (x,))
    assert torch.autograd.gradgradcheck(context, (x,))


@pytest.mark.parametrize("normalize", ["softmax", "raw"])
@pytest.mark.parametrize("score", SCORES)
def test_gradgradcheck_on_the_reference_path(score, normalize):
    mechanism = definition.all_scores()[score]
    mask = torch.tensor([[[True, False, True]], [[False, False, False]]])

    def context(q, k, v, *_):
        return regard.attend(q, k, v, score=mechanism, normalize=normalize, mask=mask).context

    assert torch.autograd.gradgradcheck(
        context, (*small((2, 4), (3, 4), (3, 2)), *mechanism.parameters())
    )


def test_predicted_window_gradcheck():
    region = regard.regions.PredictedWindow(3.0, query_size=4).double()

    def context(q, k, *_):
        return regard.attend(q, k, region=region).context

    assert torch.autograd.gradcheck(context, (*small((2, 4), (6, 4)), *region.parameters()))


class Model(nn.Module):
    def __init__(self, score: str, region: str, normalize: str = "softmax", weights: bool = False):
        super().__init__()
        self.heads = regard.MultiHead(8, heads=2, score=score, region=region, normalize=normalize)
        self.weights = weights

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        attended = self.heads(x, mask=mask, weights=self.weights)
        return attended.context if attended.weights is None else attended.weights @ x[:, None]


CASES = [
    ("scaled-dot", "everywhere"),
    ("additive", "everywhere"),
    ("additive", "causal"),
    ("cosine(0.2)", "window(2) & causal"),
    ("distance", "atrous(3)"),
    ("bilinear", "sparse(2)"),
    ("concat", "everywhere"),
    ("location(40)", "predicted-window(3)"),
]
COMPILED = [CASES[0], CASES[2], CASES[-1]]  # always: it takes seconds, and export traces them all


def batch(length: int = 11) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(2, length, 8), torch.arange(length) < torch.tensor([length, 4])[:, None]


@pytest.mark.parametrize(
    ("score", "region"),
    [pytest.param(*case, marks=[pytest.mark.heavy] * (case not in COMPILED)) for case in CASES],
)
def test_compile_gives_the_same_without_a_graph_break(score, region):
    """The traced graph runs as it is (aot_eager), so that no C++ compiler is needed."""
    torch._dynamo.reset()
    for weights in (False, True):
        model = Model(score, region, weights=weights)
        compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
        x, mask = batch()
        x.requires_grad_()
        wanted = torch.autograd.grad(
            model(x, mask).square().sum(), [x, *model.heads.query.parameters()]
        )
        got = torch.autograd.grad(
            compiled(x, mask).square().sum(), [x, *model.heads.query.parameters()]
        )
        torch.testing.assert_close(compiled(x, mask), model(x, mask))
        torch.testing.assert_close(got, wanted)


@pytest.mark.parametrize(("score", "region"), CASES)
def test_export_of_the_reference_path(score, region):
    model = Model(score, region, weights=True).eval()
    x, mask = batch()
    exported = torch.export.export(model, (x, mask)).module()
    torch.testing.assert_close(exported(x, mask), model(x, mask))


@pytest.mark.parametrize(("score", "region"), CASES)
def test_autocast(score, region):
    for weights in (False, True):
        model = Model(score, region, weights=weights)
        x, mask = batch()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            low = model(x, mask)
        low.float().sum().backward()
        torch.testing.assert_close(low.float(), model(x, mask), atol=0.06, rtol=0.06)
        grads = [p.grad for p in model.parameters() if p.grad is not None]
        assert grads
        assert all(g.isfinite().all() for g in grads)
        assert all(g.dtype == torch.float32 for g in grads)


@pytest.mark.filterwarnings("ignore:There is a performance drop")
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("score", SCORES)
def test_vmap_equals_a_loop(score, weights):
    mechanism = definition.all_scores(torch.float32)[score]
    q, k, v = torch.randn(3, 2, 5, 4), torch.randn(3, 2, 6, 4), torch.randn(3, 2, 6, 4)
    mask = torch.rand(3, 2, 1, 6) < 0.7

    def one(q, k, v, mask):
        return regard.attend(q, k, v, score=mechanism, mask=mask, weights=weights).context

    wanted = torch.stack([one(*x) for x in zip(q, k, v, mask, strict=True)])
    torch.testing.assert_close(torch.func.vmap(one)(q, k, v, mask), wanted)


def test_a_module_is_saved_and_loaded_without_pickle(tmp_path):
    model = Model("additive(6)", "predicted-window(3)")
    torch.save(model.state_dict(), tmp_path / "model.pt")
    other = Model("additive(6)", "predicted-window(3)")
    other.load_state_dict(torch.load(tmp_path / "model.pt", weights_only=True))
    x, mask = batch()
    torch.testing.assert_close(other(x, mask), model(x, mask))


def test_importing_regard_imports_neither_torch_nor_numba():
    import subprocess
    import sys

    code = "import sys, regard; print(sorted({'torch', 'numba', 'triton'} & set(sys.modules)))"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
        == "[]\n"
    )
    code = (
        "import sys, regard; regard.attend; print('numba' in sys.modules, 'triton' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    assert out == "False False\n"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["window(4)", "atrous(3)"])
def test_few_graphs_serve_all_lengths(name):
    """Of the CPU's paths: blocks and strided. Texts can be short, or fill their blocks or not."""
    torch._dynamo.reset()
    region = regard.attention.regions.as_region(name)
    made = []

    def counted(graph, _):
        made.append(graph)
        return graph.forward

    compiled = torch.compile(
        lambda q, k, v: regard.attend(q, k, v, region=region).context,
        backend=counted,
        fullgraph=True,
        dynamic=True,
    )
    for length in (20, 64, 100, 130, 201, 256, 333):
        given = [torch.randn(1, 2, length, 8) for _ in range(3)]
        torch.testing.assert_close(compiled(*given), regard.attend(*given, region=region).context)
    assert len(made) <= 4
