"""Whether a summary is as long as it was asked for: each source of a test set, asked for every length.

    regard train abs-debian 'task.lengths=[5,8]' --run runs/abs-lengths
    python benchmarks/summary_lengths.py runs/abs-lengths

A row is what was asked for: mean words of the answers, and the share of them within the bounds.
"""

from __future__ import annotations

import argparse
from bisect import bisect_left

from regard.measures.rouge import rouge_words
from regard.runs.loaded_run import load
from regard.tasks.summarise.told_lengths import NAMES
from run_folders import head, row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run")
    parser.add_argument("--beam", type=int)
    given = parser.parse_args()
    run = load(given.run, device="cpu")
    recipe = run.task.recipe
    bounds = recipe.task.lengths  # type: ignore[attr-defined]
    texts = [one["source"].split(" ", 1)[1] for one in run.task.examples(recipe.data.test)]
    asked = {"beam": given.beam} if given.beam else {}
    print("\n".join(head("asked for", "words", "within the bounds, %")))
    for number, name in enumerate(NAMES[len(bounds)]):
        answers = run.translate([f"{name} {text}" for text in texts], **asked)
        words = [len(rouge_words(one.text, recipe.data.target)) for one in answers]
        within = [bisect_left(bounds, count) == number for count in words]
        share = 100 * sum(within) / len(within)
        print(row(name, f"{sum(words) / len(words):.1f}", f"{share:.1f}"), flush=True)


if __name__ == "__main__":
    main()
