"""The files of a comparison: a page, the numbers, and tables to paste."""

from __future__ import annotations

import json
from pathlib import Path

from regard.compare.compare_page import page
from regard.compare.findings import Findings
from regard.compare.score_table import ScoreTable, csv_of
from regard.runs.atomic_files import write_whole


def write_outputs(found: Findings, out: Path) -> list[Path]:
    """All of them, written whole; the page comes last."""
    out.mkdir(parents=True, exist_ok=True)
    table = ScoreTable.of(found)
    files = {
        "compare.json": json.dumps(found.to_dict(), ensure_ascii=False) + "\n",
        "compare.csv": csv_of(found),
        "compare.md": table.markdown,
        "compare.tex": table.latex,
        "compare.html": page(found),
    }
    for name, text in files.items():
        write_whole(out / name, text)
    return [out / name for name in files]
