"""Does ABCNN's attention help? The commands that ask it, and the tables made of what they wrote.

    python benchmarks/pairs.py runs --commands              # shell lines, a run each, to run side by side
    python benchmarks/pairs.py runs --commands sick --seeds 5
    python benchmarks/pairs.py runs                         # the tables, from the folders that are there

REGARD_DATA names the folder with sick/ and with answer-sentences/, which is made by
`python -m regard.data.corpora.build_answer_sentences $REGARD_DATA/reading $REGARD_DATA/answer-sentences`.
A table has means and standard deviations over seeds, and the difference to BCNN of the same depth with its
95 % interval: Student's t of the differences of runs with the same seed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from math import sqrt
from pathlib import Path
from statistics import mean, stdev
from typing import NamedTuple

from run_folders import test_of

# of a two-sided 95 % interval, by degrees of freedom
STUDENT = {1: 12.71, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}


class System(NamedTuple):
    recipe: str  # before the name of the data
    words: str = ""
    beside: str = ""  # the system that its attention is added to


SYSTEMS = {
    "bag of words": System("bag-of-words"),
    "BCNN": System("bcnn"),
    "ABCNN-1": System("abcnn", "model.variant=1", "BCNN"),
    "ABCNN-2": System("abcnn", "model.variant=2", "BCNN"),
    "ABCNN-3": System("abcnn", "model.variant=3", "BCNN"),
    "BCNN, two blocks": System("bcnn", "model.blocks=2"),
    "ABCNN-1, two blocks": System("abcnn", "model.variant=1 model.blocks=2", "BCNN, two blocks"),
    "ABCNN-2, two blocks": System("abcnn", "model.variant=2 model.blocks=2", "BCNN, two blocks"),
    "ABCNN-3, two blocks": System("abcnn", "model.variant=3 model.blocks=2", "BCNN, two blocks"),
    "self-attentive": System("self-attentive"),
}


class Data(NamedTuple):
    title: str
    recipe: str  # behind the name of the system
    measures: Sequence[str]
    leave_out: Sequence[str] = ()
    words: str = ""


PLAIN = "model.rest=false model.overlap=false"
DATA = {
    "sick": Data("SICK, entailment", "sick", ("accuracy", "macro_f1")),
    "sick-plain": Data(
        "SICK, entailment, the networks alone (no NONOVER, no overlap)",
        "sick",
        ("accuracy", "macro_f1"),
        words=PLAIN,
    ),
    "relatedness": Data(
        "SICK, relatedness",
        "sick-relatedness",
        ("pearson", "spearman"),
        leave_out=("self-attentive",),
    ),
    "answer": Data(
        "Sentences that answer a question (XQuAD)",
        "answer",
        ("map", "mrr"),
        leave_out=("self-attentive",),
    ),
    "answer-plain": Data(
        "Sentences that answer a question (XQuAD), the networks alone (no overlap)",
        "answer",
        ("map", "mrr"),
        leave_out=("self-attentive",),
        words="model.overlap=false",
    ),
    "paraphrase": Data("Paraphrases, embedded", "paraphrase", ("accuracy", "macro_f1")),
}


def commands(folder: Path, seeds: int) -> Iterator[tuple[str, str]]:
    """(the data, a shell line)"""
    for seed in range(1, seeds + 1):
        for key, data in DATA.items():
            for name, system in SYSTEMS.items():
                if name not in data.leave_out:
                    yield key, _train(folder, key, data, name, system, seed)


def _train(folder: Path, key: str, data: Data, name: str, system: System, seed: int) -> str:
    words = data.words
    if system.recipe == "self-attentive":  # it has no rest to leave out
        words = words.replace("model.rest=false", "").strip()
    chosen = " ".join(part for part in (system.words, words) if part)
    parts = (
        f"regard train {system.recipe}-{data.recipe}",
        chosen,
        f"seed={seed} trainer.threads=1 search.batch=512 --run {run_of(folder, key, name, seed)}",
    )
    return " ".join(part for part in parts if part)


def run_of(folder: Path, key: str, name: str, seed: int) -> Path:
    return folder / f"{key}-{name.replace(', ', '-').replace(' ', '-').lower()}-{seed}"


def table(folder: Path, key: str, data: Data) -> Iterator[str]:
    heads = [f"{measure} | Δ to BCNN" for measure in data.measures]
    yield f"**{data.title}.**\n"
    yield f"| system | {' | '.join(heads)} | seeds |"
    yield f"| --- |{' ---: |' * (2 * len(heads) + 1)}"
    for name, system in SYSTEMS.items():
        if name in data.leave_out:
            continue
        cells, count = [], 0
        for measure in data.measures:
            found = values(folder, key, name, measure)
            beside = values(folder, key, system.beside, measure) if system.beside else {}
            both = [found[seed] - beside[seed] for seed in found if seed in beside]
            cells += [spread_of(list(found.values())), interval(both)]
            count = len(found)
        yield f"| {name} | {' | '.join(cells)} | {count} |"


def values(folder: Path, key: str, name: str, measure: str) -> dict[int, float]:
    """By seed, times 100."""
    found = {seed: test_of(run_of(folder, key, name, seed)) for seed in range(1, 100)}
    return {seed: 100 * test[measure] for seed, test in found.items() if measure in test}


def spread_of(numbers: Sequence[float]) -> str:
    if not numbers:
        return "–"
    return f"{mean(numbers):.2f}" + (f" ± {stdev(numbers):.2f}" if len(numbers) > 1 else "")


def interval(differences: Sequence[float]) -> str:
    """The mean, and half the width of its 95 % interval."""
    freedom = len(differences) - 1
    if freedom not in STUDENT:
        return ""
    half = STUDENT[freedom] * stdev(differences) / sqrt(len(differences))
    return f"{mean(differences):+.2f} ± {half:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("folder", type=Path, help="where the runs are")
    parser.add_argument("--commands", nargs="*", metavar="DATA", help=f"of {', '.join(DATA)}")
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    if given.commands is not None:
        for key, line in commands(given.folder, given.seeds):
            if not given.commands or key in given.commands:
                print(line)
        return
    for key, data in DATA.items():
        print(*table(given.folder, key, data), sep="\n", end="\n\n")


if __name__ == "__main__":
    main()
