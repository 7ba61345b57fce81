"""Additive attention on a CUDA device: milliseconds, ratios, element rates and errors.

    python benchmarks/kernels_additive_cuda.py             the table
    python benchmarks/kernels_additive_cuda.py --sweep     tile sizes
    python benchmarks/kernels_additive_cuda.py --patches   those of the scores alone

An element is one tanh(q + k): N · Lq · Lk · D of them. The rate is given relative to the hardware's tanh
unit, 16 to a clock and processor. Errors are against float64, relative to Σ|w| for scores, and
‖x − ref‖ / ‖ref‖ for everything else, on a sample of rows. Attention is compared with its steps one after
another, our scores, softmax and product, which keep the Lq × Lk weights: its first ratio is to those.
"""

# ruff: noqa: N803, N806, B023  (sizes are capitals; each timing runs before its loop moves on)

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Callable

import torch
from torch import Tensor
from triton.testing import do_bench

from regard.attention.kernels import additive_triton as kernels
from regard.attention.kernels import additive_triton_attention as fused
from regard.attention.kernels.additive_triton_gradient import Band, Tile, gradient
from regard.attention.kernels.additive_triton_tiles import Patch, exponentials

CLOCK = 1.98e9  # boost clock of an H200


def tanh_limit() -> float:
    return 16 * CLOCK * torch.cuda.get_device_properties(0).multi_processor_count


def plain_scores(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    return torch.tanh(query[:, :, None] + key[:, None]) @ weight[0]


def draw(N: int, Lq: int, Lk: int, D: int, spread: float = 1.0) -> list[Tensor]:
    query, key = (spread * torch.randn(N, L, D, device="cuda") for L in (Lq, Lk))
    return [query, key, torch.randn(1, D, device="cuda") / D**0.5]


def milliseconds(function: Callable[[], object], budget: int = 300) -> float:
    function()
    return do_bench(function, warmup=budget // 4, rep=budget, return_mode="median")


def peak_gigabytes(function: Callable[[], object]) -> float:
    gc.collect()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    function()
    torch.cuda.synchronize()
    return (torch.cuda.max_memory_allocated() - before) / 1e9


def differ(x: Tensor, ref: Tensor) -> float:
    return float((x.double() - ref).norm() / ref.norm())


def gradients(function, inputs: list[Tensor], grad: Tensor) -> list[Tensor]:
    inputs = [x.detach().requires_grad_() for x in inputs]
    return list(torch.autograd.grad(function(*inputs), inputs, grad))


def line(
    shape, path: str, ms: float, base: dict[str, float], rate: float | None, note: str
) -> None:
    ratios = "  ".join(
        f"{base[k] / ms:6.1f}" if k in base else "     -" for k in ("eager", "compile")
    )
    shown = f"{rate / tanh_limit():5.2f}" if rate else "    -"
    print(f"{shape!s:>24}  {path:34} {ms:9.3f}  {ratios}  {shown}  {note}", flush=True)


HEAD = f"{'shape':>24}  {'path':34} {'ms':>9}  {'×eager':>6}  {'×comp.':>6}  tanh   note"


def score_error(shape, spread: float = 1.0) -> str:
    query, key, weight = draw(*shape, spread)
    out = kernels.scores(query, key, weight)
    worst = 0.0
    for n in range(shape[0]):
        rows = torch.randint(shape[1], (4,), device="cuda")
        exact = plain_scores(
            query[n : n + 1, rows].double(), key[n : n + 1].double(), weight.double()
        )
        worst = max(worst, float((out[n : n + 1, rows] - exact).abs().max() / weight.abs().sum()))
    return f"error {worst:.1e} Σ|w|"


def gradient_error(shape) -> str:
    query, key, weight = draw(*shape)
    grad = torch.randn(shape[0], shape[1], shape[2], device="cuda")
    d_query, d_key, d_weight = kernels.scores_backward(grad, query, key, weight)
    rows = slice(0, 4)
    exact_q = gradients(
        plain_scores,
        [query[:1, rows].double(), key[:1].double(), weight.double()],
        grad[:1, rows].double(),
    )[0]
    exact_k = gradients(
        plain_scores,
        [query[:1].double(), key[:1, rows].double(), weight.double()],
        grad[:1, :, rows].double(),
    )[1]
    exact_w = torch.zeros_like(weight, dtype=torch.float64)
    for n in range(shape[0]):
        for i in range(0, shape[1], 64):
            t = torch.tanh(query[n, i : i + 64, None].double() + key[n].double())
            exact_w += torch.einsum("ijd,ij->d", t, grad[n, i : i + 64].double())
    return "errors " + " ".join(
        f"{differ(x, r):.1e}"
        for x, r in ((d_query[:1, rows], exact_q), (d_key[:1, rows], exact_k), (d_weight, exact_w))
    )


def table_scores(shape, eager: bool = True) -> None:
    inputs = draw(*shape)
    elements = shape[0] * shape[1] * shape[2] * shape[3]
    compiled = torch.compile(plain_scores, dynamic=False)
    paths = {"compile": lambda: compiled(*inputs), "triton": lambda: kernels.scores(*inputs)}
    if eager:
        paths = {"eager": lambda: plain_scores(*inputs)} | paths
    base: dict[str, float] = {}
    for path, run in paths.items():
        base[path] = milliseconds(run)
        note = score_error(shape) if path == "triton" else ""
        note += f"  {peak_gigabytes(run):.3f} GB"
        line(shape, f"scores {path}", base[path], base, elements / base[path] * 1e3, note)
        torch.cuda.empty_cache()


def table_scores_training(shape, eager: bool = True) -> None:
    inputs = draw(*shape)
    grad = torch.randn(shape[0], shape[1], shape[2], device="cuda")
    elements = shape[0] * shape[1] * shape[2] * shape[3]
    compiled = torch.compile(plain_scores, dynamic=False)

    def ours():
        return kernels.scores(*inputs), kernels.scores_backward(grad, *inputs)

    paths = {"compile": lambda: gradients(compiled, inputs, grad), "triton": ours}
    if eager:
        paths = {"eager": lambda: gradients(plain_scores, inputs, grad)} | paths
    base: dict[str, float] = {}
    for path, run in paths.items():
        base[path] = milliseconds(run)
        note = gradient_error(shape) if path == "triton" else ""
        note += f"  {peak_gigabytes(run):.3f} GB"
        line(shape, f"scores+backward {path}", base[path], base, elements / base[path] * 1e3, note)
        torch.cuda.empty_cache()


def stepwise(query, key, value, weight, grad=None):
    """Scores, softmax and product one after another, each as fast as it is here."""
    p = torch.softmax(kernels.scores(query, key, weight), -1)
    context = p @ value
    if grad is None:
        return context
    dp = grad @ value.mT
    ds = torch._softmax_backward_data(dp, p, -1, p.dtype)
    return context, p.mT @ grad, kernels.scores_backward(ds, query, key, weight)


ALL = (None, 1.0, -1, -1, 0)


def table_attention(shape, Dv: int, steps: bool = True, window=(-1, -1, 0)) -> None:
    query, key, weight = draw(*shape)
    weight = weight * 4
    value = torch.randn(shape[0], shape[2], Dv, device="cuda")
    grad = torch.randn(shape[0], shape[1], Dv, device="cuda")
    elements = shape[0] * shape[1] * shape[2] * shape[3]
    options = (None, 1.0, *window)

    def forward():
        return kernels.attention(query, key, value, weight, *options)

    def both():
        context, lse = forward()
        return kernels.attention_backward(
            grad, query, key, value, weight, None, context, lse, *options[1:]
        )

    def label(what, run):
        return f"{peak_gigabytes(run):.3f} GB {what}"

    title = f"attention Dv={Dv}" + (f" {window}" if window != (-1, -1, 0) else "")
    context, _ = forward()
    rows = slice(shape[1] // 2, shape[1] // 2 + 4)
    s = plain_scores(query[:1, rows].double(), key[:1].double(), weight.double())
    if window != (-1, -1, 0):
        i = torch.arange(rows.start, rows.stop, device="cuda")[:, None] + window[2]
        j = torch.arange(shape[2], device="cuda")
        before, after = (w if w >= 0 else shape[2] + shape[1] for w in window[:2])
        s = s.masked_fill((j < i - before) | (j > i + after), -torch.inf)
    error = differ(context[:1, rows], torch.softmax(s, -1) @ value[:1].double())
    base = {}
    if steps:
        run = lambda: stepwise(query, key, value, weight)  # noqa: E731
        base["eager"] = milliseconds(run)
        line(
            shape,
            f"{title} stepwise",
            base["eager"],
            {},
            elements / base["eager"] * 1e3,
            label("", run),
        )
    ms = milliseconds(forward)
    line(
        shape, f"{title} fused", ms, base, elements / ms * 1e3, label(f"error {error:.1e}", forward)
    )
    if steps:
        run = lambda: stepwise(query, key, value, weight, grad)  # noqa: E731
        base["eager"] = milliseconds(run)
        line(shape, f"{title} stepwise +backward", base["eager"], {}, None, label("", run))
        _, d_value, (d_query, d_key, d_weight) = run()
        ours = both()
        error = " ".join(
            f"{differ(x, r.double()):.0e}"
            for x, r in zip(ours, (d_query, d_key, d_value, d_weight), strict=True)
        )
    note = f"from stepwise {error}" if steps else ""
    ms = milliseconds(both)
    line(shape, f"{title} fused +backward", ms, base, None, label(note, both))


PATCHES = (
    Patch(), Patch(unroll=2), Patch(unroll=4), Patch(registers=128, unroll=2), Patch(registers=128, unroll=4),
    Patch(8, 4, 8, 16, 4, 168, 2), Patch(8, 4, 8, 16, 4, 168), Patch(8, 4, 8, 16, 4, 128),
    Patch(4, 8, 16, 8, 4, 168, 2), Patch(4, 8, 16, 8, 4, 128), Patch(T0=16, T1=8, unroll=2),
    Patch(4, 4, 4, 16, 2, 96, 2), Patch(registers=80), Patch(registers=None), Patch(2, 8, 16, 8, 4, 128),
)  # fmt: skip


def patch_sweep(shape: tuple[int, ...]) -> None:
    """The rate of each patch, as soon as it is known."""
    query, key, weight = draw(*shape)
    elements = shape[0] * shape[1] * shape[2] * shape[3]
    usual = kernels.scores(query, key, weight)
    for patch in PATCHES:
        try:
            same = torch.allclose(kernels.scores(query, key, weight, patch=patch), usual, atol=1e-5)
            ms = milliseconds(lambda: kernels.scores(query, key, weight, patch=patch), 100)
        except Exception as error:
            print(f"scores {tuple(patch)}: {str(error).splitlines()[0][:120]}", flush=True)
            continue
        note = "" if same else "WRONG"
        line(shape, f"scores {tuple(patch)}", ms, {}, elements / ms * 1e3, note)


def sweep() -> None:
    for shape in ((8, 1024, 1024, 512), (2, 4096, 4096, 512)):
        query, key, weight = draw(*shape)
        elements = shape[0] * shape[1] * shape[2] * shape[3]
        patch_sweep(shape)
        for spread in (2.0, 4.0, 30.0):  # merged by four, by two, one at a time
            query, key, weight = draw(*shape, spread)
            ms = milliseconds(lambda: kernels.scores(query, key, weight), 100)
            line(
                shape,
                f"scores spread {spread}",
                ms,
                {},
                elements / ms * 1e3,
                score_error(shape, spread),
            )
        query, key, weight = draw(*shape)
        ms = milliseconds(lambda: (exponentials(query), exponentials(key, row_major=True)), 50)
        line(shape, "exponentials (2)", ms, {}, None, "")
        grad = torch.randn(shape[:3], device="cuda")
        E, F = exponentials(query, row_major=True), exponentials(key, row_major=True)
        bands = {"xs": Band(0, shape[1]), "ys": Band(0, shape[2])}
        for tile in (
            Tile(64, 64, 4), Tile(32, 64, 4, 128), Tile(64, 32, 4, 128), Tile(32, 32, 2, 128),
        ):  # fmt: skip
            for side, g, with_weight in (("dq dw", grad, True), ("dk", grad.mT, False)):
                ms = milliseconds(
                    lambda: gradient(
                        g, query, key, weight, E, F, **bands, with_weight=with_weight, tile=tile
                    ),
                    100,
                )
                line(shape, f"{side} {tuple(tile)}", ms, {}, elements / ms * 1e3, "")
    for shape, Dv in (((64, 1024, 1024, 128), 64), ((2, 16384, 16384, 128), 128)):
        query, key, weight = draw(*shape)
        value = torch.randn(shape[0], shape[2], Dv, device="cuda")
        elements = shape[0] * shape[1] * shape[2] * shape[3]
        for band in (24, 25, 26):
            fused.BAND = 1 << band
            ms = milliseconds(lambda: kernels.attention(query, key, value, weight, *ALL), 100)
            line(shape, f"attention Dv={Dv} band 2^{band}", ms, {}, elements / ms * 1e3, "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--patches", action="store_true", help="time the patches of the scores instead"
    )
    parser.add_argument("--sweep", action="store_true", help="time tile sizes instead")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("no CUDA device: this benchmark measures nothing without one")
    torch.manual_seed(0)
    print(
        torch.cuda.get_device_name(), "torch", torch.__version__, f"tanh limit {tanh_limit():.3g}/s"
    )
    print(HEAD)
    if options.patches:
        patch_sweep((2, 4096, 4096, 512))
    elif options.sweep:
        sweep()
    else:
        table()


def table() -> None:
    for shape in ((8, 1024, 1024, 512), (64, 50, 50, 512), (64, 1, 200, 512)):
        table_scores(shape)
        table_scores_training(shape)
    table_scores((2, 4096, 4096, 512), eager=False)
    table_attention((8, 1024, 1024, 512), 512)
    table_attention((64, 1024, 1024, 128), 64)
    table_attention((2, 16384, 16384, 128), 128)
    table_attention((2, 16384, 16384, 128), 128, steps=False, window=(256, 0, 0))


if __name__ == "__main__":
    main()
