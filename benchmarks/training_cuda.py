"""How fast recipes train on one GPU, with the work of a batch recorded and without, and how fast they search.

    python benchmarks/training_cuda.py --results now.json
    python benchmarks/training_cuda.py --only rnnsearch --compile graphs --profile
    PYTHONPATH=OLD/src python benchmarks/training_cuda.py --compile before --weights W --results before.json
    python benchmarks/training_cuda.py --compile graphs --weights W --against before.json
    python benchmarks/training_cuda.py --accelerator cpu --seconds 1 --only luong         # whether it runs

The loop of `regard train` on the embedded corpus: target tokens a second, EOS counted and padding not, after
two epochs in which every shape has come twice; --batches 12 makes epochs of so many, short and long ones.
"busy" is nvidia-smi's, sampled while that is measured. The losses are those of the first steps without
dropout. "before" is a version that knows no trainer.compile: with another PYTHONPATH this file measures it
too, and the weights that it learnt are searched by both.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import torch
from lightning.fabric import Fabric

from regard.data.batch import Loader
from regard.data.examples import read_pairs
from regard.data.length_batches import LengthBatches
from regard.data.store import Store
from regard.recipe.recipe_files import read_recipe
from regard.runs.run_folder import RunFolder
from regard.search import Search
from regard.training import run as whole_run
from regard.training.checkpoints import Checkpoints
from regard.training.progress_display import ProgressLines
from regard.training.run_preparation import load_task, make_module, prepare_data
from regard.training.training_loop import Fit
from regard.training.weight_update import seed_by

TEST, BEAM = "tatoeba-zh-en:test", 5
CONFIGURATIONS = {
    "zh-en-transformer": ("zh-en-transformer", "32"),
    "zh-en-transformer bf16": ("zh-en-transformer", "bf16-mixed"),
    "rnnsearch": ("rnnsearch", "32"),
    "luong": ("luong", "32"),
}
SEARCHED = ("zh-en-transformer", "rnnsearch")
STEPS = 120  # whose losses are compared


class Counting(ProgressLines):
    """A reporter that keeps the losses and counts the tokens."""

    def __init__(self) -> None:
        super().__init__(quiet=True)
        self.tokens, self.losses = 0, list[float]()
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)

    def see(self, step: int, epoch: int, done: float, loss: float, tokens: int) -> None:
        self.tokens += tokens
        self.losses.append(loss / tokens)


class NeverWritten(Checkpoints):
    def save(self, update: int, tree: object, best: object) -> Path:
        return self.folder


class FewBatches(LengthBatches):
    """So many batches of each epoch, from the shortest to the longest."""

    def keep(self, count: int) -> None:
        whole = len(self._starts) - 1
        chosen = np.unique(np.linspace(0, whole - 1, count).round().astype(np.int64))
        rows = [np.arange(self._starts[n], self._starts[n + 1]) for n in chosen]
        kept = np.concatenate(rows)
        self._order, self._classes = self._order[kept], self._classes[kept]
        self._starts = np.concatenate([[0], np.cumsum([len(each) for each in rows])])


class Loop:
    """The loop of a run, in turns; of its batches, `batches` if that is given."""

    def __init__(
        self, recipe: str, precision: str, way: str, folder: Path, accelerator: str,
        batches: int | None, *changes: str,
    ) -> None:  # fmt: skip
        words = [f"trainer.accelerator={accelerator}", "trainer.devices=1"]
        words += [f"trainer.precision={precision}", "training.epochs=1000000", *changes]
        words += [] if way == "before" else [f"trainer.compile={way}"]
        self.recipe = read_recipe(recipe, words)
        run = RunFolder(folder / recipe)
        run.path.mkdir(exist_ok=True)
        if not run.store.exists():
            prepare_data(self.recipe, run, ProgressLines(quiet=True))
        run.checkpoints.mkdir(exist_ok=True)
        self.began = time.perf_counter()
        fabric = Fabric(
            accelerator=accelerator,
            devices=1,
            precision="32" if precision == "tf32" else precision,
        )
        fabric.launch()
        seed_by(1, -1, 0, fabric.device)
        task, training = load_task(self.recipe, run), self.recipe.training
        store, fields = Store.open(run.store), list(task.fields.values())
        lengths = [x for field in fields if (x := store.lengths(field)) is not None]
        cut = FewBatches(
            lengths, tokens=training.batch_tokens, sentences=training.batch_sentences, seed=1
        )
        if batches is not None:
            cut.keep(batches)
        self.loader, self.reporter = Loader(store, fields, cut), Counting()
        self.module = make_module(task)
        never = NeverWritten(run.checkpoints)
        self.fit = Fit(
            self.recipe, fabric, task, self.module, self.loader, [], never, self.reporter
        )

    def run(self, **limit: float) -> tuple[int, float]:
        """Target tokens and seconds of so many more `steps` or `minutes`."""
        state, before = self.fit.state, self.reporter.tokens
        ends = {"steps": None, "minutes": None, "epochs": None}
        for name, more in limit.items():
            ends[name] = more + (state.update if name == "steps" else state.seconds / 60)
        self.fit.training = self.fit.training.model_copy(update=ends)
        synchronize()
        start = time.perf_counter()
        kernels = getattr(whole_run, "_kernels", None) or whole_run._products  # type: ignore[attr-defined]
        with kernels(self.recipe):
            self.fit.run(None)
        synchronize()
        return self.reporter.tokens - before, time.perf_counter() - start


def synchronize() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


@contextmanager
def watched() -> Iterator[list[float]]:
    """nvidia-smi's utilisation, filled when it is over."""
    busy: list[float] = []
    if shutil.which("nvidia-smi") is None or not torch.cuda.is_available():
        yield busy
        return
    asked = ["--query-gpu=utilization.gpu", "--format=csv,noheader,nounits", "-lms", "100"]
    with tempfile.TemporaryFile("w+") as file:
        watcher = subprocess.Popen(["nvidia-smi", *asked], stdout=file)
        try:
            yield busy
        finally:
            watcher.terminate()
            watcher.wait()
            file.seek(0)
            numbers = [float(line) for line in file if line.strip().isdigit()]
            # the first and the last ones are of before and after
            busy.extend(numbers[len(numbers) // 5 : -2] or numbers)


def measure(name: str, way: str, options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    recipe, precision = CONFIGURATIONS[name]
    given = (recipe, precision, way, folder, options.accelerator, options.batches)
    say(f"{name}, {way}")
    found: dict[str, Any] = {"losses": []}
    if precision == "32":
        plain = Loop(*given, "model.dropout=0.0")
        plain.run(steps=options.steps)
        found["losses"] = plain.reporter.losses
        del plain
    loop = Loop(*given)
    loop.run(steps=1)
    found["first"] = time.perf_counter() - loop.began
    warm = 2 * len(loop.loader) + 5 if way == "graphs" else 5
    if options.accelerator == "cpu":
        warm = 3
    _, found["warm"] = loop.run(steps=warm)
    with watched() as busy:
        tokens, seconds = loop.run(minutes=options.seconds / 60)
    found |= {"speed": tokens / seconds, "busy": mean(busy) if busy else None}
    graphs = getattr(loop.fit.updater, "graphs", None)
    found["graphs"] = None if graphs is None else len(graphs)
    if (error := getattr(graphs, "error", None)) is not None:
        traceback.print_exception(error)
    if torch.cuda.is_available():
        found["memory"] = torch.cuda.max_memory_allocated() / 2**20
        torch.cuda.reset_peak_memory_stats()
    say(f"  {described(found)}; losses {losses_of(found)}")
    for line in loop.reporter.said:
        say(f"  said: {line}")
    if options.profile:
        profile(loop)
    if name in SEARCHED and not options.no_search:
        found["search"] = searched(name, loop, options)
    return found


def searched(name: str, loop: Loop, options: argparse.Namespace) -> dict[str, Any]:
    """Sentences of the test set a second, and what was said, by the weights that the first version learnt."""
    path = options.weights / f"{name}.pt" if options.weights else None
    if path is not None and path.exists():
        loop.module.load_state_dict(torch.load(path))
    elif path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        torch.save(loop.module.state_dict(), path)
    texts = [pair.source for pair in read_pairs(TEST)][: options.sentences]
    speeds = {}
    for batch in (64, 64, 512):  # the first is to warm up
        start = time.perf_counter()
        said = loop.module.predict(texts, Search(beam=BEAM), batch=batch)
        speeds[batch] = len(texts) / (time.perf_counter() - start)
    each = ", ".join(f"{speed:,.0f} at {batch} a time" for batch, speed in speeds.items())
    say(f"  beam {BEAM}, sentences a second: {each}")
    return {"speed": max(speeds.values()), "texts": [one.text for one in said]} | speeds


def profile(loop: Loop, steps: int = 10) -> None:
    """Where the GPU's time goes, and the host's."""
    kinds = torch.profiler.ProfilerActivity
    with torch.profiler.profile(activities=[kinds.CUDA, kinds.CPU]) as trace:
        _, seconds = loop.run(steps=steps)
    events = [e for e in trace.key_averages() if e.self_device_time_total > 0]
    device = sum(e.self_device_time_total for e in events) / steps / 1000
    say(f"  profiled: {1000 * seconds / steps:.2f} ms a step, {device:.2f} ms of kernels")
    events.sort(key=lambda e: -e.self_device_time_total)
    for e in events[:14]:
        each = e.self_device_time_total / steps / 1000
        say(f"    {each:7.3f} ms {e.count / steps:6.0f} × {e.key[:90]}")
    host = sorted(trace.key_averages(), key=lambda e: -e.self_cpu_time_total)[:8]
    for e in host:
        each = e.self_cpu_time_total / steps / 1000
        say(f"    host {each:7.3f} ms {e.count / steps:6.0f} × {e.key[:80]}")


def described(found: dict[str, Any]) -> str:
    busy = "" if found["busy"] is None else f", GPU {found['busy']:.0f} % busy"
    graphs = "" if not found["graphs"] else f", {found['graphs']} shapes recorded"
    memory = f", {found['memory']:,.0f} MB" if "memory" in found else ""
    return (
        f"{found['speed']:,.0f} target tokens a second{busy}; first step {found['first']:.1f} s, "
        f"warm-up {found['warm']:.1f} s{graphs}{memory}"
    )


def losses_of(found: dict[str, Any]) -> str:
    losses = found["losses"]
    return ", ".join(f"{losses[i]:.5f}" for i in (0, len(losses) // 2, -1)) if losses else "-"


def table(results: dict[str, dict[str, Any]]) -> Iterator[str]:
    """The first way of each configuration is what the others are compared with."""
    yield (
        "| | | target tokens a second | × | GPU busy | first step | losses apart, at most "
        "| sentences a second | × | the same texts |"
    )
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    for name, ways in results.items():
        (first, *_), cells = ways.values(), []
        for way, found in ways.items():
            pairs = zip(found["losses"], first["losses"], strict=False)
            apart = max((abs(a - b) / b for a, b in pairs), default=0.0)
            cells = [name, way, f"{found['speed']:,.0f}", f"{found['speed'] / first['speed']:.2f}"]
            cells += ["" if found["busy"] is None else f"{found['busy']:.0f} %"]
            cells += [f"{found['first']:.1f} s", f"{apart:.1e}" if found["losses"] else ""]
            if "search" in found and "search" in first:
                mine, other = found["search"], first["search"]
                same = np.mean([a == b for a, b in zip(mine["texts"], other["texts"], strict=True)])
                ratio = mine["speed"] / other["speed"]
                cells += [f"{mine['speed']:,.0f}", f"{ratio:.2f}", f"{same:.0%}"]
            yield f"| {' | '.join(cells)} |"


def say(text: str) -> None:
    print(text, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--compile", nargs="+", default=["off", "graphs"])
    parser.add_argument("--only", nargs="+", choices=CONFIGURATIONS, default=list(CONFIGURATIONS))
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--batches", type=int, help="of an epoch; all, if not given")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--sentences", type=int, default=None)
    parser.add_argument("--no-search", action="store_true", help="training alone")
    parser.add_argument("--accelerator", default="cuda")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--folder", type=Path, help="with prepared corpora, to be used again")
    parser.add_argument("--weights", type=Path, help="a folder: written if not there, then used")
    parser.add_argument("--results", type=Path)
    parser.add_argument("--against", type=Path, help="results of another version")
    options = parser.parse_args()
    name = torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU"
    say(f"torch {torch.__version__}, {name}")
    results: dict[str, dict[str, Any]] = {}
    if options.against:
        results = json.loads(options.against.read_text())
    with tempfile.TemporaryDirectory() as place:
        folder = options.folder or Path(place)
        folder.mkdir(parents=True, exist_ok=True)
        for chosen in options.only:
            for way in options.compile:
                found = measure(chosen, way, options, folder)
                results.setdefault(chosen, {})[way] = found
                if options.results:
                    options.results.write_text(json.dumps(results))
    say("\n".join(["", *table(results)]))


if __name__ == "__main__":
    main()
