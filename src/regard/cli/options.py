"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

WIDEST = 1_000  # hypotheses side by side
LARGEST_SEED = (1 << 63) - 1

Run = Annotated[
    Path | None,
    typer.Option("-m", "--model", metavar="RUN", help="A run folder; the embedded model if none."),
]
TrainedRun = Annotated[Path, typer.Option("-m", "--model", metavar="RUN", help="A run folder.")]


def _several(what_they_do: str) -> Any:
    said = f"A run folder, the embedded model if none; {what_they_do}."
    return typer.Option("-m", "--model", metavar="RUN", help=said)


Runs = Annotated[list[Path] | None, _several("several decide together")]
ComparedRuns = Annotated[list[Path] | None, _several("two are compared")]
ServedRuns = Annotated[list[Path] | None, _several("several are served by name")]
Beam = Annotated[
    int | None,
    typer.Option(min=1, max=WIDEST, metavar="N", help="Hypotheses kept open; 1: greedy search."),
]
Device = Annotated[
    str | None, typer.Option(metavar="NAME", help="cpu, cuda, cuda:1 or mps; chosen if not given.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Output = Annotated[
    Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write there, not to stdout.")
]
