"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from regard.runs.run_names import run_path

WIDEST = 1_000  # hypotheses side by side
LARGEST_SEED = (1 << 63) - 1

Run = Annotated[
    Path | None,
    typer.Option(
        "-m",
        "--model",
        metavar="RUN",
        parser=run_path,
        help="A run folder, RUN@STEP, or embedded: the model that is used if none.",
    ),
]
TrainedRun = Annotated[
    Path,
    typer.Option(
        "-m", "--model", metavar="RUN", parser=run_path, help="A run folder, or RUN@STEP."
    ),
]
Runs = Annotated[
    list[Path] | None,
    typer.Option(
        "-m",
        "--model",
        metavar="RUN",
        parser=run_path,
        help="A run folder, RUN@STEP, or embedded, the default; several decide together.",
    ),
]
ComparedRuns = Annotated[
    list[Path] | None,
    typer.Option(
        "-m",
        "--model",
        metavar="RUN",
        parser=run_path,
        help="A run folder, RUN@STEP, or embedded, the default; two stand side by side.",
    ),
]
ServedRuns = Annotated[
    list[Path] | None,
    typer.Option(
        "-m",
        "--model",
        metavar="RUN",
        parser=run_path,
        help="A run folder, RUN@STEP, or embedded, the default; several are served by name.",
    ),
]
Guests = Annotated[
    list[Path] | None,
    typer.Option(
        "--hf",
        metavar="FOLDER",
        help="A folder of a Hugging Face model, in safetensors; nothing is downloaded.",
    ),
]
Beam = Annotated[
    int | None,
    typer.Option(min=1, max=WIDEST, metavar="N", help="Hypotheses kept open; 1: greedy search."),
]
Device = Annotated[
    str | None, typer.Option(metavar="NAME", help="cpu, cuda, cuda:1 or mps; chosen if not given.")
]
Int8 = Annotated[
    bool, typer.Option("--int8", help="Matrices of 8 bits, on the CPU: faster, nearly the same.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Output = Annotated[
    Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write there, not to stdout.")
]
