"""The experiments with word vectors: the commands that make them, and their tables.

    python benchmarks/embed_experiments.py runs --commands            # shell lines, a run each
    python benchmarks/embed_experiments.py runs --commands tatoeba    # embedded sentences: no download
    python benchmarks/embed_experiments.py runs --comparisons         # shell lines: what is shown?
    python benchmarks/embed_experiments.py runs                       # the tables

Are words told better where those around them count by what and where they are (Ling et al. 2015), and is it
the wide window that gains? REGARD_DATA names the folder with imdb, word-similarity and ud-english-ewt.
"""

from __future__ import annotations

from experiment_parts.command_line import answer
from experiment_parts.embed_runs import commands, comparisons
from experiment_parts.embed_tables import tables

if __name__ == "__main__":
    answer(__doc__, commands, comparisons, tables)
