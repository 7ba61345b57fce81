"""`regard report`: the page of a run, alone or beside others."""

from __future__ import annotations

import sys
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from regard.cli.options import Device
from regard.runs.run_names import EMBEDDED, run_path
from regard.words import t


def report(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN [OTHER …]",
            parser=run_path,
            help="A run folder, or embedded; others to put beside it.",
        ),
    ],
    data: Annotated[
        str | None,
        typer.Option(metavar="SPEC", help="The corpus to score by; the run's own sets if none."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Where to write; RUN/report.html, or RUN/report-OTHER.html, if none.",
        ),
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
    device: Device = None,
) -> None:
    """Write the report of a run, or of a run beside others.

    Its scores with their intervals, how it was trained and on what, and samples that open in the viewer: one
    HTML file that needs nothing else. Others are scored by the sets of the first.

    Example: regard report runs/zh-en

    Example: regard report runs/zh-en runs/zh-en-large -o both.html
    """
    if len({path.resolve() for path in runs}) < len(runs):
        raise typer.BadParameter(t("a run is named twice"))
    if runs[0] == EMBEDDED and output is None:
        raise typer.BadParameter(
            t("the embedded model has no folder of yours: say where to, -o FILE.html")
        )
    if output is not None and output.suffix.lower() not in (".html", ".htm"):
        raise typer.BadParameter(t("{file} is no .html file: a report is a page", file=output))

    from regard.cli.ready_run import ready_run
    from regard.report.run_evaluation import write_page, write_report
    from regard.runs.run_folder import RunFolder

    loaded = [ready_run(path, device=device) for path in runs]
    own = RunFolder(runs[0])
    if len(runs) == 1 and output is None and data is None:
        out = own.report
        write_report(own, _say, anew=True)
    else:
        beside = "-".join(path.resolve().name for path in runs[1:])
        out = output or own.path / (f"report-{beside}.html" if beside else own.report.name)
        write_page(loaded, out, _say, data=data)
    if show:
        webbrowser.open(out.resolve().as_uri())


def _say(line: str) -> None:
    print(line, file=sys.stderr)
