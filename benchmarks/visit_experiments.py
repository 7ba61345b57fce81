"""The experiments with next places: the commands that make them, and their tables.

    python benchmarks/visit_experiments.py runs --commands            # shell lines, a run each
    python benchmarks/visit_experiments.py runs --commands walks      # generated walks: no download
    python benchmarks/visit_experiments.py runs --comparisons         # shell lines: what is shown?
    python benchmarks/visit_experiments.py runs                       # the tables

Is ST-RNN ahead of a Markov chain and of a recurrent network at recall@10, and do its matrices of time and of
distance each add to that, as in Liu et al. 2016? REGARD_DATA names the folder with checkins-nyc.
"""

from __future__ import annotations

from experiment_parts.command_line import answer
from experiment_parts.visit_runs import commands, comparisons
from experiment_parts.visit_tables import tables

if __name__ == "__main__":
    answer(__doc__, commands, comparisons, tables)
