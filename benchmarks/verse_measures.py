"""How far verses that runs write are verses: measured beside those that were written in the Tang.

    python benchmarks/verse_measures.py runs/quatrain-every-1 runs/quatrain-first-1     # poems of titles
    python benchmarks/verse_measures.py embedded:couplets --temperature 0.7             # drawn, not searched

Of each run, and of the poems of its test set themselves:

    form       as many lines as wanted, all of five or all of seven characters; answers as long as their line
    repeated   characters that a line has twice, but for doubled ones, of all characters of the lines
    distinct   different pairs of neighbouring characters, of all pairs
    own        lines that no line of data.train equals, of all lines
    given      answers with a character of what was given, a title or the line that is answered
    parallel   answers to a line that repeat a character of it in the same place (couplets alone)

Neither tones nor rhymes are measured: pronunciation has changed, and characters do not tell it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from itertools import pairwise

from regard.measures.verse_form import VerseForm, verse_lines
from regard.runs.loaded_run import LoadedRun, load
from run_folders import head, row

Verses = Sequence[tuple[str, str, str]]  # what was given, what was wanted, what was written


def measures(verses: Verses, known: set[str]) -> dict[str, float]:
    """In per cent. known: the lines of the training part."""
    lines = [line for *_, written in verses for line in verse_lines(written)]
    pairs = [pair for line in lines for pair in pairwise(line)]
    characters = sum(map(len, lines))
    answers = [(given, written) for given, _, written in verses if len(verse_lines(written)) == 1]
    found = {
        "form": sum(VerseForm().score(wanted, written) for _, wanted, written in verses)
        / len(verses),
        "repeated": sum(map(_repeated, lines)) / max(characters, 1),
        "distinct": len(set(pairs)) / max(len(pairs), 1),
        "own": sum(line not in known for line in lines) / max(len(lines), 1),
        "given": sum(bool(set(given) & set(written)) for given, _, written in verses) / len(verses),
    }
    if len(answers) == len(verses):
        alike = (any(a == b for a, b in zip(*each, strict=False)) for each in answers)
        found["parallel"] = sum(alike) / len(answers)
    return {name: 100 * value for name, value in found.items()}


def _repeated(line: str) -> int:
    """Characters that stood in the line before, but not right before."""
    return sum(c in line[: at - 1] for at, c in enumerate(line) if at > 1)


def written_by(run: LoadedRun, temperature: float | None, most: int) -> tuple[Verses, Verses]:
    """What a run writes to its test set, and what stands there."""
    source, target = run.task.inputs[0], run.task.wanted
    examples = run.task.examples(run.recipe.data.test)[:most]
    how = {} if temperature is None else {"method": "sample", "temperature": temperature, "seed": 1}
    found = run.generate([{source: one[source]} for one in examples], **how)
    given = [(one[source], target(one)) for one in examples]
    ours = [(*pair, one.text) for pair, one in zip(given, found, strict=True)]
    return ours, [(title, wanted, wanted) for title, wanted in given]


def learnt_lines(run: LoadedRun) -> set[str]:
    """Those of the training part, both of a couplet."""
    known = set[str]()
    for one in run.task.read(run.recipe.data.train):
        for text in (one[run.task.inputs[0]], run.task.wanted(one)):
            known.update(verse_lines(text))
    return known


def table(names: Sequence[str], temperature: float | None, most: int) -> Iterator[str]:
    last: tuple[str, dict[str, float]] | None = None
    for number, name in enumerate(names):
        run = load(name, device="cpu")
        known = learnt_lines(run)
        ours, theirs = (measures(each, known) for each in written_by(run, temperature, most))
        if not number:
            yield from head("%", *ours)
        yield row(name, *(f"{value:.1f}" for value in ours.values()))
        last = str(run.recipe.data.test), theirs
    if last is not None:
        yield row(f"poems of {last[0]}", *(f"{value:.1f}" for value in last[1].values()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="+")
    parser.add_argument(
        "--temperature", type=float, help="draw; without it verses are searched for"
    )
    parser.add_argument("--most", type=int, default=1000, help="examples of the test set")
    asked = parser.parse_args()
    for line in table(asked.runs, asked.temperature, asked.most):
        print(line)
