"""The experiments with captions of docs/results: the commands that make them, and their tables.

    python benchmarks/caption_experiments.py runs --commands           # shell lines, a run each
    python benchmarks/caption_experiments.py runs --commands scenes    # or said, names, questions, small
    python benchmarks/caption_experiments.py runs --comparisons        # shell lines: what is shown?
    python benchmarks/caption_experiments.py runs                      # the tables

The lines of --commands do not depend on each other, but for those of `questions`, which ask the run of the
line before. REGARD_DATA names the folder with mnist. Every recipe stops by its training.minutes.
"""

from __future__ import annotations

from experiment_parts.caption_runs import commands, comparisons
from experiment_parts.caption_tables import tables
from experiment_parts.command_line import answer

if __name__ == "__main__":
    answer(__doc__, commands, comparisons, tables)
