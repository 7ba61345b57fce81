"""The tables of models that look at pictures, from the folders of their runs. What is not there is a dash."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from experiment_parts.seeing_probes import PROBE
from experiment_parts.seeing_runs import WAKE_SLEEP, Cell, experiments, runs_of
from run_folders import each_of, head, interval_of, json_of, mean_of, metrics_of, row, test_of

REACHED = (0.80, 0.90, 0.95)  # accuracies on the dev set whose updates are told


def tables(folder: Path) -> Iterator[str]:
    """Markdown, one recipe after the other."""
    for experiment, recipe, cells in experiments():
        made = (
            _wake_sleep(folder, recipe)
            if experiment == "wake-sleep"
            else _errors(folder, recipe, cells)
        )
        yield from (f"## {recipe}", "", *made, "")
    yield from ("## variance of the policy's gradient", "", *gradients(folder), "")
    yield from ("## angle that is undone, against the angle of the digit", "", *angles(folder))


def _errors(folder: Path, recipe: str, cells: dict[str, Cell]) -> Iterator[str]:
    yield from head("model", "paper: error, %", "ours", "each seed", "parameters", "minutes")
    for name, cell in cells.items():
        runs = runs_of(folder, recipe, name, cell)
        errors = _test_errors(runs)
        yield row(
            cell.name,
            cell.paper,
            interval_of(errors, 2),
            each_of(errors, 2),
            _size(runs),
            mean_of([_spent(run)["seconds"] / 60 for run in runs], 1),
        )


def _wake_sleep(folder: Path, recipe: str) -> Iterator[str]:
    goals = [f"updates to {100 * goal:.0f} % on dev" for goal in REACHED]
    yield from head("loss", "ours: error, %", "each seed", *goals, "updates")
    for name, cell in WAKE_SLEEP.items():
        runs = runs_of(folder, recipe, name, cell)
        errors = _test_errors(runs)
        reached = [[_reached(run, goal) for run in runs] for goal in REACHED]
        yield row(
            cell.name,
            interval_of(errors, 2),
            each_of(errors, 2),
            *(
                ", ".join("never" if n is None else f"{n:,}" for n in each) or "–"
                for each in reached
            ),
            mean_of([_spent(run)["steps"] for run in runs], 0),
        )


def gradients(folder: Path) -> Iterator[str]:
    """By every loss on the same weights, those of wake-sleep +c +q."""
    yield from head("loss", "variance", "effective samples")
    runs = runs_of(folder, "ws-ram-cluttered", "c-q", WAKE_SLEEP["c-q"])
    found = _probe(runs[0]).get("gradients", {}) if runs else {}
    for name, cell in WAKE_SLEEP.items():
        variance, samples = found.get(name, (None, None))
        yield row(
            cell.name,
            "–" if variance is None else f"{variance:.3g}",
            "–" if samples is None else f"{samples:.2f}",
        )


def angles(folder: Path) -> Iterator[str]:
    yield from head("run", "Pearson's r")
    for name in ("st-fcn-affine", "st-cnn-affine"):
        for run in runs_of(folder, "stn-r", name, Cell("", "", seeds=(1, 2, 3))):
            found = _probe(run).get("angles")
            yield row(run.name, "–" if found is None else f"{found:.3f}")


def _test_errors(runs: Sequence[Path]) -> list[float]:
    return [100 * (1 - test_of(run)["accuracy"]) for run in runs]


def _reached(run: Path, goal: float) -> int | None:
    """The first update at which the dev set was answered so well."""
    told = (one for one in metrics_of(run) if one.get("dev_accuracy"))
    return next((int(one["step"]) for one in told if float(one["dev_accuracy"]) >= goal), None)


def _spent(run: Path) -> dict[str, float]:
    spent: dict[str, float] = json_of(run / "config.json")["spent"]
    return spent


def _size(runs: Sequence[Path]) -> str:
    return f"{json_of(runs[0] / 'config.json')['parameters']:,}" if runs else "–"


def _probe(run: Path) -> dict[str, Any]:
    """What `seeing_experiments.py --probe` has measured of a run."""
    return json_of(run / PROBE) or {}
