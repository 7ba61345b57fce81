"""The experiments with summaries: the commands that make them, and their tables.

    python benchmarks/summary_experiments.py runs --commands            # shell lines, a run each
    python benchmarks/summary_experiments.py runs --commands captions   # generated captions: no download
    python benchmarks/summary_experiments.py runs --comparisons         # shell lines: what is shown?
    python benchmarks/summary_experiments.py runs                       # the tables

Does perplexity fall from a window of words alone over a bag of words and convolutions to attention, as in
Rush et al. 2015? What do extractive features, copying and coverage add? REGARD_DATA names the folder with
debian-synopsis; the first line of `debian` writes debian-summaries beside it, and the others need that.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from experiment_parts.summary_runs import commands, comparisons
from experiment_parts.summary_tables import tables


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
