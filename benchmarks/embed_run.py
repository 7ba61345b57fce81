"""Put a run among the models that come with the package, in float16, and score what was written.

    python benchmarks/embed_run.py runs/couplets-tang couplets task.verses=true data.dev=tang-couplets:dev

KEY=VALUE change the recipe that is kept: where its data lie, what is measured; not what was learnt. The card,
README.md, is written by hand.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from regard.recipe.recipe_files import dump_recipe, read_recipe
from regard.report.run_evaluation import evaluate
from regard.runs.loaded_run import load
from regard.runs.model_file import load_model, save_model
from regard.runs.run_folder import RunFolder
from regard.runs.run_names import ZOO
from regard.tasks.recipe_task import task_of


def main(run: str, name: str, *words: str) -> None:
    source, target = RunFolder(Path(run)), RunFolder(ZOO / name)
    target.path.mkdir(exist_ok=True)
    model, learnt = load_model(source)
    recipe = read_recipe(str(source.recipe), list(words))
    task = task_of(recipe)
    for path in source.assets(learnt):
        (target.path / path.name).write_bytes(path.read_bytes())
    target.load_assets(task)
    target.recipe.write_text(dump_recipe(recipe), encoding="utf-8")
    save_model(target, task, model.state_dict(), dtype="float16")
    found = load(target.path, device="cpu")
    scores = {}
    for part in ("dev", "test"):
        one = evaluate(found, str(getattr(recipe.data, part)))
        scores[part] = one.to_dict()
        print(part, one.text, sep="\n")
    written = json.dumps(scores, ensure_ascii=False, indent=1) + "\n"
    (target.path / "scores.json").write_text(written, encoding="utf-8")
    print(sum(path.stat().st_size for path in target.path.iterdir()), "bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
