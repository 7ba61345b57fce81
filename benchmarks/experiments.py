"""The experiments of docs/results: the commands that make them, and the tables made of what they wrote.

    python benchmarks/experiments.py runs --commands            # shell lines, each a run and its measures
    python benchmarks/experiments.py runs --commands luong      # of luong, length, copy, align, …
    python benchmarks/experiments.py runs                       # the tables, from the folders that are there
    python benchmarks/experiments.py runs --pictures docs/results

The lines do not depend on each other and may run side by side, except those of `ensembles`, which need the
runs of `luong`. REGARD_DATA names the folder with multi30k, tatoeba-fra-eng and word-alignment-gold.
What no command of regard measures, the lines of `copy` and `align` measure by --recall and --moved.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Sequence
from pathlib import Path

from experiment_parts.runs import commands
from experiment_parts.tables import pictures, tables
from regard.data.examples import read_pairs
from regard.data.spec import locate
from regard.data.text_lines import read_lines
from regard.measures import Links, WordPair, aer, align, read_pharaoh, spans, within
from regard.runs.loaded_run import load


def recall(folder: Path) -> None:
    """Write recall.json: by source length and position, tokens and how many of them came back.

    Greedy, free running. A token came back if it is in the longest common subsequence of the source
    and the output.
    """
    run = load(folder)
    file = "multi30k/test_2016_flickr.en", "multi30k/test_2017_flickr.en"
    texts = [p.source for p in read_pairs("+".join(f"{f},{f}" for f in file), join=2)]
    counts: dict[int, dict[str, list[int]]] = {}
    for answer in run.translate(texts, beam=1):
        source = answer.source_tokens.ids
        found = counts.setdefault(
            len(source), {key: [0] * len(source) for key in ("tokens", "recalled")}
        )
        for position, kept in enumerate(common(source, answer.tokens.ids)):
            found["tokens"][position] += 1
            found["recalled"][position] += kept
    (folder / "recall.json").write_text(json.dumps(counts))


def common(source: Sequence[int], output: Sequence[int]) -> list[bool]:
    """For each source token whether it is in the longest common subsequence."""
    best = [[0] * (len(output) + 1) for _ in range(len(source) + 1)]
    for i in reversed(range(len(source))):
        for j in reversed(range(len(output))):
            same = source[i] == output[j]
            best[i][j] = best[i + 1][j + 1] + 1 if same else max(best[i + 1][j], best[i][j + 1])
    kept, i, j = [False] * len(source), 0, 0
    while i < len(source) and j < len(output):
        if source[i] == output[j]:
            kept[i], i, j = True, i + 1, j + 1
        elif best[i + 1][j] >= best[i][j + 1]:
            i += 1
        else:
            j += 1
    return kept


def moved(folder: Path) -> None:
    """Write moved.json: the AER with every link moved by -1, 0 and 1 source words."""
    run = load(folder)
    gold = locate("word-alignment-gold/enfr.gold")
    lines = read_lines(locate("word-alignment-gold/enfr.src-tgt"))
    pairs = [re.split(r" *\|\|\| *", line, maxsplit=1) for line in lines]
    sources, targets = [s for s, _ in pairs], [t for _, t in pairs]
    words = [WordPair(s.split(), t.split()) for s, t in pairs]
    known = within(read_pharaoh(gold, first=1), words).alignments
    links = [
        align(
            one.attention if one.attention is not None else [],
            one.source_tokens.offsets,
            one.tokens.offsets,
            spans(one.source),
            spans(one.text),
        )
        for one in run.score(sources, targets, attention=True)
    ]
    rates = {by: aer(shifted(links, words, by), known).aer for by in (-1, 0, 1)}
    (folder / "moved.json").write_text(json.dumps(rates))


def shifted(links: Sequence[Links], words: Sequence[WordPair], by: int) -> list[Links]:
    """The links to the source word so many places further, kept inside the sentence."""
    return [
        frozenset((min(max(i + by, 0), len(pair.source) - 1), j) for i, j in one)
        for one, pair in zip(links, words, strict=True)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the runs are")
    parser.add_argument("--commands", nargs="*", metavar="EXPERIMENT", help="print shell lines")
    parser.add_argument("--recall", metavar="RUN", help="measure a run of `copy`")
    parser.add_argument("--moved", metavar="RUN", help="measure a run of `align`")
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="write the charts there")
    asked = parser.parse_args()
    if asked.commands is not None:
        for experiment, line in commands(asked.folder):
            if not asked.commands or experiment in asked.commands:
                print(line)
    elif asked.recall:
        recall(asked.folder / asked.recall)
    elif asked.moved:
        moved(asked.folder / asked.moved)
    elif asked.pictures:
        pictures(asked.folder, asked.pictures)
    else:
        print("\n".join(tables(asked.folder)))


if __name__ == "__main__":
    main()
