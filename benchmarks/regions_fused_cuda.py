"""The kernel of a region on a GPU: exact against float64; time and memory against FlexAttention and SDPA.

    python benchmarks/regions_fused_cuda.py                       # everything
    python benchmarks/regions_fused_cuda.py --quick               # fewer lengths, fewer tiles
    python benchmarks/regions_fused_cuda.py --only check time     # of: check time host graph sweep
    python benchmarks/regions_fused_cuda.py --only time --cases 'window(64):8192:bfloat16'
    python benchmarks/regions_fused_cuda.py --only sweep --regions 'window(64)' 'atrous(8)'

FlexAttention is compiled, and its block mask is made beforehand. A ratio of 2 means: the other takes twice
as long as ours. Times are medians of turns of CUDA graphs, so without the host's, forward and backward,
(1, 16, n, 64). What fails is printed and counted, and the rest goes on. Kernels are compiled in many
processes before timing, and every line is printed as soon as it is known.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import statistics
import time
import traceback
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from threading import BrokenBarrierError
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

import regard
from regard.attention.attend import prepare
from regard.attention.kernels import tile_sizes
from regard.attention.kernels.region.region_attention import region_attention
from regard.attention.kernels.region.region_passes import region_passes
from regard.attention.region import Region
from regard.attention.regions import as_region
from regard.attention.sequences.documents import Documents
from regard.attention.sequences.prefix import Prefix

HEADS, SIZE = 16, 64
REGIONS = [
    "window(64)",
    "window(1024) & causal",
    "(first(4) | window(256)) & causal",
    "documents",
    "documents & causal",
    "prefix",
    "causal",
    "atrous(8)",
    "sparse(64)",
]
LENGTHS = {
    "bfloat16": {name: [8192, 32768, 65536] for name in REGIONS},
    "float32": {name: [8192] for name in ("window(64)", "atrous(8)", "sparse(64)")},
}
LENGTHS["bfloat16"] |= {name: [4096, 8192, 32768] for name in ("atrous(8)", "sparse(64)")}
QUICK = (8192, 32768)
DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}
TOLERANCE = {"bfloat16": 1.5e-2, "float16": 3e-3, "tf32": 3e-3, "float32": 2e-5}
failures: list[str] = []


def attempt(name: str, work: Callable[[], Any]) -> Any:
    """What the work gives; if it fails, that is told and nothing ends."""
    try:
        return work()
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        where = traceback.extract_tb(error.__traceback__)[-1]
        print(f"FAILED {name}: {type(error).__name__}: {' / '.join(lines[-6:])[:900]}", flush=True)
        print(f"       at {where.filename}:{where.lineno}", flush=True)
        failures.append(name)
        return None


def in_processes(work: Callable[[Any], Any], tasks: list[Any], processes: int) -> list[Any]:
    """Results of all tasks, each in one of many processes: compiling takes far longer than running."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(processes, max(len(tasks), 1)), context) as pool:
        waiting = [pool.submit(work, task) for task in tasks]
        return [attempt(str(task), w.result) for task, w in zip(tasks, waiting, strict=True)]


# ── regions, ours and FlexAttention's ────────────────────────────────────────────────────────────


def document_ids(length: int) -> Tensor:
    """Documents of 1 to 4 thousand positions (of a ninth to a quarter of a short sequence)."""
    torch.manual_seed(1)
    most = min(4096, length // 4)
    sizes = torch.randint(most // 4, most, (64,))
    ids = torch.repeat_interleave(torch.arange(64), sizes)
    return torch.cat([ids, ids[-1:].expand(max(0, length - len(ids)))])[:length].cuda()


def region_of(name: str, length: int) -> Region:
    if name.startswith("documents"):
        documents = Documents(document_ids(length))
        return documents & as_region("causal") if "causal" in name else documents
    if name == "prefix":
        return Prefix(torch.tensor(length // 8, device="cuda"))
    return as_region(name)


def flex_mask(name: str, length: int) -> Callable[..., Tensor]:
    ids = document_ids(length) if name.startswith("documents") else None
    prefix = torch.tensor(length // 8, device="cuda")
    rules: dict[str, Callable[..., Any]] = {
        "window(64)": lambda b, h, i, j: (i - j <= 64) & (j - i <= 64),
        "window(1024) & causal": lambda b, h, i, j: (i - j <= 1024) & (j <= i),
        "(first(4) | window(256)) & causal": lambda b, h, i, j: (
            ((j < 4) | (i - j <= 256)) & (j <= i)
        ),
        "documents": lambda b, h, i, j: ids[i] == ids[j],
        "documents & causal": lambda b, h, i, j: (ids[i] == ids[j]) & (j <= i),
        "prefix": lambda b, h, i, j: (j < prefix) | (j <= i),
        "causal": lambda b, h, i, j: j <= i,
        "atrous(8)": lambda b, h, i, j: (i - j) % 8 == 0,
        "sparse(64)": lambda b, h, i, j: ((i - j <= 64) & (j - i <= 64)) | ((i - j) % 64 == 0),
    }
    return rules[name]


def inputs(length: int, dtype: torch.dtype, batch: int = 1) -> list[Tensor]:
    torch.manual_seed(0)
    shape = (batch, HEADS, length, SIZE)
    return [torch.randn(shape, device="cuda", dtype=dtype, requires_grad=True) for _ in range(3)]


def contenders(name: str, length: int, dtype: torch.dtype) -> dict[str, Callable[[], Tensor]]:
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    q, k, v = inputs(length, dtype)
    region = region_of(name, length)
    block = create_block_mask(
        flex_mask(name, length), None, None, length, length, device="cuda", _compile=True
    )
    flex = torch.compile(flex_attention, dynamic=False)
    runs = {
        "ours": lambda: regard.attend(q, k, v, region=region).context,
        "flex": lambda: flex(q, k, v, block_mask=block),
        "sdpa": lambda: F.scaled_dot_product_attention(q, k, v, is_causal=name == "causal"),
    }
    for run in runs.values():
        run.leaves = [q, k, v]  # type: ignore[attr-defined]
    return runs


# ── exact? ───────────────────────────────────────────────────────────────────────────────────────


class Case(NamedTuple):
    """One mechanism to be compared with its definition."""

    region: str
    dtype: str
    more: tuple[str, ...] = ()
    queries: int = 300
    keys: int = 300
    size: int = 64
    group: int = 1


def cases(quick: bool) -> list[Case]:
    regions = [*REGIONS, "atrous(8) & causal", "sparse(64) & causal", "window(5)"]
    made = [Case(region, dtype) for region in regions for dtype in TOLERANCE]
    for more in (("mask",), ("pairs",), ("bias",), ("key bias",), ("sink", "cap"), ("bad",)):
        for region in ("window(64)", "sparse(64)", "causal"):
            made += [Case(region, dtype, more) for dtype in ("bfloat16", "float32")]
    for size in (16, 24, 96, 128, 256):
        made += [Case("window(64)", dtype, (), size=size) for dtype in ("bfloat16", "float32")]
    made += [Case("causal(end)", dtype, (), queries=70, keys=333, group=4) for dtype in TOLERANCE]
    made += [Case("window(64, align=end)", "float16", (), queries=1, keys=333, group=2)]
    return made[::3] if quick else made


def checked(case: Case) -> tuple[Case, float, float]:
    """The error of the context and of all gradients: ‖ours − exact‖ / ‖exact‖ in float64."""
    torch.manual_seed(len(str(case)))
    torch.backends.cuda.matmul.allow_tf32 = case.dtype == "tf32"
    dtype = DTYPES.get(case.dtype, torch.float32)
    heads, more = 4, case.more
    shapes = [
        (2, heads, case.queries, case.size),
        *[(2, heads // case.group, case.keys, case.size)] * 2,
    ]
    low = [torch.randn(s, device="cuda", dtype=dtype, requires_grad=True) for s in shapes]
    if "bad" in more:
        with torch.no_grad():
            low[1][0, :, 250], low[2][1, :, 130, 3] = math.nan, math.inf
    given: dict[str, Tensor] = {}
    if "mask" in more:
        given["mask"] = torch.rand(2, 1, 1, case.keys, device="cuda") > 0.3
    if "pairs" in more:
        given["mask"] = torch.rand(2, 1, case.queries, case.keys, device="cuda") > 0.5
    if "bias" in more or "key bias" in more:
        rows = 1 if "key bias" in more else case.queries
        bias = torch.randn(1, heads, rows, case.keys, device="cuda", dtype=dtype)
        given["bias"] = bias.requires_grad_()
        low.append(bias)
    region = region_of(case.region, case.keys)
    grad = torch.randn(shapes[0], device="cuda", dtype=dtype)
    high = [x.detach().double().requires_grad_() for x in low]
    wide = [high[0], *(x.repeat_interleave(case.group, 1) for x in high[1:3])]
    exactly = {name: x.double() if x.is_floating_point() else x for name, x in given.items()}
    if "bias" in given:
        exactly["bias"] = high[3]
    if "cap" in more:
        sink = torch.randn(heads, device="cuda", requires_grad=True)
        low.append(sink)
        high.append(sink.detach().double().requires_grad_())
        ours, exact = capped_with_sink(region, low, high, case)
    else:
        narrow = low[:3]
        if case.group > 1:  # (2, key heads, group, L, D) over (2, key heads, 1, L, D)
            narrow = [low[0].unflatten(1, (-1, case.group)), low[1][:, :, None], low[2][:, :, None]]
        path = regard.explain(*narrow, region=region, **given).path
        assert path == "region-fused", path
        ours = regard.attend(*narrow, region=region, **given).context.reshape(shapes[0])
        exact = prepare(*wide, region=region, **exactly).run(by_definition=True).context
    assert torch.equal(ours.isnan(), exact.isnan()), "NaN in other places"
    grad = grad.masked_fill(exact.isnan(), 0.0)
    grads = torch.autograd.grad(ours, low, grad)
    wanted = torch.autograd.grad(exact, high, grad.double())
    assert all(x.isfinite().all() for x in grads), "gradients that are not finite"
    again = torch.autograd.grad(
        regard.attend(*narrow, region=region, **given).context.reshape(shapes[0]), low, grad
    ) if "cap" not in more else grads  # fmt: skip
    assert all(torch.equal(a, b) for a, b in zip(grads, again, strict=True)), "not repeatable"

    def error(a: Tensor, b: Tensor) -> float:
        return float((a.double() - b).nan_to_num().norm() / b.nan_to_num().norm().clamp(min=1e-9))

    return case, error(ours, exact), max(map(error, grads, wanted))


def capped_with_sink(
    region: Region, low: list[Tensor], high: list[Tensor], case: Case
) -> tuple[Tensor, Tensor]:
    """What the operator takes beyond `attend`: cap · tanh(s / cap), and a sink in the sum."""
    passes = region_passes(region, case.queries, case.keys)
    assert passes is not None
    q, k, v, sink = low
    scale, cap = case.size**-0.5, 2.0
    ours, _ = region_attention(q, k, v, passes.numbers, sink=sink, scale=scale, cap=cap)
    q, k, v, sink = high
    scores = cap * torch.tanh(q @ k.mT * scale / cap)
    allowed = region.mask(case.queries, case.keys, device="cuda")
    scores = scores.masked_fill(~allowed, -math.inf)
    every = torch.cat([scores, sink[:, None, None].expand(*scores.shape[:-1], 1)], -1)
    return ours, every.softmax(-1)[..., :-1] @ v


def check(quick: bool, processes: int) -> None:
    tasks = cases(quick)
    done = [x for x in in_processes(checked, tasks, processes) if x is not None]
    print(f"\n{len(done)} of {len(tasks)} ran; error of the context, of the gradients:\n")
    for case, forward, backward in done:
        limit = TOLERANCE[case.dtype] * (1.0 if case.more == () else 2.0)
        wrong = not max(forward, backward) <= limit
        if wrong:
            failures.append(f"check {case}")
        if wrong or not quick:
            mark = "WRONG" if wrong else "ok"
            print(f"{mark:6}{case.region:36}{case.dtype:9} {case.more} {case.queries}x{case.keys}"
                  f"x{case.size}/{case.group}  {forward:.1e} {backward:.1e}")  # fmt: skip
    for dtype in TOLERANCE:
        worst = [max(f, b) for case, f, b in done if case.dtype == dtype]
        print(f"worst {dtype:9} {max(worst, default=math.nan):.1e}", flush=True)


# ── time and memory ──────────────────────────────────────────────────────────────────────────────


def step(run: Callable[[], Tensor], leaves: list[Tensor], grad: Tensor) -> None:
    torch.autograd.grad(run(), leaves, grad)


def recorded(work: Callable[[], Any]) -> Callable[[], None]:
    """The same work as a CUDA graph, which the host launches at once."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            work()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kept = work()
    graph.kept = kept  # type: ignore[attr-defined]
    return graph.replay


def milliseconds(work: Callable[[], Any], seconds: float = 0.25) -> float:
    """The median of turns, of the GPU alone."""
    work = recorded(work)
    torch.cuda.synchronize()
    times: list[float] = []
    begin = time.perf_counter()
    while len(times) < 5 or time.perf_counter() - begin < seconds:
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(3):
            work()
        stop.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(stop) / 3)
    return statistics.median(times)


def memory(run: Callable[[], Tensor], leaves: list[Tensor], grad: Tensor) -> tuple[float, float]:
    """MB that are held after the forward pass, and that a whole step adds at its highest."""
    step(run, leaves, grad)
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    out = run()
    held = torch.cuda.memory_allocated() - before
    torch.autograd.grad(out, leaves, grad)
    torch.cuda.synchronize()
    return held / 2**20, (torch.cuda.max_memory_allocated() - before) / 2**20


class Setting(NamedTuple):
    region: str
    length: int
    dtype: str


def settings(quick: bool, regions: Iterable[str], chosen: Iterable[str]) -> list[Setting]:
    """All that the table of lengths has; or those that are chosen: "window(64):8192:bfloat16"."""
    if chosen:
        cut = [case.rsplit(":", 2) for case in chosen]
        return [Setting(region, int(length), dtype) for region, length, dtype in cut]
    made = [
        Setting(name, length, dtype)
        for dtype, table in LENGTHS.items()
        for name, lengths in table.items()
        for length in lengths
    ]
    return [s for s in made if s.region in regions and (s.length in QUICK or not quick)]


class Row(NamedTuple):
    """Milliseconds forward, and of a whole step; MB held after the forward pass, and at the highest."""

    forward: float
    both: float
    held: float
    peak: float


def timed(setting: Setting, ready: Any, alone: Any) -> dict[str, Row]:
    """Compiled beside others, and timed alone, when all have compiled."""
    dtype = DTYPES[setting.dtype]
    runs = contenders(setting.region, setting.length, dtype)
    grad = torch.randn(1, HEADS, setting.length, SIZE, device="cuda", dtype=dtype)
    for run in runs.values():
        step(run, run.leaves, grad)  # type: ignore[attr-defined]
    torch.cuda.synchronize()
    with suppress(BrokenBarrierError):  # one of them has failed
        ready.wait()
    rows = {}
    with alone:
        for name, run in runs.items():
            leaves = run.leaves  # type: ignore[attr-defined]
            with torch.no_grad():
                forward = milliseconds(run, 0.1)
            both = milliseconds(lambda run=run, leaves=leaves: step(run, leaves, grad))
            rows[name] = Row(forward, both, *memory(run, leaves, grad))
    return rows


def in_turn(setting: Setting, ready: Any, alone: Any, results: Any) -> None:
    try:
        found: Any = timed(setting, ready, alone)
    except Exception as error:
        ready.abort()  # the others begin
        found = f"{type(error).__name__}: {str(error)[:600]}"
    results.put((setting, found))


def compare(todo: list[Setting], processes: int) -> None:
    """A table of ratios, each line as soon as it is known: some cases compile at once, then each is timed."""
    print("\n| region | n | dtype | ours ms | forward | Flex / ours | forward | SDPA / ours "
          "| ours MB | Flex MB | ours / Flex |\n" + "| --- " * 11 + "|", flush=True)  # fmt: skip
    spawn = multiprocessing.get_context("spawn")
    for begin in range(0, len(todo), processes):
        group = todo[begin : begin + processes]
        ready, alone, results = spawn.Barrier(len(group)), spawn.Lock(), spawn.Queue()
        for setting in group:
            given = (setting, ready, alone, results)
            spawn.Process(target=in_turn, args=given, daemon=True).start()
        for _ in group:
            setting, found = results.get()
            if isinstance(found, str):
                print(f"FAILED {setting}: {found}", flush=True)
                failures.append(str(setting))
            else:
                print(line(setting, found), flush=True)


def line(setting: Setting, rows: dict[str, Row]) -> str:
    ours, flex, sdpa = (rows[name] for name in ("ours", "flex", "sdpa"))
    cells = [
        setting.region, f"{setting.length:,}", setting.dtype, f"{ours.both:.3f}", f"{ours.forward:.3f}",
        f"**{flex.both / ours.both:.2f}**", f"{flex.forward / ours.forward:.2f}",
        f"{sdpa.both / ours.both:.2f}", f"{ours.peak:.0f}", f"{flex.peak:.0f}",
        f"{ours.peak / flex.peak:.2f}",
    ]  # fmt: skip
    return "| " + " | ".join(cells) + " |"


# ── the host's time, graphs ──────────────────────────────────────────────────────────────────────


def microseconds(work: Callable[[], Any], calls: int = 300) -> float:
    for _ in range(20):
        work()
    turns = []
    for _ in range(5):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(calls):
            work()
        turns.append((time.perf_counter() - begin) / calls * 1e6)  # without waiting for the GPU
        torch.cuda.synchronize()
    return min(turns)


def host() -> None:
    shape, like = (4, 8, 128, 64), {"device": "cuda", "dtype": torch.bfloat16}
    q, k, v = (torch.randn(shape, requires_grad=True, **like) for _ in range(3))  # type: ignore[call-overload]
    grad = torch.randn_like(q)
    mask = torch.rand(4, 1, 1, 128, device="cuda") > 0.2
    passes = region_passes(as_region("window(16)"), 128, 128)
    assert passes is not None
    numbers = passes.numbers
    runs: dict[str, Callable[[], Tensor]] = {
        "sdpa": lambda: F.scaled_dot_product_attention(q, k, v),
        "sdpa causal": lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        "sdpa key mask": lambda: F.scaled_dot_product_attention(q, k, v, attn_mask=mask),
        "operator window(16)": lambda: region_attention(q, k, v, numbers, scale=0.125)[0],
        "attend": lambda: regard.attend(q, k, v).context,
        "attend causal": lambda: regard.attend(q, k, v, region="causal").context,
        "attend key mask": lambda: regard.attend(q, k, v, mask=mask).context,
        "attend window(16)": lambda: regard.attend(q, k, v, region="window(16)").context,
    }
    print("\n(4, 8, 128, 64) bfloat16, microseconds of the host: forward, forward and backward")
    for name, run in runs.items():

        def measure(run: Callable[[], Tensor] = run) -> tuple[float, float]:
            with torch.no_grad():
                forward = microseconds(run)
            return forward, microseconds(lambda: step(run, [q, k, v], grad))

        times = attempt(f"host {name}", measure)
        if times:
            print(f"{name:24}{times[0]:8.0f}{times[1]:8.0f}", flush=True)


def graphs() -> None:
    """The same from a CUDA graph, and from torch.compile(fullgraph=True) at lengths it has not seen."""
    for name in ("window(64)", "causal", "sparse(64)", "(first(4) | window(256)) & causal"):
        attempt(f"graph {name}", lambda name=name: replayed(name))
        attempt(f"compile {name}", lambda name=name: compiled(name))


def replayed(name: str) -> None:
    leaves = inputs(8192, torch.bfloat16)
    grad = torch.randn_like(leaves[0])

    def work() -> tuple[Tensor, ...]:
        out = regard.attend(*leaves, region=name).context
        return out, *torch.autograd.grad(out, leaves, grad)

    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            wanted = work()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        got = work()
    graph.replay()
    torch.cuda.synchronize()
    same = all(torch.equal(a, b) for a, b in zip(got, wanted, strict=True))
    times = milliseconds(graph.replay), milliseconds(work)
    print(f"graph   {name:36} equal: {same}  {times[0]:.3f} ms, eager {times[1]:.3f}", flush=True)
    if not same:
        failures.append(f"graph {name}")


def compiled(name: str) -> None:
    torch._dynamo.reset()
    region = as_region(name)  # words are not read in a graph
    attention = torch.compile(
        lambda *x: regard.attend(*x, region=region).context, fullgraph=True, dynamic=True
    )
    torch._dynamo.utils.counters.clear()
    differences = []
    for length in (1024, 1536, 2048):
        leaves = inputs(length, torch.bfloat16)
        grad = torch.randn_like(leaves[0])
        got, wanted = attention(*leaves), regard.attend(*leaves, region=name).context
        pairs = zip(
            (got, *torch.autograd.grad(got, leaves, grad)),
            (wanted, *torch.autograd.grad(wanted, leaves, grad)),
            strict=True,
        )
        differences.append(max(float((a - b).abs().max()) for a, b in pairs))
    made = torch._dynamo.utils.counters["stats"]["unique_graphs"]
    print(f"compile {name:36} differences {differences}, {made} graphs for 3 lengths", flush=True)


# ── which tiles ──────────────────────────────────────────────────────────────────────────────────

Tile = tile_sizes.RegionTile
TILES: dict[str, dict[str, list[tuple[int, ...]]]] = {
    "bfloat16": {
        "forward": [(128, 64, 4, 3), (128, 64, 8, 3), (128, 64, 8, 2), (64, 64, 4, 3), (64, 64, 4, 4),
                    (128, 128, 8, 2), (128, 32, 4, 3), (128, 32, 4, 4), (64, 32, 4, 3), (64, 128, 4, 2)],
        "query": [(128, 64, 8, 2), (128, 64, 8, 3), (128, 64, 4, 3), (64, 64, 4, 2), (64, 64, 4, 3),
                  (128, 32, 4, 3), (128, 128, 8, 2), (128, 32, 8, 3), (64, 32, 4, 3), (64, 128, 4, 2)],
        "key": [(64, 128, 8, 2), (64, 128, 8, 3), (64, 128, 4, 3), (64, 64, 4, 2), (64, 64, 4, 3),
                (128, 128, 8, 2), (128, 64, 8, 2), (32, 128, 8, 3), (64, 64, 8, 2), (32, 128, 4, 3),
                (32, 64, 4, 3)],
    },
    "float32": {
        "forward": [(64, 32, 4, 2), (64, 64, 4, 2), (64, 64, 8, 2), (128, 32, 8, 2),
                    (128, 64, 8, 2), (64, 32, 4, 3)],
        "query": [(64, 32, 4, 2), (64, 32, 8, 2), (32, 32, 4, 2), (64, 64, 8, 2), (128, 32, 8, 2)],
        "key": [(32, 64, 4, 2), (32, 64, 8, 2), (32, 32, 4, 2), (32, 128, 8, 2), (64, 64, 8, 1),
                (32, 64, 4, 1)],
    },
}  # fmt: skip


class Trial(NamedTuple):
    setting: Setting
    kernel: str
    tile: tuple[int, ...]


def tried(trial: Trial, seconds: float = 0.0) -> float:
    """Milliseconds of a forward pass, or of both for a kernel of the backward pass, with this tile."""
    setting = trial.setting
    q, k, v = inputs(setting.length, DTYPES[setting.dtype])
    region = region_of(setting.region, setting.length)
    grad = torch.randn_like(q)
    tile_sizes.CHOSEN.clear()
    tile_sizes.CHOSEN[trial.kernel] = Tile(*trial.tile)
    try:
        if trial.kernel == "forward":
            with torch.no_grad():
                work: Callable[[], Any] = lambda: regard.attend(q, k, v, region=region)  # noqa: E731
                return milliseconds(work, seconds)
        run = lambda: regard.attend(q, k, v, region=region).context  # noqa: E731
        return milliseconds(lambda: step(run, [q, k, v], grad), seconds)
    finally:
        tile_sizes.CHOSEN.clear()


def sweep(quick: bool, regions: list[str], processes: int) -> None:
    """The time of each tile; of the two kernels of the backward pass, with the other one as it is."""
    short = ("causal", "prefix")
    names = [name for name in REGIONS if name in regions]
    todo = [Setting(name, 8192 if name in short else 32768, "bfloat16") for name in names]
    if not quick:
        todo += [Setting(n, 8192, "float32") for n in names if n in LENGTHS["float32"]]
    trials = [
        Trial(setting, kernel, tile)
        for setting in todo
        for kernel, tiles in TILES[setting.dtype].items()
        for tile in (tiles[: (2 * len(tiles) + 2) // 3] if quick else tiles)
    ]
    in_processes(tried, trials, processes)
    print("\ntiles (queries, keys, warps, stages) and ms, the best first; * is the one in use")
    for setting in todo:
        for kernel in TILES[setting.dtype]:
            times: dict[tuple[int, ...], float] = {}
            for trial in trials:
                if trial.setting == setting and trial.kernel == kernel:
                    took = attempt(str(trial), lambda trial=trial: tried(trial, 0.1))
                    if took is not None:
                        times[trial.tile] = took
            used = tuple(tile_sizes.TILES[kernel, setting.dtype != "float32", 64])
            best = sorted(times.items(), key=lambda item: item[1])
            shown = [f"{'*' if tile == used else ''}{tile} {took:.3f}" for tile, took in best]
            where = f"{setting.region} {setting.length} {setting.dtype} {kernel}"
            print(f"{where}: {'  '.join(shown)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help="two lengths, a third of the checks, fewer tiles"
    )
    parser.add_argument("--only", nargs="+", choices=["check", "time", "host", "graph", "sweep"])
    parser.add_argument("--regions", nargs="+", default=REGIONS)
    parser.add_argument("--cases", nargs="+", default=[], help="of time: region:length:dtype")
    parser.add_argument("--processes", type=int, default=8, help="that compile at a time")
    options = parser.parse_args()
    parts: dict[str, Callable[[], Any]] = {
        "check": lambda: check(options.quick, options.processes),
        "host": host,
        "graph": graphs,
        "time": lambda: compare(
            settings(options.quick, options.regions, options.cases), options.processes
        ),
        "sweep": lambda: sweep(options.quick, options.regions, options.processes),
    }
    import triton

    print(f"torch {torch.__version__}, triton {triton.__version__}, {torch.cuda.get_device_name()}")
    for name, part in parts.items():
        if options.only is None or name in options.only:
            begin = time.perf_counter()
            attempt(name, part)
            print(f"[{name} took {time.perf_counter() - begin:.0f} s]", flush=True)
    print(f"\n{len(failures)} failures" + "".join(f"\n  {name}" for name in failures))


if __name__ == "__main__":
    main()
