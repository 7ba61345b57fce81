"""The experiments with documents: the commands that make them, and their tables.

    python benchmarks/document_experiments.py runs --commands            # shell lines, a run each
    python benchmarks/document_experiments.py runs --commands tatoeba    # embedded sentences: no download
    python benchmarks/document_experiments.py runs --comparisons         # shell lines: what is shown?
    python benchmarks/document_experiments.py runs                       # the tables; runs are asked once

BLEU by length of documents that are translated as a whole, with and without a hierarchy of words and
sentences in the encoder, beside their translation sentence by sentence. REGARD_DATA names the folder with
debian-ddtp; the first line of `ddtp` writes ddtp-fr beside it, and the others need that.
"""

from __future__ import annotations

from experiment_parts.command_line import answer
from experiment_parts.document_runs import commands, comparisons
from experiment_parts.document_tables import tables

if __name__ == "__main__":
    answer(__doc__, commands, comparisons, tables)
