"""`regard data check`: what is in a corpus, and what is wrong with it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from regard.cli.error_lines import FAILED
from regard.cli.options import Json
from regard.cli.plain_help import PlainCommand, PlainGroup

data = typer.Typer(cls=PlainGroup, rich_markup_mode=None)


@data.callback()
def group() -> None:
    """Look at data before training on it."""


@data.command("check", cls=PlainCommand)
def check_corpus(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILES", help="a.zh a.en, or pairs.tsv, or pairs.jsonl, or -."),
    ],
    as_json: Json = False,
) -> None:
    """Count the pairs of a corpus and report the lines that training will skip.

    Example: regard data check a.zh a.en
    """
    from regard.data.check import check

    summary = check(files if len(files) > 1 else files[0])
    if as_json:
        plain = asdict(summary) | {"problems": summary.problems.to_json()}
        print(json.dumps(plain, indent=2, ensure_ascii=False))
    else:
        print(summary)
    if not summary.pairs:
        raise typer.Exit(FAILED)
