"""The experiments with joint models: the commands that make them, and their tables.

    python benchmarks/joint_experiments.py runs --commands            # shell lines, a run each
    python benchmarks/joint_experiments.py runs --commands tatoeba    # embedded pairs: no download
    python benchmarks/joint_experiments.py runs --comparisons         # shell lines: what is shown?
    python benchmarks/joint_experiments.py runs                       # the tables

Does perplexity fall from a window of source words (NNJM) over a CNN to tagCNN and inCNN, as the gains of
Meng et al. 2015 would have it? REGARD_DATA names the folder with multi30k.
"""

from __future__ import annotations

from experiment_parts.command_line import answer
from experiment_parts.joint_runs import commands, comparisons
from experiment_parts.joint_tables import tables

if __name__ == "__main__":
    answer(__doc__, commands, comparisons, tables)
