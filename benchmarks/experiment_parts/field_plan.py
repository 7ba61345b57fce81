"""What is trained of the other systems when a GPU is there for minutes: the most valuable first.

    python -m experiment_parts.field_plan RUNS visits quatrains     # lines of side_by_side.py; all parts

The lines are those of the scripts of experiments, with a limit in minutes; of a part the first seed first.
What makes a corpus (python -m …) stands before all of them and has no limit: `--corpora` prints it alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from experiment_parts import (
    document_runs,
    embed_runs,
    joint_runs,
    runs,
    summary_runs,
    telling_runs,
    visit_runs,
)


class Part(NamedTuple):
    commands: Callable[[Path], Iterable[tuple[str, str]]]
    experiments: tuple[str, ...]
    minutes: float  # of each of its trainings, at most


PARTS = {
    "visits": Part(visit_runs.commands, ("nyc",), 3.5),
    "quatrains": Part(telling_runs.commands, ("quatrains",), 3.0),
    "documents": Part(document_runs.commands, ("ddtp",), 7.0),
    "joint": Part(joint_runs.commands, ("multi30k",), 4.0),
    "summaries": Part(summary_runs.commands, ("debian",), 6.0),
    "luong": Part(runs.commands, ("luong",), 6.6),
    "one-to-many": Part(telling_runs.commands, ("emoji", "digits"), 2.5),
    "embed": Part(embed_runs.commands, ("imdb",), 4.0),
}


def lines(folder: Path, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """(the part, a line) of what is asked for"""
    for name in names:
        for experiment, line in PARTS[name].commands(folder):
            if experiment in PARTS[name].experiments:
                yield name, line


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="the folder of the runs")
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--corpora", action="store_true")
    asked = parser.parse_args()
    if unknown := [name for name in asked.parts if name not in PARTS]:
        parser.error(f"no part {', '.join(unknown)}: there are {', '.join(PARTS)}")
    for name, line in lines(asked.folder, asked.parts or PARTS):
        if line.startswith("regard train") and not asked.corpora:
            print(f"{PARTS[name].minutes}\t{line}")
        elif line.startswith("python -m") and asked.corpora:
            print(line)


if __name__ == "__main__":
    main()
