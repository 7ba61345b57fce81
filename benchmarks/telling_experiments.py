"""The experiments with one-to-many, answering lines, films and sets of events: commands, and their tables.

    python benchmarks/telling_experiments.py runs --commands              # shell lines, a run each
    python benchmarks/telling_experiments.py runs --commands films        # generated: no download
    python benchmarks/telling_experiments.py runs --comparisons           # shell lines: what is shown?
    python benchmarks/telling_experiments.py runs                         # the tables

Where should a vector enter, and does a step that knows its number keep the form of a poem? Is an answer to a
line better where each character looks at it? Can a model that knows no order tell which way a film goes, and
does one that knows order lose anything where it means nothing? Of the verses themselves
benchmarks/verse_measures.py tells more. All corpora but couplets-tang (REGARD_DATA) come with the package.
"""

from __future__ import annotations

from experiment_parts.command_line import answer
from experiment_parts.telling_runs import commands, comparisons
from experiment_parts.telling_tables import tables

if __name__ == "__main__":
    answer(__doc__, commands, comparisons, tables)
