"""Sentences and their translations, as `regard score` and `regard align` are given them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.error_lines import MISUSED
from regard.words import t

if TYPE_CHECKING:
    from regard.data.problems import Problems

CHUNK = 1024  # pairs


class NotParallel(ValueError):
    """What was given is not a line for a line."""

    status = MISUSED

    @property
    def hint(self) -> str:
        return t(
            "every line needs its translation: in the same line of TARGET, or after a TAB on stdin"
        )


Source = Annotated[
    str | None,
    typer.Argument(
        metavar="SOURCE", help="A file of sentences; 'source TAB target' on stdin if none."
    ),
]
Target = Annotated[
    str | None, typer.Argument(metavar="TARGET", help="A file of their translations.")
]


def line_pairs(source: str | None, target: str | None) -> Iterator[tuple[list[str], list[str]]]:
    """Chunks of sentences and of their translations: no line is left out, also not an empty one.

    Bytes that are not UTF-8 are read as U+FFFD, and their lines are told at the end.
    """
    from regard.data.problems import Problems

    problems = Problems()
    if source in (None, "-") and target is None:
        pairs = _from_stdin(problems)
    else:
        pairs = _zipped(source, target, problems)
    yield from _chunks(pairs, problems)


def tab_pairs(path: Path) -> Iterator[tuple[list[str], list[str]]]:
    """The same of a file of 'source TAB target' lines."""
    from regard.data.problems import Problems
    from regard.data.text_lines import read_lines

    problems = Problems()
    yield from _chunks(_cut(read_lines(path, problems)), problems)


def _chunks(
    pairs: Iterator[tuple[str, str]], problems: Problems
) -> Iterator[tuple[list[str], list[str]]]:
    while chunk := list(islice(pairs, CHUNK)):
        yield [source for source, _ in chunk], [target for _, target in chunk]
    if problems:
        told = t("{problems}, read with U+FFFD in them", problems=problems.report())
        print(t("warning: {message}", message=told), file=sys.stderr)


def _zipped(
    source: str | None, target: str | None, problems: Problems
) -> Iterator[tuple[str, str]]:
    if source is None or target is None:
        raise typer.BadParameter(
            t("give SOURCE and TARGET, or neither and a TSV on standard input")
        )

    from regard.data.spec import locate
    from regard.data.text_lines import read_lines

    left, right = (
        read_lines(name if name == "-" else locate(name), problems) for name in (source, target)
    )
    for number, (sentence, translation) in enumerate(zip_longest(left, right), 1):
        if sentence is None or translation is None:
            shorter, longer = (source, target) if sentence is None else (target, source)
            raise NotParallel(
                t(
                    "{shorter} has no line {number}, but {longer} has one",
                    shorter=shorter,
                    number=f"{number:,}",
                    longer=longer,
                )
            )
        yield sentence, translation


def _from_stdin(problems: Problems) -> Iterator[tuple[str, str]]:
    from regard.data.text_lines import read_lines

    if sys.stdin.isatty():
        print(t("type 'source TAB target' lines; Ctrl-D ends"), file=sys.stderr)
    yield from _cut(read_lines("-", problems))


def _cut(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(lines, 1):
        cells = line.split("\t")
        if len(cells) != 2 and line.strip():
            raise NotParallel(
                t.plural(
                    len(cells),
                    "line {number} has {n} column: write source TAB target",
                    "line {number} has {n} columns: write source TAB target",
                    number=f"{number:,}",
                )
            )
        yield cells[0], cells[-1] if len(cells) > 1 else ""
