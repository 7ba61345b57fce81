"""The tables and pictures of docs/results, from the folders of the runs. What is not there is a dash."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from statistics import mean
from typing import Any

from experiment_parts.runs import (
    ALIGNERS,
    ENSEMBLES,
    LUONG,
    SEEDS,
    SYSTEMS,
    ensemble_file,
)
from regard.measures.bleu_by_length import Bucket, LengthCurve, LengthRow
from regard.view.charts import Axis, Chart, Line, Point
from regard.view.charts.length_chart import length_chart
from run_folders import each_of, head, interval_of, json_of, mean_of, row, test_of, updates_of

POSITIONS = 5  # tokens in a cell of the position test


def tables(folder: Path) -> Iterator[str]:
    """Markdown, one experiment after the other."""
    yield from ("## luong", "", *luong_table(folder), "", *ensemble_table(folder), "")
    yield from ("## length", "", *length_table(folder), "")
    yield from ("## copy", "", *copy_table(folder), "")
    yield from ("## align", "", *align_table(folder))


def luong_table(folder: Path) -> Iterator[str]:
    yield from head(
        "attention", "paper: ppl", "BLEU", "ours: ppl", "BLEU", "BLEU of each seed", "updates"
    )
    for name, cell in LUONG.items():
        found = [test_of(folder / f"luong-{name}-{seed}") for seed in SEEDS]
        tests = [test for test in found if test]
        bleus = [test["bleu"]["value"] for test in tests]
        updates = [updates_of(folder / f"luong-{name}-{seed}") for seed in SEEDS]
        yield row(
            cell.name,
            cell.perplexity,
            cell.bleu,
            mean_of([test["perplexity"] for test in tests], 2),
            interval_of(bleus),
            each_of(bleus),
            ", ".join(f"{n:,}" for n in dict.fromkeys(updates) if n),
        )


def ensemble_table(folder: Path) -> Iterator[str]:
    yield from head(
        "ensemble", "best member: BLEU of each seed", "together", "more than the best of them"
    )
    for name, members in ENSEMBLES.items():
        alone, bleus = [], []
        for seed in SEEDS:
            together = json_of(folder / ensemble_file(name, seed))
            found = [test_of(folder / f"luong-{member}-{seed}") for member in members]
            single = [test["bleu"]["value"] for test in found if test]
            if together and single:
                alone.append(max(single))
                bleus.append(together["bleu"]["value"])
        gains = [bleu - best for bleu, best in zip(bleus, alone, strict=True)]
        yield row(name, each_of(alone), interval_of(bleus), interval_of(gains))


def length_table(folder: Path) -> Iterator[str]:
    if not all(_joined(folder, system) for system in SYSTEMS):
        yield "Not run yet."
        return
    curves = length_curves(folder)
    names = list(curves)
    yield from head("words in the source", "sentences", *names, "gap", f"{names[0]}: each seed",
                     f"{names[1]}: each seed")  # fmt: skip
    for rows in zip(*(curve.rows for curve in curves.values()), strict=True):
        each = [
            ", ".join(f"{_bucket(one, rows[0].bucket):.1f}" for one in _joined(folder, system))
            for system in SYSTEMS
        ]
        bleus = [f"{one.bleu:.1f}" for one in rows]
        gap = f"{rows[1].bleu - rows[0].bleu:.1f}"
        yield row(rows[0].bucket.label, f"{rows[0].sentences}", *bleus, gap, *each)


def length_curves(folder: Path) -> dict[str, LengthCurve]:
    """The mean curve of each system over the seeds, and the fixed vector trained for longer."""
    curves = {name: _mean_curve(_joined(folder, system)) for system, name in SYSTEMS.items()}
    return curves | {"fixed vector, 20 epochs": _mean_curve(_joined(folder, "fixed-longer"))}


def _joined(folder: Path, system: str) -> list[dict[str, Any]]:
    found = [json_of(folder / f"length-{system}-{seed}" / "joined.json") for seed in SEEDS]
    return [one["by_length"] for one in found if one]


def _mean_curve(curves: Sequence[dict[str, Any]]) -> LengthCurve:
    rows = []
    for same in zip(*(curve["rows"] for curve in curves), strict=True):
        first = LengthRow(**{**same[0], "bucket": Bucket(**same[0]["bucket"])})
        rows.append(replace(first, bleu=mean(row["bleu"] for row in same)))
    return LengthCurve(tuple(rows), curves[0]["unit"], curves[0]["signature"])


def _bucket(curve: dict[str, Any], bucket: Bucket) -> float:
    (bleu,) = (row["bleu"] for row in curve["rows"] if row["bucket"] == asdict(bucket))
    return float(bleu)


def copy_table(folder: Path) -> Iterator[str]:
    yield from head(
        "model", "tokens in the source", *(f"{j + 1}–{j + POSITIONS}" for j in range(0, 40, 5))
    )
    for system, name in SYSTEMS.items():
        for low, high in ((11, 20), (21, 30), (31, 40)):
            cells = recalled(folder, system, low, high)
            cells += [None] * (8 - len(cells))
            shown = ("" if cell is None else f"{100 * cell:.0f}" for cell in cells)
            yield row(name, f"{low}–{high}", *shown)


def recalled(folder: Path, system: str, low: int, high: int) -> list[float | None]:
    """The share of tokens that came back, by position, of sources between these lengths, in all seeds."""
    counts = [json_of(folder / f"copy-{system}-{seed}" / "recall.json") or {} for seed in SEEDS]
    tokens, kept = [0] * high, [0] * high
    for length, found in (pair for seed in counts for pair in seed.items()):
        if low <= int(length) <= high:
            for j in range(int(length)):
                tokens[j] += found["tokens"][j]
                kept[j] += found["recalled"][j]
    sums = [
        (sum(kept[j : j + POSITIONS]), sum(tokens[j : j + POSITIONS]))
        for j in range(0, high, POSITIONS)
    ]
    return [k / n if n else None for k, n in sums]


def align_table(folder: Path) -> Iterator[str]:
    yield from head(
        "model", "updates", "AER", "each seed", "precision", "recall", "links moved by −1", "by +1"
    )
    for name, (label, _) in ALIGNERS.items():
        runs = [folder / f"align-{name}-{seed}" for seed in SEEDS]
        found = [(run, rates) for run in runs if (rates := json_of(run / "aer.json"))]
        moved = [json_of(run / "moved.json") for run, _ in found]
        errors = [rates["aer"] for _, rates in found]
        yield row(
            label,
            f"{updates_of(found[0][0]):,}" if found else "–",
            interval_of(errors, 2),
            each_of(errors, 2),
            *(mean_of([rates[key] for _, rates in found], 2) for key in ("precision", "recall")),
            *(mean_of([rates[by] for rates in moved], 2) for by in ("-1", "1")),
        )


def pictures(folder: Path, into: Path) -> None:
    into.mkdir(parents=True, exist_ok=True)
    if all(_joined(folder, system) for system in SYSTEMS):
        chart = length_chart(length_curves(folder), "BLEU by source length, Multi30k en-de")
        (into / "bleu-by-length.svg").write_text(chart.standalone())
    lines = []
    for system, low, high in (("attention", 31, 40), ("fixed", 11, 20), ("fixed", 31, 40)):
        found = recalled(folder, system, low, high)
        points = [
            Point(float(at), 100 * share, f"{100 * share:.0f} %")
            for at, share in enumerate(found)
            if share is not None
        ]
        lines.append(Line(f"{SYSTEMS[system]}, {low}–{high} tokens", points))
    ticks = [(float(at), [f"{5 * at + 1}–{5 * at + 5}"]) for at in range(8)]
    x = Axis("position in the source", -0.4, 7.4, ticks)
    y = Axis.of("recalled, %", [0.0, 100.0], zero=True)
    (into / "recall-by-position.svg").write_text(
        Chart("Which source tokens come back", lines, x, y).standalone()
    )
