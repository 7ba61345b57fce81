"""The files of a comparison: a page, the numbers, and tables to paste."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from regard.compare.compare_page import page
from regard.compare.findings import Findings
from regard.compare.score_table import ScoreTable, csv_of
from regard.data.atomic_files import write_whole
from regard.runs.failures import FolderInUse
from regard.runs.run_folder import held_folder

ENDINGS = ("json", "csv", "md", "tex", "html")


@contextmanager
def comparison_folder(out: Path) -> Iterator[None]:
    """The folder of a comparison, held from the first judgement until its files are written."""
    with held_folder(out, FolderInUse(f"another comparison is at work in {out}", "--out")):
        yield


def output_files(found: Findings, out: Path) -> list[Path]:
    return [out / f"{found.stem}.{ending}" for ending in ENDINGS]


def write_outputs(found: Findings, out: Path) -> None:
    """All files, written whole; the page comes last."""
    table = ScoreTable.of(found)
    numbers = json.dumps(found.to_dict(), ensure_ascii=False) + "\n"
    texts = numbers, csv_of(found), table.markdown, table.latex, page(found)
    for file, text in zip(output_files(found, out), texts, strict=True):
        write_whole(file, text)
