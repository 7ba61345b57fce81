"""Ten-fold cross-validation of a classifier, as results on MR, Subj, CR and MPQA are published.

    REGARD_DATA=… python benchmarks/cross_validation.py cnn-subj
    REGARD_DATA=… python benchmarks/cross_validation.py cnn-subj --folds 10 --only 1 2 model.dropout=0.4

All texts of the recipe's corpus are dealt into folds by a hash of the text, so that equal texts share one. In
turn each fold is the test set, the next one the dev set by which the checkpoint is chosen, and the others are
learnt from. Printed are the accuracy on every fold, their mean and their standard deviation.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
from pathlib import Path
from statistics import mean, stdev

from regard.recipe.recipe_files import read_recipe
from regard.tasks.recipe_task import task_of
from regard.training.run import train


def dealt(recipe_name: str, folds: int) -> list[list[str]]:
    """The lines `text TAB label` of each fold."""
    task = task_of(read_recipe(recipe_name))
    spec = task.recipe.data.train
    assert isinstance(spec, str)
    text, label = task.fields.values()
    parts: list[list[str]] = [[] for _ in range(folds)]
    for example in task.read(spec.removesuffix("@train")):
        value = example[text.name]
        digest = hashlib.md5(text.identity(value).encode(), usedforsecurity=False).hexdigest()
        line = f"{text.show(value)}\t{example[label.name]}\n"
        parts[int(digest, 16) % folds].append(line)
    return parts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recipe")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--only", type=int, nargs="+", help="the folds to test on, counted from 1")
    asked, changes = parser.parse_known_args()  # what else there is are words key=value of a recipe
    parts = dealt(asked.recipe, asked.folds)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for fold in (n - 1 for n in asked.only or range(1, asked.folds + 1)):
            dev = (fold + 1) % asked.folds
            sets = {
                "test": parts[fold],
                "dev": parts[dev],
                "train": [
                    line for n, part in enumerate(parts) if n not in (fold, dev) for line in part
                ],
            }
            for name, lines in sets.items():
                Path(folder, f"{name}.tsv").write_text("".join(lines), "utf-8")
            data = [f"data.{name}={folder}/{name}.tsv#0,1" for name in sets]
            recipe = read_recipe(asked.recipe, [*changes, *data])
            run = train(recipe, Path(folder, f"fold-{fold}"), quiet=True)
            scores = json.loads((run / "scores.json").read_text())
            found.append(100 * scores["test"]["accuracy"])
            print(
                f"fold {fold + 1}: dev {100 * scores['dev']['accuracy']:.2f}, test {found[-1]:.2f}",
                flush=True,
            )
    spread = f" ± {stdev(found):.2f}" if len(found) > 1 else ""
    print(f"{asked.recipe}: {mean(found):.2f}{spread} % of {len(found)} folds")


if __name__ == "__main__":
    main()
