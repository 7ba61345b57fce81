"""Readers compared: the commands that train them, and the tables of what they reached.

    python benchmarks/reading/experiments.py runs --commands          # shell lines, each a run
    python benchmarks/reading/experiments.py runs --commands stories  # of facts, two-facts, stories, spans
    python benchmarks/reading/experiments.py runs --commands spans --seeds 1
    python benchmarks/reading/experiments.py runs                     # the tables, from the folders there are

REGARD_DATA names the folder with babi/en-10k, reading/ and what the first lines of `stories` and `spans`
write. The other lines do not depend on each other. A table has the mean over the seeds, and how far apart
they are.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import mean

READER = "model.kind=reader model.cell=gru"
SYSTEMS = {  # as the recipes have them, for other data too
    "question-vector": f"{READER} model.question=vector model.focus=last",
    "question-self": f"{READER} model.question=self model.focus=last",
    "question-attention": f"{READER} model.question=general model.focus=last",
    "deep-lstm": "model.kind=deep-lstm-reader",
    "uniform": f"{READER} model.focus=uniform",
    "attentive": f"{READER} model.focus=attentive",
    "impatient": f"{READER} model.focus=impatient",
}
OF_HERMANN = ("deep-lstm", "uniform", "attentive", "impatient")
LENGTHS = (10, 20, 40, 80)  # sentences of a generated story
SPANS = {
    "question-vector": "model.question=vector",
    "question-self": "model.question=self",
    "static": "model.question=general",
    "dynamic": "model.question=general model.dynamic=true",
    "impatient": "model.question=general model.focus=impatient",
}
EXPERIMENTS = ("facts", "two-facts", "stories", "spans")


def lines(experiment: str) -> Iterator[tuple[str, str]]:
    """The name of each run, without its seed, and what is trained."""
    if experiment == "facts":
        for system in SYSTEMS:
            yield f"facts {system}", f"reader-{system}"
            yield f"facts-markers {system}", f"reader-{system} task.markers=10 training.epochs=24"
    elif experiment == "two-facts":
        for system, model in SYSTEMS.items():
            yield f"two-facts {system}", f"reader-two-facts {model} model.hidden=128 model.layers=2"
    elif experiment == "stories":
        for sentences in LENGTHS:
            data = " ".join(
                f"data.{part}=stories-{sentences}/{part}.jsonl" for part in ("train", "dev", "test")
            )
            for system in OF_HERMANN:
                model = f"{SYSTEMS[system]} data.max_length=1000 {data}"
                yield f"stories-{sentences} {system}", f"reader-stories {model}"
                yield (
                    f"stories-{sentences}-names {system}",
                    f"reader-stories {model} task.markers=0",
                )
    elif experiment == "spans":
        for recipe in ("cmrc", "xquad"):
            for system, model in SPANS.items():
                yield f"{recipe} {system}", f"reader-{recipe} {model}"


def commands(experiment: str, folder: Path, seeds: int) -> Iterator[str]:
    here = "benchmarks/reading"
    if experiment == "stories":
        for sentences in LENGTHS:
            yield f"python {here}/stories.py $REGARD_DATA/stories-{sentences} --sentences {sentences}"
    if experiment == "spans":
        yield f"python {here}/split_squad.py reading/xquad.en.json $REGARD_DATA/reading/xquad-en"
    for name, words in lines(experiment):
        for seed in range(1, seeds + 1):
            run = folder / f"{name.replace(' ', '-')}-{seed}"
            yield f"regard train {words} --run {run} seed={seed}"


def table(experiment: str, folder: Path) -> Iterator[str]:
    """A row for each system, a column for each corpus and measure, on the test sets."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for name, _ in lines(experiment):
        corpus, system = name.split()
        for path in sorted(folder.glob(f"{name.replace(' ', '-')}-[0-9]*/scores.json")):
            test = json.loads(path.read_text(encoding="utf-8"))["test"]
            for measure in ("accuracy", "f1", "exact_match"):
                if measure in test:
                    found[system][f"{corpus} {measure}"].append(100 * test[measure])
    columns = list(dict.fromkeys(column for row in found.values() for column in row))
    if columns:
        yield f"| {experiment} | {' | '.join(columns)} |"
        yield f"| --- |{' ---: |' * len(columns)}"
        for system, row in found.items():
            cells = (_cell(row[column]) if column in row else "" for column in columns)
            yield f"| {system} | {' | '.join(cells)} |"


def _cell(values: list[float]) -> str:
    apart = f" ± {(max(values) - min(values)) / 2:.1f}" if len(values) > 1 else ""
    return f"{mean(values):.1f}{apart} ({len(values)})"


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("folder", type=Path, help="where the runs are")
    asked.add_argument("--commands", nargs="?", const="all", choices=["all", *EXPERIMENTS])
    asked.add_argument("--seeds", type=int, default=3, help="runs of each")
    given = asked.parse_args()
    chosen = EXPERIMENTS if given.commands in (None, "all") else [given.commands]
    for experiment in chosen:
        if given.commands is not None:
            print("\n".join(commands(experiment, given.folder, given.seeds)))
        elif rows := list(table(experiment, given.folder)):
            print("\n".join(rows), end="\n\n")


if __name__ == "__main__":
    main()
