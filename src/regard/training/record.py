"""metrics.csv: one row for some updates and for every validation. TensorBoard too, if installed."""

from __future__ import annotations

import csv
import importlib.util
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regard.training.writing import write_whole

COLUMNS = (
    "step",
    "epoch",
    "seconds",
    "learning_rate",
    "train_loss",
    "gradient_norm",
    "dev_loss",
)
TRANSLATION = ("perplexity", "accuracy", "bleu", "chrf")
Row = dict[str, float]


class Record:
    """Rows are appended and flushed; those after the checkpoint a run resumes from are taken back."""

    def __init__(self, path: Path, update: int, measures: Sequence[str] = TRANSLATION) -> None:
        """measures: those of a validation, beside the loss."""
        self._columns = (*COLUMNS, *(f"dev_{name}" for name in measures))
        kept = [row for row in read_rows(path) if row["step"] <= update]
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
    """What metrics.csv holds; a row that was cut off in writing is left out."""
    if not path.is_file():
        return []
    rows: list[Row] = []
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if None not in row.values():
                rows.append({name: float(value) for name, value in row.items() if value})
    return [row for row in rows if "step" in row]


def _written(row: Row) -> dict[str, str]:
    return {
        name: f"{value:.6g}" if name != "step" else f"{value:.0f}" for name, value in row.items()
    }


def _board(folder: Path, update: int) -> Any:
    if importlib.util.find_spec("tensorboard") is None:
        return None
    from torch.utils.tensorboard import SummaryWriter

    return SummaryWriter(str(folder), purge_step=update + 1)
