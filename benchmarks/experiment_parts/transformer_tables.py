"""The tables and pictures of the Transformer in docs/results, from the folders of the runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from experiment_parts.transformer_runs import (
    BAGS,
    CLASSIFIERS,
    NORMS,
    PARTS,
    POSITIONS,
    RECIPES,
    REGIONS,
    SEEDS,
)
from regard.view.charts import Axis, Chart, Line, Point
from run_folders import (
    each_of,
    head,
    interval_of,
    json_of,
    mean_of,
    metrics_of,
    row,
    test_of,
    updates_of,
)


def tables(folder: Path) -> Iterator[str]:
    """Markdown, one experiment after the other."""
    yield from ("## recipes", "", *recipes_table(folder), "")
    yield from ("## parts", "", *parts_table(folder), "")
    yield from ("## norms", "", *norms_table(folder), "")
    yield from ("## short", "", *short_table(folder), "")
    yield from ("## classifiers", "", *classifiers_table(folder), "")
    yield from ("## regions", "", *regions_table(folder))


def recipes_table(folder: Path) -> Iterator[str]:
    yield from head(
        "recipe", "parameters", "dev BLEU", "test BLEU", "each seed", "test ppl", "chrF", "updates"
    )
    for recipe in RECIPES:
        runs = _runs(folder, recipe)
        tests = [test_of(run) for run in runs]
        yield row(
            recipe,
            _size(runs),
            mean_of([json_of(run / "scores.json")["dev"]["bleu"]["value"] for run in runs]),
            interval_of([test["bleu"]["value"] for test in tests]),
            each_of([test["bleu"]["value"] for test in tests]),
            mean_of([test["perplexity"] for test in tests], 2),
            mean_of([test["chrf"]["value"] for test in tests]),
            _updates(runs),
        )


def parts_table(folder: Path) -> Iterator[str]:
    yield from head(
        "Transformer", "paper: ppl", "BLEU", "ours: ppl", "BLEU", "BLEU on dev", "each seed"
    )
    for name, cell in PARTS.items():
        runs = _runs(folder, f"part-{name}")
        tests = [test_of(run) for run in runs]
        devs = [json_of(run / "scores.json")["dev"]["bleu"]["value"] for run in runs]
        yield row(
            cell.name,
            cell.perplexity,
            cell.bleu,
            mean_of([test["perplexity"] for test in tests], 2),
            interval_of([test["bleu"]["value"] for test in tests]),
            mean_of(devs),
            each_of([test["bleu"]["value"] for test in tests]),
        )


def norms_table(folder: Path) -> Iterator[str]:
    yield from head(
        "layer norm", "warm-up", "test ppl", "test BLEU", "loss at update 100", "at 1,200"
    )
    for name, (norm, warmup) in NORMS.items():
        runs = _runs(folder, f"norm-{name}")
        tests, losses = [test_of(run) for run in runs], [_losses(run) for run in runs]
        yield row(
            norm,
            f"{warmup} updates" if warmup else "none",
            each_of([test["perplexity"] for test in tests]),
            each_of([test["bleu"]["value"] for test in tests]),
            each_of([loss[100] for loss in losses], 2),
            each_of([loss[1200] for loss in losses], 2),
        )


def short_table(folder: Path) -> Iterator[str]:
    buckets = ((1, 10), (11, 20), (21, 30))
    names = [f"{low}–{high} words" for low, high in buckets]
    yield from head("positions", *names, "length of 11–20, to the reference's", "test ppl")
    for kind in POSITIONS:
        tests = [test_of(run) for run in _runs(folder, f"short-{kind}")]
        rows = [[_bucket(test, low, high) for test in tests] for low, high in buckets]
        yield row(
            kind,
            *(interval_of([one["bleu"] for one in found]) for found in rows),
            mean_of([one["length_ratio"] for one in rows[1]], 2),
            mean_of([test["perplexity"] for test in tests]),
        )


def classifiers_table(folder: Path) -> Iterator[str]:
    yield from head("corpus", "model", "parameters", "updates", "test accuracy, %", "each seed")
    cells = [("IMDB", name, f"classifier-{key}") for key, (name, _) in CLASSIFIERS.items()]
    cells += [("MR", f"Transformer, positions {kind}", f"bag-{kind}") for kind in BAGS]
    for corpus, name, runs_of in cells:
        runs = _runs(folder, runs_of)
        shares = [100 * test_of(run)["accuracy"] for run in runs]
        yield row(corpus, name, _size(runs), _updates(runs), interval_of(shares), each_of(shares))


def regions_table(folder: Path) -> Iterator[str]:
    yield from head(
        "self-attention",
        "bits a character, dev",
        "test",
        "next character right, %",
        "updates",
    )
    for name, (words, _) in REGIONS.items():
        runs = _runs(folder, f"region-{name}")
        scores = [json_of(run / "scores.json") for run in runs]
        yield row(
            words,
            mean_of([found["dev"]["bits_per_character"] for found in scores], 3),
            interval_of([found["test"]["bits_per_character"] for found in scores], 3),
            interval_of([100 * found["test"]["accuracy"] for found in scores]),
            _updates(runs),
        )


def pictures(folder: Path, into: Path) -> None:
    """norm-and-warm-up.svg"""
    lines, losses = [], []
    for name, (norm, warmup) in NORMS.items():
        found = _losses(folder / f"norm-{name}-{SEEDS[0]}")
        losses += list(found.values())
        points = [
            Point(float(step), loss, f"{loss:.2f} at update {step}") for step, loss in found.items()
        ]
        lines.append(Line(f"{norm}, {'warm-up' if warmup else 'no warm-up'}", points))
    x = Axis("update", 0.0, 1200.0, [(float(n), [f"{n:,}"]) for n in range(0, 1201, 300)])
    y = Axis.of("loss, nats a token", losses)
    chart = Chart("Layer norm and warm-up, 6 + 6 layers: training loss", lines, x, y)
    into.mkdir(parents=True, exist_ok=True)
    (into / "norm-and-warm-up.svg").write_text(chart.standalone())


def _runs(folder: Path, name: str) -> list[Path]:
    """The runs of a cell that are done, one for each seed."""
    runs = [folder / f"{name}-{seed}" for seed in SEEDS]
    return [run for run in runs if test_of(run)]


def _size(runs: list[Path]) -> str:
    return f"{json_of(runs[0] / 'config.json')['parameters']:,}" if runs else "–"


def _updates(runs: list[Path]) -> str:
    """How many there were; if not the same of all seeds, the fewest and the most."""
    found = {updates_of(run) for run in runs}
    return " to ".join(f"{n:,}" for n in sorted({min(found), max(found)})) if found else "–"


def _losses(run: Path) -> dict[int, float]:
    """The training loss (with smoothing) at the updates it was written for."""
    rows = [one for one in metrics_of(run) if one["learning_rate"]]
    return {int(one["step"]): float(one["train_loss"]) for one in rows}


def _bucket(test: dict[str, Any], low: int, high: int) -> dict[str, Any]:
    rows = test["by_length"]["rows"]
    found: dict[str, Any] = next(one for one in rows if one["bucket"] == {"low": low, "high": high})
    return found
