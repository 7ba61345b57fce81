"""The texts that a command is given: as arguments, or as the lines of standard input."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from io import BufferedReader
from typing import cast

import typer

from regard.words import t

CHUNK = 1024  # lines: enough to sort by length, few enough to see them flow

ASKED = ("predict", "look", "generate")  # commands that take the file of a picture
TABLES = (".csv", ".tsv", ".jsonl")
PICTURES = (".png", ".jpg", ".jpeg")
OTHER_PICTURES = (".gif", ".svg", ".webp", ".bmp", ".tif", ".tiff", ".heic", ".avif")


def check_texts(texts: list[str], command: str) -> None:
    """`-` stands alone; a text that is the name of a file is taken as a text, but was it meant?"""
    if "-" in texts and len(texts) > 1:
        raise typer.BadParameter(t("- is standard input: give it alone, or texts without it"))
    if texts and texts[0].lower().endswith(PICTURES + OTHER_PICTURES) and command in ASKED:
        return  # it has no lines: a run that looks at pictures says whether it can read it
    if len(texts) == 1 and len(texts[0].split()) == 1 and os.path.isfile(texts[0]):
        print(_meant_file(texts[0], command), file=sys.stderr)


def is_picture(text: str) -> bool:
    """Whether it is the name of a picture's file: a run that looks at pictures reads it."""
    return text.lower().endswith(PICTURES) and os.path.isfile(text)


def _meant_file(file: str, command: str) -> str:
    """What to write where its lines were meant, or its rows: predict reads a table by its columns."""
    plain = file.removesuffix(".gz").removesuffix(".xz")
    if command in ("predict", "classify") and plain.endswith(TABLES):
        return t(
            "note: {file} is a file: to answer its rows write: regard predict … --data {file}",
            file=file,
        )
    return t(
        "note: {file} is a file: to {command} its lines write: regard {command} … < {file}",
        file=file,
        command=command,
    )


def chunks(texts: list[str], command: str, *, full: bool = False) -> Iterator[list[str]]:
    """The texts; `-` stands for the lines of standard input, as they arrive."""
    if texts != ["-"]:
        from regard.data.text_lines import whole_text

        yield [whole_text(text) for text in texts]
        return

    from regard.cli.streams import arriving, decoded

    if sys.stdin.isatty():
        print(t("type a line to {command} it; Ctrl-D ends", command=command), file=sys.stderr)
    number = 1
    for lines in arriving(cast(BufferedReader, sys.stdin.buffer), CHUNK, full=full):
        yield decoded(lines, number)
        number += len(lines)
