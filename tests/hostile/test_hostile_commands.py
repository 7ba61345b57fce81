"""Wrong commands by the hundred: no traceback, status 2, one sentence that helps."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

import pytest
import toy_runs
import wrong_commands
from forked_commands import Done, Forked, assert_told
from toy_tasks import task_recipe, write_labelled
from trials import seed
from wrong_commands import Places, Wrong

from regard.recipe.recipe_files import dump_recipe

PART = "wrong commands"
SECONDS = 10  # a wrong command does not think for longer


@pytest.fixture(scope="module")
def places(tmp_path_factory, forked: Forked) -> Places:
    folder = tmp_path_factory.mktemp("commands")
    recipe = toy_runs.write_recipe(folder, epochs=None, steps=1)
    run = str(toy_runs.trained(forked, recipe, folder / "run"))
    (folder / "source.txt").write_text("aa bb\ncc\n")
    tasks = {}
    labelled = folder / "tasks"
    labelled.mkdir()
    write_labelled(labelled)
    for kind in ("classify", "lines", "masked"):
        path = labelled / f"{kind}.yaml"
        path.write_text(dump_recipe(task_recipe(labelled, kind, training={"epochs": 1})))
        tasks[kind] = str(toy_runs.trained(forked, path, labelled / kind))
    wrong_commands.make_bad_files(folder, random.Random(seed()))
    pair = [str(folder / "source.txt")] * 2
    bases = {
        "demo": ["demo"],
        "train": ["train", str(recipe), "--run", str(folder / "new"), "-q"],
        "evaluate": ["evaluate", "-m", run],
        "translate": ["translate", "-m", run, "aa bb"],
        "look": ["look", "-m", run, "aa bb", "--terminal"],
        "classify": ["classify", "-m", tasks["classify"], "the film"],
        "generate": ["generate", "-m", tasks["lines"], "the", "--length", "3"],
        "fill": ["fill", "-m", tasks["masked"], "the <mask>"],
        "score": ["score", "-m", run, *pair],
        "align": ["align", "-m", run, *pair],
        "export": ["export", "-m", run, "--to", "ctranslate2", "-o", str(folder / "export")],
        "serve": ["serve", "-m", run, "--port", "0"],
        "recipes": ["recipes"],
        "schema": ["schema"],
        "tour": ["tour"],
        "data check": ["data", "check", *pair],
    }
    return Places(folder, bases)


def test_the_commands_work_before_anything_is_wrong(places: Places, forked: Forked):
    """Or the trial would try nothing: what is refused must be refused for the one thing wrong in it."""
    endless = ("demo", "serve")
    refused = ("export",)  # a recurrent model is not for CTranslate2, and that is told
    for name, base in places.bases.items():
        if name not in endless + refused:
            done = forked.run(*base, folder=places.folder)
            assert done.status == 0, f"{base}: {done}"


def flat_recipe(folder: Path) -> dict[str, Any]:
    """{"model.hidden": 16, …}"""

    def flat(value: Any, key: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            return {key: value}
        parts = (flat(v, f"{key}.{k}".strip(".")) for k, v in value.items())
        return {k: v for part in parts for k, v in part.items()}

    recipe = toy_runs.toy_recipe(folder, trainer=toy_runs.TRAINER)
    return flat(recipe.model_dump(mode="json"), "")


KINDS = {
    "options": wrong_commands.wrong_options,
    "files": wrong_commands.wrong_files,
    "recipes": wrong_commands.wrong_recipes,
    "words": lambda places: wrong_commands.wrong_words(places, flat_recipe(places.folder)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_command_is_two_lines_and_status_2(trials, places: Places, forked: Forked, kind):
    wrongs = list(KINDS[kind](places))
    with trials(PART, kind) as trial:
        for case in trial.cases(len(wrongs)):
            with case:
                wrong = wrongs[case.number]
                case.said = str(wrong)
                assert_told(ended(forked, places, wrong))


def test_streams_that_are_closed_or_full_are_told(trials, places: Places, forked: Forked):
    """A full disk is no misuse: any status but 0."""
    wrongs = list(wrong_commands.wrong_streams(places))
    with trials(PART, "streams") as trial:
        for case in trial.cases(len(wrongs)):
            with case:
                wrong = wrongs[case.number]
                case.said = str(wrong)
                assert_told(ended(forked, places, wrong), None)


def ended(forked: Forked, places: Places, wrong: Wrong) -> Done:
    # what was wrongly taken would be refused the next time, as the run of another recipe
    shutil.rmtree(places.folder / "new", ignore_errors=True)
    return forked.run(
        *wrong.arguments,
        stdin=wrong.stdin,
        streams=wrong.streams,
        folder=places.folder,
        seconds=SECONDS,
    )
