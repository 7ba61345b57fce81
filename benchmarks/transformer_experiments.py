"""The experiments with Transformers of docs/results: the commands that make them, and their tables.

    python benchmarks/transformer_experiments.py runs --commands          # shell lines, a run each
    python benchmarks/transformer_experiments.py runs --commands parts    # of recipes, parts, norms, …
    python benchmarks/transformer_experiments.py runs --comparisons       # shell lines: what is shown?
    python benchmarks/transformer_experiments.py runs                     # the tables
    python benchmarks/transformer_experiments.py runs --pictures docs/results

The lines of --commands do not depend on each other, but for the first one of `regions`, which writes the
text of the others. REGARD_DATA names the folder with multi30k and imdb. Time and memory of the regions are
measured by regions_cuda.py; docs/scripts/translation_picture.py draws what a trained model attends to.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from experiment_parts.transformer_runs import commands, comparisons
from experiment_parts.transformer_tables import pictures, tables


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="the folder of the runs")
    parser.add_argument("--commands", nargs="*", metavar="EXPERIMENT", help="print shell lines")
    parser.add_argument("--comparisons", action="store_true", help="print shell lines")
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="write the chart there")
    asked = parser.parse_args()
    if asked.commands is not None:
        for experiment, line in commands(asked.folder):
            if not asked.commands or experiment in asked.commands:
                print(line)
    elif asked.comparisons:
        print("\n".join(comparisons(asked.folder)))
    elif asked.pictures:
        pictures(asked.folder, asked.pictures)
    else:
        print("\n".join(tables(asked.folder)))


if __name__ == "__main__":
    main()
