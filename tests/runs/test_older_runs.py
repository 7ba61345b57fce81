"""Run folders that earlier versions wrote are loaded as they are: format_1/ holds some."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from regard.data.checksums import Damaged
from regard.runs.loaded_run import LoadedRun, load
from regard.runs.run_folder import RunFolder
from regard.runs.tensor_tree import write_tree
from regard.training.checkpoints import Checkpoints

HERE = Path(__file__).parent / "format_1"
ANSWERS = json.loads((HERE / "answers.json").read_text())

ASKED = {
    "translate": lambda run: [(p.text, p.score) for p in run.translate(["aa bb cc", "hh"])],
    "classify": lambda run: [
        (c.label, c.probability) for c in run.classify(["it was a lovely story", "dull"])
    ],
    "language": lambda run: [(p.text, p.log_prob) for p in run.generate(["the f"], length=10)],
    "masked": lambda run: [
        (f.filled, f.guesses[0][0].probability) for f in run.fill(["the <mask> was"])
    ],
}
ASKED["shared"] = ASKED["translate"]


def check(run: LoadedRun, kind: str) -> None:
    for (text, number), (wanted, expected) in zip(ASKED[kind](run), ANSWERS[kind], strict=True):
        assert text == wanted
        assert number == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize("kind", ANSWERS)
def test_an_older_run_answers_as_it_did(kind):
    run = load(HERE / kind, device="cpu")
    check(run, kind)
    assert run.recipe.task.kind == {"shared": "translate"}.get(kind, kind)


@pytest.mark.parametrize("kind", ["translate", "classify"])
def test_a_missing_checksum_is_no_error(kind, tmp_path):
    copy = Path(shutil.copytree(HERE / kind, tmp_path / kind))
    config = json.loads((copy / "config.json").read_text())
    del config["sha256"]
    (copy / "config.json").write_text(json.dumps(config))
    check(load(copy, device="cpu"), kind)


def test_the_four_outputs_that_were_no_labels_are_left_out():
    run = load(HERE / "classify", device="cpu")
    assert run.task.sizes["label"] == len(run.module.labels) == 2
    assert run.model.decoder.output.out_features == 2
    assert set(run.classify(["dull"])[0].probabilities) == {"good", "bad"}


def test_a_training_of_another_version_is_not_gone_on_with(trained, tmp_path):
    from toy import toy_recipe

    from regard.runs.failures import OtherRecipe
    from regard.training.run import train

    copy = Path(shutil.copytree(trained, tmp_path / "run"))
    checkpoints = Checkpoints(RunFolder(copy).checkpoints)
    tree, _ = checkpoints.latest()
    tree["task"] = tree.pop("module")
    del tree["format"]
    for path in checkpoints.folder.glob("step-*"):
        write_tree(path, tree)
    recipe = toy_recipe(trained.parent, training={"epochs": 5})
    with pytest.raises(OtherRecipe, match="another version of regard"):
        train(recipe, copy, quiet=True)


@pytest.mark.parametrize(
    "damage", ["{}", "[]", "null", '{"model": {"vocab": []}}', "{", "[" * 5000]
)
def test_labels_that_are_damaged_are_told(damage, tmp_path):
    copy = Path(shutil.copytree(HERE / "classify", tmp_path / "run"))
    config = json.loads((copy / "config.json").read_text())
    del config["sha256"]
    (copy / "config.json").write_text(json.dumps(config))
    (copy / "tokenizer.target.json").write_text(damage)
    with pytest.raises(Damaged, match=r"tokenizer\.target\.json"):
        load(copy)
    (copy / "tokenizer.target.json").unlink()
    with pytest.raises(Damaged, match="is missing"):
        load(copy)
