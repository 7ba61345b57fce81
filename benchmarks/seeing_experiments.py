"""The experiments with models that look at pictures: the commands that make them, and their tables.

    python benchmarks/seeing_experiments.py runs --commands             # shell lines, a run each
    python benchmarks/seeing_experiments.py runs --commands glimpses    # of glimpses, wake-sleep, warps, sums
    python benchmarks/seeing_experiments.py runs --probe                # what the tables tell of weights
    python benchmarks/seeing_experiments.py runs                        # the tables

The lines of --commands do not depend on each other; those of the first seed come first. REGARD_DATA names the
folder with mnist. A run ends after at most six and a half minutes of training. The probe measures how much
the policy's gradient varies by each loss, and whether a warp undoes the angle of a digit, for the tables.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from experiment_parts.seeing_probes import measure
from experiment_parts.seeing_runs import commands, probed
from experiment_parts.seeing_tables import tables


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="the folder of the runs")
    parser.add_argument("--commands", nargs="*", metavar="EXPERIMENT", help="print shell lines")
    parser.add_argument("--probe", nargs="*", metavar="RUN", help="measure runs that are done")
    asked = parser.parse_args()
    if asked.probe is not None:
        done = (each.parent.name for each in sorted(asked.folder.glob("*/scores.json")))
        for name in asked.probe or filter(probed, done):
            measure(asked.folder / name)
        return
    if asked.commands is None:
        print("\n".join(tables(asked.folder)))
        return
    for experiment, line in commands(asked.folder):
        if not asked.commands or experiment in asked.commands:
            print(line)


if __name__ == "__main__":
    main()
