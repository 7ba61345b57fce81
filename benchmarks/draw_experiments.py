"""DRAW with and without attention (Gregor et al. 2015): the commands that train it, and its tables.

    python benchmarks/draw_experiments.py runs --commands          # shell lines, a run each
    python benchmarks/draw_experiments.py runs --commands mnist    # REGARD_DATA names the folder with mnist/
    python benchmarks/draw_experiments.py runs --comparisons       # shell lines: is the difference shown?
    python benchmarks/draw_experiments.py runs                     # the tables, of the runs that are there
    python benchmarks/draw_experiments.py runs --speed             # seconds of an update, here and now

The paper's numbers are bounds on binarised MNIST after as long a training as it took; here every run has the
same minutes. Which pixels are lit was drawn once for the paper's set, and is drawn once here, anew.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import torch

from regard.models.seeing.draw import Draw
from run_folders import each_of, head, interval_of, json_of, row, test_of, updates_of

SEEDS = (1, 2, 3)
MODELS = {"windows": "with attention", "none": "without attention"}
PUBLISHED = {"windows": "80.97", "none": "87.40"}
RECIPES = {
    "mnist": "draw-mnist",
    "wide": "draw-mnist model.steps=24 model.read=7 model.write=12",  # steps fewer, windows larger
    "digits": "draw",
}


def run_of(folder: Path, data: str, attention: str, seed: int) -> Path:
    return folder / f"draw-{data}-{attention}-{seed}"


def commands(folder: Path, chosen: list[str]) -> Iterator[str]:
    """The first seed of everything first."""
    for data, recipe in RECIPES.items():
        for seed in SEEDS if not chosen or data in chosen else ():
            for attention in MODELS:
                run = run_of(folder, data, attention, seed)
                yield f"regard train {recipe} model.attention={attention} seed={seed} --run {run}"


def comparisons(folder: Path) -> Iterator[str]:
    for data in RECIPES:
        runs = " ".join(str(run_of(folder, data, a, seed)) for a in MODELS for seed in SEEDS)
        yield f"regard compare {runs} --out {folder}/compare-draw-{data}"


def tables(folder: Path) -> Iterator[str]:
    for data in RECIPES:
        yield f"### {data}"
        yield ""
        paper = ["as published"] if data != "digits" else []
        measures = ("bound, nats", "reconstruction", "divergence", "estimate")
        yield from head("DRAW", "runs", *measures, "updates", "minutes", *paper)
        for attention, called in MODELS.items():
            runs = [run_of(folder, data, attention, seed) for seed in SEEDS]
            there = [run for run in runs if test_of(run)]
            tests = [test_of(run) for run in there]
            parts = [
                [test[name] for test in tests]
                for name in ("loss", "reconstruction", "divergence", "estimate")
            ]
            yield row(
                called,
                str(len(there)),
                *(interval_of(numbers, 2) for numbers in parts),
                each_of([updates_of(run) for run in there], 0),
                each_of([_minutes(run) for run in there]),
                *([PUBLISHED[attention]] if paper else []),
            )
        yield ""


def _minutes(run: Path) -> float:
    spent = (json_of(run / "config.json") or {}).get("spent", {})
    return float(spent.get("seconds", 0.0)) / 60


def speed(device: str, batch: int, steps: int) -> Iterator[str]:
    """Milliseconds of a forward and backward pass at the published size; graphs are not recorded here."""
    yield from head("DRAW", "device", "batch", "steps", "ms")
    for attention, called in MODELS.items():
        sizes = (2, 5) if attention == "windows" else (None, None)
        for fused in (False, True) if device == "cuda" else (False,):
            model = Draw((1, 28, 28), steps=steps, read=sizes[0], write=sizes[1], fused=fused).to(
                device
            )
            shown = (torch.rand(batch, 1, 28, 28, device=device) > 0.8).float()
            times = []
            for _ in range(4):
                start = time.perf_counter()
                model(shown).bound.sum().backward()
                if device == "cuda":
                    torch.cuda.synchronize()
                times.append(1000 * (time.perf_counter() - start))
            said = f"{called}, compiled" if fused else called
            yield row(said, device, str(batch), str(steps), f"{min(times[1:]):.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="the folder of the runs")
    parser.add_argument("--commands", nargs="*", metavar="DATA", help="print shell lines")
    parser.add_argument("--comparisons", action="store_true", help="print shell lines")
    parser.add_argument("--speed", action="store_true", help="measure a pass")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--steps", type=int, default=16)
    asked = parser.parse_args()
    if asked.commands is not None:
        lines = commands(asked.folder, asked.commands)
    elif asked.comparisons:
        lines = comparisons(asked.folder)
    elif asked.speed:
        lines = speed(asked.device, asked.batch, asked.steps)
    else:
        lines = tables(asked.folder)
    for line in lines:
        print(line)


if __name__ == "__main__":
    main()
