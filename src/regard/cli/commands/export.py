"""`regard export`: a run as a folder that a production engine runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from regard.cli.options import Run
from regard.runs.run_names import ZOO
from regard.words import t


def export(
    to: Annotated[
        str,
        typer.Option(
            "--to", metavar="ENGINE", help="ctranslate2, onnx or word2vec.", show_default=False
        ),
    ],
    model: Run = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FOLDER", help="Where to write it; RUN/export/ENGINE if none."
        ),
    ] = None,
    quantization: Annotated[
        str | None,
        typer.Option(
            metavar="TYPE", help="ctranslate2: float16, bfloat16, int16, int8; float32 if none."
        ),
    ] = None,
) -> None:
    """Write a run for CTranslate2 or ONNX, or its word vectors.

    Example: regard export -m runs/zh-en --to ctranslate2

    Example: regard export -m runs/zh-en --to ctranslate2 --quantization int8

    Example: regard export -m runs/embed --to word2vec
    """
    from regard.export.unsupported import CannotExport

    if (model is None or model.parent == ZOO) and output is None:
        raise CannotExport(
            t("the embedded model has no folder of yours: say where to"), "-o FOLDER"
        )
    if to == "word2vec":
        from regard.export.word2vec import export_vectors

        def tell(note: str) -> None:
            print(t("note: {note}", note=note), file=sys.stderr)

        typer.echo(export_vectors(model, output, report=tell))
        return

    from regard.export.run_export import export as write

    typer.echo(write(model, to, output, quantization=quantization))
