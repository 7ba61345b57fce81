"""What a script of experiments is asked for: commands of trainings, of comparisons, or tables."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path

Lines = Callable[[Path], Iterable[str]]


def answer(
    about: str | None,
    commands: Callable[[Path], Iterable[tuple[str, str]]],
    comparisons: Lines,
    tables: Lines,
) -> None:
    """commands: of each experiment and run; about: what --help prints."""
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="the folder of the runs")
    parser.add_argument("--commands", nargs="*", metavar="EXPERIMENT", help="print shell lines")
    parser.add_argument("--comparisons", action="store_true", help="print shell lines")
    asked = parser.parse_args()
    if asked.commands is not None:
        for experiment, line in commands(asked.folder):
            if not asked.commands or experiment in asked.commands:
                print(line)
    elif asked.comparisons:
        print("\n".join(comparisons(asked.folder)))
    else:
        print("\n".join(tables(asked.folder)))
