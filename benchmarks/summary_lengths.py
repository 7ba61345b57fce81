"""Whether a summary is as long as it was asked for: each source of a test set, asked for every length.

    python benchmarks/summary_lengths.py --write lengths     # generated captions, summaries of two lengths
    regard train pointer data.train=lengths/train.tsv data.dev=lengths/dev.tsv data.test=lengths/test.tsv \\
        'task.lengths=[10]' --run runs/lengths-1
    python benchmarks/summary_lengths.py runs/lengths-1

A row is what was asked for: mean words of the answers, the share of them within the bounds, and ROUGE-1
against the reference of that length. Which of its two summaries a caption has for training is drawn.
"""

from __future__ import annotations

import argparse
import random
from bisect import bisect_left
from pathlib import Path

from regard.data.examples import read_pairs
from regard.measures.rouge import Rouge1, rouge_words
from regard.runs.loaded_run import load
from regard.tasks.summarise.told_lengths import NAMES
from run_folders import head, row

PARTS = ("train", "dev", "test")


def summaries(source: str, short: str) -> tuple[str, str]:
    """The short one, and one that begins with the first sentence of the source."""
    return short, f"{source.split('. ')[0].rstrip('.')} , and then: {short}"


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(1)
    for part in PARTS:
        lines = []
        for pair in read_pairs(f"scene-captions:{part}"):
            both = summaries(pair.source, pair.target)
            for one in both if part == "test" else [draw.choice(both)]:
                lines.append(f"{pair.source}\t{one}\n")
        (folder / f"{part}.tsv").write_text("".join(lines), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", nargs="?", help="a run that was told lengths")
    parser.add_argument("--write", type=Path, metavar="FOLDER")
    given = parser.parse_args()
    if given.write:
        write(given.write)
    if given.run is None:
        return
    run = load(given.run, device="cpu")
    recipe = run.task.recipe
    bounds = recipe.task.lengths  # type: ignore[attr-defined]
    told = list(run.task.examples(recipe.data.test))
    sources = list(dict.fromkeys(one["source"].split(" ", 1)[1] for one in told))
    wanted = {one["source"]: one["target"] for one in told}
    print("\n".join(head("asked for", "words", "within the bounds, %", "ROUGE-1")))
    for number, name in enumerate(NAMES[len(bounds)]):
        asked = [f"{name} {source}" for source in sources]
        answers = [one.text for one in run.translate(asked)]
        words = [len(rouge_words(text, recipe.data.target)) for text in answers]
        within = 100 * sum(bisect_left(bounds, n) == number for n in words) / len(words)
        known = [
            (wanted[each], text)
            for each, text in zip(asked, answers, strict=True)
            if each in wanted
        ]
        rouge = 100 * Rouge1(recipe.data.target).of(*zip(*known, strict=True)) if known else None  # type: ignore[arg-type]
        scored = "–" if rouge is None else f"{rouge:.1f}"
        print(row(name, f"{sum(words) / len(words):.1f}", f"{within:.1f}", scored), flush=True)


if __name__ == "__main__":
    main()
