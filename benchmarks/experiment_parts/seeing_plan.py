"""What models that look at pictures are trained for when a GPU is there for minutes: the most valuable first.

A run is named as its folder is; its line is that of the scripts of experiments, with a limit in minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from experiment_parts import caption_runs, seeing_runs

ONCE, THRICE = (1,), (1, 2, 3)


def planned() -> Iterator[tuple[float, str]]:
    """(minutes, the name of a run)"""
    yield from _each(8.0, ONCE, "draw-mnist-windows")
    yield from _each(4.0, ONCE, "ram-cluttered-8", "draw-mnist-none")
    yield from _each(2.6, ONCE, "ram-translated-8")
    yield from _each(1.4, ONCE, "ram-mnist-6")
    yield from _each(1.8, ONCE, "stn-r-st-cnn-affine", "stn-tc-st-cnn-affine")
    yield from _each(1.8, ONCE, "stn-rts-st-cnn-affine")
    yield from _each(1.6, ONCE, "scenes-soft", "scenes-mean")
    yield from _each(1.2, ONCE, "ram-cluttered-conv", "ram-cluttered-deep")
    yield from _each(0.8, THRICE, *(f"ws-ram-cluttered-{name}" for name in seeing_runs.WAKE_SLEEP))
    for recipe in ("stn-r", "stn-tc"):
        yield from _each(
            1.2, ONCE, *(f"{recipe}-{name}" for name in ("fcn", "cnn", "st-fcn-affine"))
        )
    yield from _each(1.5, ONCE, "icons-soft", "icons-mean", "icons-none")
    yield from _each(1.4, ONCE, "ram-mnist-random")
    yield from _each(4.0, ONCE, "ram-cluttered-random")
    for seed in (2, 3):
        yield from _each(4.0, (seed,), "ram-cluttered-8")
        yield from _each(2.6, (seed,), "ram-translated-8")
        yield from _each(1.4, (seed,), "ram-mnist-6")
        yield from _each(
            1.8, (seed,), *(f"stn-{view}-st-cnn-affine" for view in ("r", "tc", "rts"))
        )
        yield from _each(1.6, (seed,), "scenes-soft", "scenes-mean")
        yield from _each(1.2, (seed,), "ram-cluttered-conv", "ram-cluttered-deep")
    yield from _each(1.2, ONCE, *(f"ram-mnist-{n}" for n in (2, 3, 4, 5, 7)))
    for seed in (2, 3):
        for recipe in ("stn-r", "stn-tc"):
            rest = ("fcn", "cnn", "st-fcn-affine")
            yield from _each(1.2, (seed,), *(f"{recipe}-{name}" for name in rest))
        yield from _each(1.5, (seed,), "icons-soft", "icons-mean")


def _each(minutes: float, seeds: Iterable[int], *names: str) -> Iterator[tuple[float, str]]:
    for seed in seeds:
        for name in names:
            yield minutes, f"{name}-{seed}"


def plan(folder: Path) -> Iterator[str]:
    """Lines of `side_by_side.py`, with those that measure a run that is done."""
    import draw_experiments

    lines = [line for _, line in seeing_runs.commands(folder)]
    lines += [line for _, line in caption_runs.commands(folder)]
    lines += draw_experiments.commands(folder, [])
    known = {_run_of(line): line for line in lines if "--run" in line}
    for minutes, name in planned():
        yield f"{minutes}\t{known[name]}"
        if seeing_runs.probed(name):
            yield f"after:{folder}/{name}\tpython benchmarks/seeing_experiments.py {folder} --probe {name}"


def _run_of(line: str) -> str:
    words = line.split()
    return Path(words[words.index("--run") + 1]).name


if __name__ == "__main__":
    print("\n".join(plan(Path(sys.argv[1]))))
