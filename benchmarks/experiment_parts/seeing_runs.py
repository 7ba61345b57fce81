"""What is run for models that look at pictures: the cells of their tables, and the lines that fill them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SEEDS = (1, 2, 3)


class Cell(NamedTuple):
    """A row of a table."""

    name: str
    words: str
    paper: str = "–"  # error in %; of RAM those of the first and of the last version
    seeds: tuple[int, ...] = (1,)


WHOLE = "training.batch_sentences=256 training.optimizer.lr=1e-3"  # of those that see all at once
FCN = f"model.kind=stn model.warp=none model.body=fcn model.width=256 {WHOLE}"
DEEP = f"model.kind=cnn model.design=deep {WHOLE}"


def _ram(glimpses: int, paper: str, *, judged: bool = False) -> Cell:
    seeds = SEEDS if judged else (1,)
    return Cell(f"RAM, {glimpses} glimpses", f"model.glimpses={glimpses}", paper, seeds)


def _conv(filters: int, paper: str) -> Cell:
    words = f"model.kind=cnn model.design=shallow model.filters={filters} {WHOLE}"
    return Cell("convolutions, as in the paper", words, paper, SEEDS)


GLIMPSES: dict[str, dict[str, Cell]] = {
    "ram-mnist": {
        "fcn": Cell("fully connected, 2 x 256", FCN, "1.35 / 1.69"),
        "conv": _conv(8, "– / 1.21"),
        "deep": Cell("convolutions of today", DEEP),
        "2": _ram(2, "6.27 / 3.79"),
        "3": _ram(3, "2.7 / 1.51"),
        "4": _ram(4, "1.73 / 1.54"),
        "5": _ram(5, "1.55 / 1.34"),
        "6": _ram(6, "1.29 / 1.12", judged=True),
        "7": _ram(7, "1.47 / 1.07"),
        "random": Cell("6 glimpses anywhere", "model.glimpses=6 model.policy=random", seeds=SEEDS),
    },
    "ram-translated": {
        "fcn": Cell("fully connected, 2 x 256", FCN, "3.7 / 2.63"),
        "conv": _conv(16, "2.31 / 1.62"),
        "deep": Cell("convolutions of today", DEEP),
        "4": _ram(4, "2.29 / 1.54"),
        "6": _ram(6, "1.86 / 1.22"),
        "8": _ram(8, "1.84 / 1.20", judged=True),
        "random": Cell("8 glimpses anywhere", "model.policy=random"),
    },
    "ram-cluttered": {
        "fcn": Cell("fully connected, 2 x 256", FCN, "13.2 / 11.96"),
        "conv": _conv(8, "7.83 / 8.09"),
        "deep": Cell("convolutions of today", DEEP, seeds=SEEDS),
        "4": _ram(4, "7.1 / 4.96"),
        "6": _ram(6, "5.88 / 4.08"),
        "8": _ram(8, "5.23 / 4.04", judged=True),
        "random": Cell("8 glimpses anywhere", "model.policy=random", "– / 14.4", SEEDS),
    },
    "ram-cluttered-100": {
        "conv": _conv(8, "16.51 / 14.35"),
        "deep": Cell("convolutions of today", DEEP),
        "4": _ram(4, "14.95 / 9.41"),
        "8": _ram(8, "10.83 / 8.11"),
        "window-4": Cell(
            "4 windows (DRAW's read)", f"model.kind=window-reader model.steps=4 {WHOLE}", "4.18"
        ),
        "window-8": Cell(
            "8 windows (DRAW's read)", f"model.kind=window-reader model.steps=8 {WHOLE}", "3.36"
        ),
    },
}
WAKE_SLEEP = {
    "bound": Cell("bound", "model.loss=variational model.control=false", seeds=SEEDS),
    "bound-c": Cell("bound, with a baseline", "model.loss=variational", seeds=SEEDS),
    "plain": Cell("wake-sleep", "model.inference=false model.control=false", seeds=SEEDS),
    "c": Cell("wake-sleep +c", "model.inference=false", seeds=SEEDS),
    "q": Cell("wake-sleep +q", "model.control=false", seeds=SEEDS),
    "c-q": Cell("wake-sleep +c +q", "", seeds=SEEDS),
}
WARPS = {"affine": "Aff", "projective": "Proj", "thin-plate": "TPS"}
JUDGED = ("stn-r", "stn-tc")  # whose order is claimed
PAPER = {  # error in %: FCN, CNN, ST-FCN and ST-CNN by warp
    "stn-r": ("2.1", "1.2", ("1.2", "1.3", "1.1"), ("0.7", "0.8", "0.7")),
    "stn-rts": ("5.2", "0.8", ("0.8", "0.9", "0.8"), ("0.5", "0.6", "0.5")),
    "stn-p": ("3.1", "1.5", ("1.5", "1.4", "1.4"), ("0.8", "0.8", "0.8")),
    "stn-e": ("3.2", "1.4", ("2.7", "2.6", "2.4"), ("1.2", "1.3", "1.1")),
    "stn-tc": ("13.2", "3.5", ("2.0", "–", "–"), ("1.7", "–", "–")),
}
SUMS = {
    "fcn": Cell("FCN", "model.warp=none", "47.7"),
    "cnn": Cell("CNN", "model.warp=none model.body=cnn model.width=64", "14.7"),
    "st-fcn": Cell("ST-FCN", "model.transformers=1", "18.5"),
    "2-st-fcn": Cell("2 x ST-FCN", "", "5.8"),
}


def warped(recipe: str) -> dict[str, Cell]:
    """The rows of one distortion."""
    fcn, cnn, st_fcn, st_cnn = PAPER[recipe]
    seeds = SEEDS if recipe in JUDGED else (1,)
    full = "model.body=fcn model.width=256"
    cells = {
        "fcn": Cell("FCN", f"model.warp=none {full}", fcn, seeds),
        "cnn": Cell("CNN", "model.warp=none", cnn, seeds),
    }
    for (warp, short), a, b in zip(WARPS.items(), st_fcn, st_cnn, strict=True):
        first = warp == "affine"
        if recipe == "stn-tc" and not first:
            continue
        judged = SEEDS if first and recipe in (*JUDGED, "stn-rts") else (1,)
        many = seeds if first else (1,)
        cells[f"st-fcn-{warp}"] = Cell(f"ST-FCN {short}", f"model.warp={warp} {full}", a, many)
        cells[f"st-cnn-{warp}"] = Cell(f"ST-CNN {short}", f"model.warp={warp}", b, judged)
    return cells


def experiments() -> Iterator[tuple[str, str, dict[str, Cell]]]:
    """(the experiment, its recipe, its rows)"""
    for recipe, cells in GLIMPSES.items():
        yield "glimpses", recipe, cells
    yield "wake-sleep", "ws-ram-cluttered", WAKE_SLEEP
    for recipe in PAPER:
        yield "warps", recipe, warped(recipe)
    yield "sums", "stn-sum", SUMS


def commands(folder: Path) -> Iterator[tuple[str, str]]:
    """(the experiment, a shell line), the first seed of everything first."""
    for seed in SEEDS:
        for experiment, recipe, cells in experiments():
            for name, cell in cells.items():
                if seed in cell.seeds:
                    words = f"{recipe} {cell.words}".strip()
                    run = f"--run {folder}/{recipe}-{name}-{seed}"
                    yield experiment, f"regard train {words} --seed {seed} {run} --quiet"


def probed(name: str) -> bool:
    """Whether more is measured of a run than its scores."""
    return name.startswith(("stn-r-st-fcn-affine", "stn-r-st-cnn-affine", "ws-ram-cluttered-c-q"))


def runs_of(folder: Path, recipe: str, name: str, cell: Cell) -> list[Path]:
    """Those that are there."""
    every = (folder / f"{recipe}-{name}-{seed}" for seed in cell.seeds)
    return [run for run in every if (run / "scores.json").is_file()]
