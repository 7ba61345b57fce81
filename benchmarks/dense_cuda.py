"""All keys, causal, key masks: `attend` beside torch's own attention, on a GPU.

    python benchmarks/dense_cuda.py                          # right? then the host's time, then the GPU's
    python benchmarks/dense_cuda.py --only triton            # the host's, if Triton launches
    python benchmarks/dense_cuda.py --only time --lengths 2048 8192 --ways
    python benchmarks/dense_cuda.py --off                    # as it comes

The GPU's time is that of a CUDA graph, forward and backward, (1, 16, n, 64), bfloat16: without the host. The
host's is that of a call of (4, 8, 128, 64), which does not wait for the GPU. A ratio above 1: ours is faster.
--ways: by each of the kernels that could compute it. All of `kernels/on_trial.py` is on here: a way that is
right and faster on this page may become the package's default.
Every line is printed as soon as it is known.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

import regard
from regard.attention.attend import prepare
from regard.attention.kernels import checked_sdpa, on_trial
from regard.attention.kernels.region.region_attention import kernels, region_attention
from regard.attention.kernels.region.region_passes import region_passes
from regard.attention.plans import known_calls
from regard.attention.regions import as_region
from regard.attention.sequences.documents import Documents
from regard.attention.sequences.prefix import Prefix
from regions_fused_cuda import attempt, microseconds, recorded

LENGTHS = [512, 1024, 2048, 4096, 8192, 16384, 32768]
KINDS = ["everywhere", "causal", "key mask"]
WAYS = [None, "cudnn"]  # ours, and torch's with ours in reserve
OFF = "as it comes"
ROUNDS = 12  # of the host's calls
TRIAL = {on_trial.DIRECT_LAUNCH, on_trial.CHECKED_SDPA}
Step = Callable[[], tuple[Tensor, ...]]


@contextmanager
def way(chosen: Any) -> Iterator[None]:
    """Which kernel computes what several could; OFF: nothing is chosen, and nothing is on trial."""
    before = set(on_trial.ON)
    if chosen == OFF:
        on_trial.ON = before - {on_trial.CHECKED_SDPA}
    else:
        on_trial.ON.add(on_trial.CHECKED_SDPA)
        checked_sdpa.CHOSEN[:] = [chosen]
    known_calls._KNOWN.clear()
    yield
    checked_sdpa.CHOSEN.clear()
    known_calls._KNOWN.clear()
    on_trial.ON = before


def say(*words: object) -> None:
    print(*words, flush=True)


def draw(*shape: int, dtype: torch.dtype = torch.bfloat16) -> Tensor:
    return torch.randn(shape, device="cuda", dtype=dtype, requires_grad=True)


def ours(kind: Any, q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    if kind == "key mask":
        return regard.attend(q, k, v, mask=mask).context
    if kind == "bias":
        return regard.attend(q, k, v, bias=bias_of(q, k)).context
    return regard.attend(q, k, v, region=kind).context


def bias_of(q: Tensor, k: Tensor) -> Tensor:
    return torch.randn(1, q.shape[1], q.shape[2], k.shape[2], device=q.device, dtype=q.dtype)


def sdpa(kind: str, q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    if kind == "key mask":
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return F.scaled_dot_product_attention(q, k, v, is_causal=kind == "causal")


def a_mask(batch: int, length: int) -> Tensor:
    return torch.rand(batch, 1, 1, length, device="cuda") > 0.2


# ── right? ───────────────────────────────────────────────────────────────────────────────────────


def checked(
    kind: str, chosen: Any, bad: bool, size: int, dtype: torch.dtype, length: int = 300
) -> str:
    """The errors of the context and of the gradients against the definition in float64."""
    torch.manual_seed(0)
    low = [draw(2, 3, length, size, dtype=dtype) for _ in range(3)]
    mask = a_mask(2, length)
    if bad:
        with torch.no_grad():
            low[1][0, 1, 250], low[2][1, 2, 130, 3], low[1][1, 0, 7, 2] = (
                math.nan,
                math.inf,
                math.inf,
            )
    high = [x.detach().double().requires_grad_() for x in low]
    choices = {"mask": mask} if kind == "key mask" else {"region": kind}
    exact = prepare(*high, **choices).run(by_definition=True).context  # type: ignore[arg-type]
    errors = []
    with way(chosen):
        path = regard.explain(*low, **choices).path  # type: ignore[arg-type]
        for _ in range(2):  # the second one is known
            got = ours(kind, *low, mask)
            assert torch.equal(got.isnan(), exact.isnan()), "NaN in other places"
            assert bool(got.isnan().any()) == bad
            grad = torch.randn_like(got).masked_fill(got.isnan(), 0.0)
            grads = torch.autograd.grad(got, low, grad)
            assert all(x.isfinite().all() for x in grads), "gradients that are not finite"
            wanted = torch.autograd.grad(exact, high, grad.double(), retain_graph=True)
            for a, b in zip((got, *grads), (exact, *wanted), strict=True):
                if not (bad and kind != "causal" and b is not exact):  # NaN by definition
                    far = (a.double() - b).nan_to_num().norm() / b.nan_to_num().norm()
                    errors.append(float(far))
    limit = 2e-2 if dtype == torch.bfloat16 else 1e-4
    mark = "ok   " if max(errors) < limit else "WRONG"
    return f"{mark} {kind:11}{path:13}{'not finite' if bad else 'finite':11}{max(errors):.1e}"


def check() -> None:
    for kind in KINDS:
        for chosen in WAYS if kind != "key mask" else WAYS[:1]:
            for bad in (False, True):
                case = (kind, chosen, bad, 64, torch.bfloat16)
                say(attempt(f"check {case}", lambda case=case: checked(*case)), chosen)
        case = (kind, None, True, 64, torch.float32)
        say(attempt(f"check {case}", lambda case=case: checked(*case)), "float32")
        long = (kind, None, True, 64, torch.bfloat16, 2040)  # more programs than multiprocessors
        say(attempt(f"check {long}", lambda case=long: checked(*case)), "of 2,040")


# ── the GPU's time ───────────────────────────────────────────────────────────────────────────────


def milliseconds(runs: dict[str, Callable[[], None]], seconds: float) -> dict[str, float]:
    """Medians of turns, one after the other, so that what the machine does meets all of them."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    begin = time.perf_counter()
    while len(times[next(iter(runs))]) < 5 or time.perf_counter() - begin < seconds:
        for name, run in runs.items():
            start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            run()
            start.record()
            for _ in range(3):
                run()
            stop.record()
            torch.cuda.synchronize()
            times[name].append(start.elapsed_time(stop) / 3)
    return {name: statistics.median(turns) for name, turns in times.items()}


def timed(kind: str, length: int, ways: bool, dtype: torch.dtype, seconds: float) -> str:
    leaves = [draw(1, 16, length, 64, dtype=dtype) for _ in range(3)]
    grad, mask = torch.randn_like(leaves[0]), a_mask(1, length)

    def step_of(attention: Callable[..., Tensor]) -> Step:
        def step() -> tuple[Tensor, ...]:
            context = attention(kind, *leaves, mask)
            return context, *torch.autograd.grad(context, leaves, grad)

        return step

    runs = {"sdpa": recorded(step_of(sdpa))}
    if ways:
        for chosen in WAYS if kind != "key mask" and dtype != torch.float32 else WAYS[:1]:
            with way(chosen):
                made = attempt(f"{kind} {chosen}", lambda: recorded(step_of(ours)))
            if made is not None:
                runs[chosen or "region"] = made
    else:
        runs["attend"] = recorded(step_of(ours))
    took = milliseconds(runs, seconds)
    base = took.pop("sdpa")
    cells = [f"{name} {ms:.4f} ({base / ms:.2f})" for name, ms in took.items()]
    return f"| {kind} | {length} | {str(dtype)[6:]} | {base:.4f} | " + " | ".join(cells) + " |"


def compare(lengths: list[int], ways: bool, seconds: float) -> None:
    say("\n| kind | n | dtype | SDPA ms | ours ms (SDPA / ours) |")
    for kind in KINDS:
        for length in lengths:
            case = (kind, length, ways, torch.bfloat16, seconds)
            say(attempt(f"time {case}", lambda case=case: timed(*case)))
        case = (kind, 2048, ways, torch.float32, seconds)
        say(attempt(f"time {case}", lambda case=case: timed(*case)))


# ── the host's time ──────────────────────────────────────────────────────────────────────────────


def host(ways: bool) -> None:
    q, k, v = (draw(4, 8, 128, 64) for _ in range(3))
    grad, mask = torch.randn_like(q), a_mask(4, 128)
    passes = region_passes(as_region("window(16)"), 128, 128)
    assert passes is not None
    numbers = passes.numbers
    runs: dict[str, tuple[Any, Callable[[], Tensor]]] = {
        f"sdpa {kind}": ("", lambda kind=kind: sdpa(kind, q, k, v, mask)) for kind in KINDS
    }
    for kind in KINDS:
        for chosen in WAYS if ways and kind != "key mask" else [""]:
            name = f"attend {kind} {'' if chosen == '' else chosen or 'region'}"
            runs[name] = (chosen, lambda kind=kind: ours(kind, q, k, v, mask))
    runs["attend everywhere as it comes"] = (OFF, lambda: ours("everywhere", q, k, v, mask))
    for name, region in regions_of_host(128).items():
        runs[f"attend {name}"] = ("", lambda r=region: regard.attend(q, k, v, region=r).context)
    pairs = torch.rand(4, 1, 128, 128, device="cuda") > 0.2
    bias = bias_of(q, k)
    runs["sdpa bias"] = ("", lambda: sdpa("key mask", q, k, v, bias))
    runs["attend bias"] = ("", lambda: regard.attend(q, k, v, bias=bias).context)
    runs["sdpa mask of pairs"] = ("", lambda: sdpa("key mask", q, k, v, pairs))
    runs["attend mask of pairs"] = ("", lambda: regard.attend(q, k, v, mask=pairs).context)
    runs["operator window(16)"] = ("", lambda: region_attention(q, k, v, numbers, scale=0.125)[0])
    launched = "directly" if on_trial.DIRECT_LAUNCH in on_trial.ON else "by Triton"
    say(f"\n(4, 8, 128, 64) bfloat16, kernels launched {launched}; microseconds of the host: "
        "forward, forward and backward, the least and the median of the rounds")  # fmt: skip
    both: dict[str, tuple[Any, Callable[[], Any]]] = {
        name: (chosen, lambda run=run: torch.autograd.grad(run(), [q, k, v], grad))
        for name, (chosen, run) in runs.items()
    }
    with torch.no_grad():
        forward = in_rounds(runs)
    for name, micros in in_rounds(both).items():
        cells = [kind(x) for kind in (min, statistics.median) for x in (forward[name], micros)]
        say(f"{name:40}" + "".join(f"{cell:8.1f}" for cell in cells))


def regions_of_host(length: int) -> dict[str, Any]:
    names = ["window(16)", "(first(4) | window(16)) & causal", "atrous(8)", "sparse(16)"]
    ids = torch.arange(length, device="cuda") // 48
    more = {"documents": Documents(ids), "prefix": Prefix(torch.tensor(20, device="cuda"))}
    return dict(zip(names, names, strict=True)) | more


def in_rounds(runs: dict[str, tuple[Any, Callable[[], Any]]]) -> dict[str, list[float]]:
    """Microseconds of a call, a number for each round: what slows the machine down meets all of them."""
    found: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(ROUNDS):
        for name, (chosen, run) in runs.items():
            with nullcontext() if chosen == "" else way(chosen):
                micros = attempt(f"host {name}", lambda run=run: microseconds(run, 60))
                found[name].append(math.nan if micros is None else micros)
    return found


def forget_launches() -> None:
    """What was launched directly is launched so again, as long as it is kept."""
    kernels()._KEPT.clear()
    known_calls._KNOWN.clear()


def launched_by_triton(ways: bool) -> None:
    before = set(on_trial.ON)
    on_trial.ON = before - {on_trial.DIRECT_LAUNCH}
    forget_launches()
    host(ways)
    on_trial.ON = before
    forget_launches()


def warm(case: tuple[str, Any, torch.dtype]) -> None:
    """Compile what will be measured: what is compiled is kept on the disk."""
    kind, chosen, dtype = case
    for length in (128, 512):
        leaves = [draw(1, 2, length, 64, dtype=dtype) for _ in range(3)]
        region = regions_of_host(length).get(kind, kind)
        with way(chosen):
            ours(region, *leaves, a_mask(1, length)).sum().backward()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=["check", "time", "host", "triton"])
    parser.add_argument("--lengths", nargs="+", type=int, default=LENGTHS)
    parser.add_argument("--ways", action="store_true", help="by each kernel that could compute it")
    parser.add_argument("--off", action="store_true", help="only what is on by itself")
    parser.add_argument("--seconds", type=float, default=0.2, help="of turns of each line")
    options = parser.parse_args()
    if not options.off:
        on_trial.ON |= TRIAL
    cases = [("causal", chosen, torch.bfloat16) for chosen in WAYS[:2]]
    cases += [(kind, None, torch.bfloat16) for kind in ("key mask", "bias", *regions_of_host(8))]
    cases += [("causal", None, torch.float32), ("key mask", None, torch.float32)]
    begin = time.perf_counter()
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(len(cases), spawn) as pool:
        waiting = [pool.submit(warm, case) for case in cases]
        for case, done in zip(cases, waiting, strict=True):
            attempt(f"warm {case}", done.result)
    say(f"torch {torch.__version__}, {torch.cuda.get_device_name()}; "
        f"compiled in {time.perf_counter() - begin:.0f} s")  # fmt: skip
    parts: dict[str, Callable[[], None]] = {
        "check": check,
        "host": lambda: host(options.ways),
        "time": lambda: compare(options.lengths, options.ways, options.seconds),
        "triton": lambda: launched_by_triton(options.ways),
    }
    for name, part in parts.items():
        if options.only is None or name in options.only:
            begin = time.perf_counter()
            attempt(name, part)
            say(f"[{name} took {time.perf_counter() - begin:.0f} s]")


if __name__ == "__main__":
    main()
