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

from experiment_parts.command_line import answer
from experiment_parts.summary_runs import commands, comparisons
from experiment_parts.summary_tables import tables

if __name__ == "__main__":
    answer(__doc__, commands, comparisons, tables)
