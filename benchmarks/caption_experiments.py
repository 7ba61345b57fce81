"""The experiments with captions of docs/results.md: the commands that make them, and their tables.

    python benchmarks/caption_experiments.py runs --commands           # shell lines, a run each
    python benchmarks/caption_experiments.py runs --commands scenes    # or said, names, questions, small
    python benchmarks/caption_experiments.py runs --comparisons        # shell lines: what is shown?
    python benchmarks/caption_experiments.py runs                      # the tables

The lines of --commands do not depend on each other, but for those of `questions`, which ask the run of the
line before. REGARD_DATA names the folder with mnist. Every recipe stops by its training.minutes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from experiment_parts.caption_runs import commands, comparisons
from experiment_parts.caption_tables import tables


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
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


if __name__ == "__main__":
    main()
