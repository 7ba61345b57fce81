"""The tables of summaries, from the folders of the runs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import mean

from experiment_parts.summary_runs import CELLS, CORPORA, ORDER, SEEDS
from regard.measures.rouge import Rouge1, Rouge2, RougeL
from run_folders import each_of, head, interval_of, mean_of, row, test_of

ROUGE = tuple(one.name for one in (Rouge1, Rouge2, RougeL))


def tables(folder: Path) -> Iterator[str]:
    """Markdown, one corpus after the other."""
    for corpus in CORPORA:
        yield from (f"## {corpus}", "", *_table(folder, corpus), "", *_ordering(folder, corpus), "")


def _table(folder: Path, corpus: str) -> Iterator[str]:
    yield from head(
        "",
        "paper: ppl",
        "ROUGE-1 / 2 / L",
        "ours: ppl",
        "ROUGE-1",
        "ROUGE-2",
        "ROUGE-L",
        "each seed",
    )
    for name, cell in CELLS.items():
        tests = _tests(folder, corpus, name)
        rouge = [[100 * test[kind] for test in tests] for kind in ROUGE]
        own = "" if cell.recipe == "abs" else " ¹"  # words that others have as <unk> are told
        yield row(
            cell.name,
            cell.perplexity,
            cell.rouge,
            mean_of([test["perplexity"] for test in tests], 2) + own,
            *(interval_of(values) for values in rouge),
            each_of(rouge[0]),
        )
    yield from (
        "",
        "¹ Of more words: what the vocabulary lacks and the source has counts as that word.",
    )


def _ordering(folder: Path, corpus: str) -> Iterator[str]:
    """Whether each encoder has a lower perplexity than the one before it, with every seed."""
    found = {name: [test["perplexity"] for test in _tests(folder, corpus, name)] for name in ORDER}
    if not all(len(values) == len(SEEDS) for values in found.values()):
        yield "The order is told when all seeds are there."
        return
    for worse, better in pairwise(ORDER):
        holds = sum(a > b for a, b in zip(found[worse], found[better], strict=True))
        ratio = mean(found[worse]) / mean(found[better])
        yield f"- {worse} > {better}: with {holds} of {len(SEEDS)} seeds, {ratio:.2f} times the perplexity"


def _tests(folder: Path, corpus: str, name: str) -> list[dict[str, float]]:
    found = (test_of(folder / f"{corpus}-{name}-{seed}") for seed in SEEDS)
    return [test for test in found if test]
