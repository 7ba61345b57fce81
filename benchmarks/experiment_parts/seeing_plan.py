"""What models that look at pictures are trained for when a GPU is there for minutes: the most valuable first.

A run is named as its folder is; its line is that of the scripts of experiments, with a limit in minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from experiment_parts import caption_runs, seeing_runs
from experiment_parts.seeing_runs import WAKE_SLEEP

ONCE, THRICE = (1,), (1, 2, 3)


def planned() -> Iterator[tuple[float, str]]:
    """(minutes, the name of a run)"""
    judged = ("r-st-cnn-affine", "tc-st-cnn-affine", "rts-st-cnn-affine")
    others = ("fcn", "cnn", "st-fcn-affine")
    yield from _each(7.7, ONCE, "draw-mnist-windows")
    yield from _each(5.0, THRICE, "draw-wide-windows", "draw-wide-none")
    yield from _each(4.0, THRICE, "ram-cluttered-8", "ram-translated-8")
    for seed in THRICE:
        yield from _each(3.2, (seed,), "ram-mnist-6")  # in 1.8 a quarter of the updates: 1.59 %
        yield from _each(1.8, (seed,), *(f"stn-{name}" for name in judged))
        yield from _each(2.5, (seed,), "scenes-soft", "scenes-mean")
        yield from _each(1.0, (seed,), "ram-cluttered-conv", "ram-cluttered-deep")
        # in 0.6 no loss comes to 80 %
        yield from _each(2.0, (seed,), *(f"ws-ram-cluttered-{name}" for name in WAKE_SLEEP))
        yield from _each(1.0, (seed,), *(f"stn-{view}-{x}" for view in ("r", "tc") for x in others))
        if seed == 1:
            yield from _each(3.6, ONCE, "ram-cluttered-random")
            yield from _each(1.3, ONCE, "ram-mnist-random")
            yield from _each(1.3, ONCE, *(f"ram-mnist-{n}" for n in (2, 4)))
            yield from _each(1.3, ONCE, "icons-soft", "icons-mean", "icons-none")
    yield from _each(1.3, ONCE, *(f"ram-mnist-{n}" for n in (3, 5, 7, "conv", "fcn")))
    yield from _each(1.3, (2, 3), "ram-mnist-random", "icons-soft", "icons-mean")


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
