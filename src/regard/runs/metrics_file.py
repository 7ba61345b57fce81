"""metrics.csv: one row for some updates and for every validation. TensorBoard too, if installed."""

from __future__ import annotations

import csv
import importlib.util
import io
import math
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from regard.data.atomic_files import write_whole

COLUMNS = (
    "step",
    "epoch",
    "seconds",
    "learning_rate",
    "train_loss",
    "gradient_norm",
    "speed",  # tokens, or whatever is scored, per second of training
    "dev_loss",
)
TRANSLATION = ("perplexity", "accuracy", "bleu", "chrf")
Row = dict[str, float]


class MetricsFile:
    """Rows are appended and flushed; those after the checkpoint a run resumes from are taken back."""

    def __init__(self, path: Path, update: int, measures: Sequence[str] = TRANSLATION) -> None:
        """measures: those of a validation, beside the loss."""
        self._columns = (*COLUMNS, *(f"dev_{name}" for name in measures))
        rows = [row for row in read_rows(path) if row["step"] <= update]
        kept = [{name: row[name] for name in self._columns if name in row} for row in rows]
        text = io.StringIO()
        self._writer(text).writeheader()
        self._writer(text).writerows(map(_written, kept))
        write_whole(path, text.getvalue())
        self._file = path.open("a", encoding="utf-8", newline="")
        self._board = _board(path.parent / "tensorboard", update)

    def add(self, row: Row) -> None:
        self._writer(self._file).writerow(_written(row))
        self._file.flush()
        if self._board is not None:
            for name, value in row.items():
                if name != "step":
                    self._board.add_scalar(name.replace("_", "/", 1), value, int(row["step"]))

    def close(self) -> None:
        self._file.close()
        if self._board is not None:
            self._board.close()

    def _writer(self, file: Any) -> csv.DictWriter[str]:
        return csv.DictWriter(file, self._columns, lineterminator="\n")


def read_rows(path: Path) -> list[Row]:
    """What metrics.csv holds; a row that was cut off in writing, or is damaged, is left out."""
    if not path.is_file():
        return []
    text = path.read_text(encoding="utf-8", errors="replace")
    header, *rows = [line.split(",") for line in text.splitlines()] or [[]]
    found = []
    for row in rows:
        with suppress(ValueError):  # no number, or not as many as the header has
            cells = zip(header, row, strict=True)
            found.append({name: float(value) for name, value in cells if value})
    return [row for row in found if math.isfinite(row.get("step", math.nan))]


def _written(row: Row) -> dict[str, str]:
    return {
        name: f"{value:.6g}" if name != "step" else f"{value:.0f}" for name, value in row.items()
    }


def _board(folder: Path, update: int) -> Any:
    if importlib.util.find_spec("tensorboard") is None:
        return None
    from torch.utils.tensorboard import SummaryWriter

    return SummaryWriter(str(folder), purge_step=update + 1)
