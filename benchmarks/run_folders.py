"""What the tables of the experiments read from the folders of runs. What is not there is a dash."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from regard.statistics.student_sum import StudentSum


def json_of(path: Path) -> Any:
    """What a file says; None if there is none."""
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def test_of(run: Path) -> dict[str, Any]:
    """The scores on the test set; empty if there are none."""
    scores: dict[str, Any] = json_of(run / "scores.json") or {}
    test: dict[str, Any] = scores.get("test", {})
    return test


def metrics_of(run: Path) -> list[dict[str, str]]:
    with open(run / "metrics.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def updates_of(run: Path) -> int:
    return int(metrics_of(run)[-1]["step"]) if (run / "metrics.csv").is_file() else 0


def mean_of(values: Sequence[float], digits: int = 1) -> str:
    return f"{mean(values):.{digits}f}" if values else "–"


def interval_of(values: Sequence[float], digits: int = 1) -> str:
    """The mean, and from three seeds on the 95 % interval of it (Student's t)."""
    if len(values) < 3:
        return mean_of(values, digits)
    law = StudentSum(stdev(values) / len(values) ** 0.5, len(values) - 1, 0.0, 1)
    half = float(law.quantile(0.05)) if stdev(values) else 0.0
    return f"{mean(values):.{digits}f} ± {half:.{digits}f}"


def each_of(values: Sequence[float], digits: int = 1) -> str:
    return ", ".join(f"{value:.{digits}f}" for value in values) or "–"


def head(*names: str) -> Iterator[str]:
    yield row(*names)
    yield row(*("---" if at == 0 else "---:" for at in range(len(names))))


def row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
