"""Whatever happens to a file of a run: the model is the same, or it is told. Never another one in silence."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from toy import toy_recipe, write_corpus

from regard.data.checksums import Damaged
from regard.recipe.mistakes import MissingKind
from regard.runs.failures import NoCheckpoints, NotARun, OtherRecipe
from regard.runs.loaded_run import EMBEDDED, load
from regard.runs.model_file import save_model
from regard.runs.run_folder import RunFolder
from regard.training.run import train

TOLD = (Damaged, NotARun, OtherRecipe)  # each has a hint
TEXTS = ["aa bb cc", "hh gg", "dd"]
TRAINING = {"epochs": 2, "checkpoint_every": 10, "average": True, "keep": 2, "validate_every": 10}


def truncate(path: Path, other: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path: Path, other: Path) -> None:
    path.write_bytes(b"")


def flip_a_bit(path: Path, other: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) * 2 // 3] ^= 2
    path.write_bytes(bytes(content))


def replace(path: Path, other: Path) -> None:
    shutil.copy(other, path)


def delete(path: Path, other: Path) -> None:
    path.unlink()


def make_a_folder(path: Path, other: Path) -> None:
    path.unlink()
    path.mkdir()


Damage = Callable[[Path, Path], None]
DAMAGES: tuple[Damage, ...] = (truncate, empty, flip_a_bit, replace, delete, make_a_folder)
OF_THE_MODEL = [
    "config.json",
    "model.safetensors",
    "tokenizer.source.json",
    "tokenizer.target.json",
]
OF_THE_RUN: list[tuple[str, Damage]] = [
    ("config.json", truncate),
    ("model.safetensors", flip_a_bit),
    ("tokenizer.source.json", flip_a_bit),
    ("tokenizer.source.json", truncate),
    ("tokenizer.target.json", delete),
    ("recipe.yaml", truncate),
    ("recipe.yaml", delete),
    ("recipe.yaml", replace),
    ("metrics.csv", flip_a_bit),
    ("scores.json", flip_a_bit),
    ("report.html", truncate),
    ("checkpoints/step-00000030.safetensors", replace),
    ("checkpoints/best-00000020.safetensors", flip_a_bit),
    ("checkpoints/best-00000020.safetensors", replace),
    ("checkpoints/best-00000020.safetensors", delete),
    ("data/train/store.json", empty),
    ("data/train/source.ids", flip_a_bit),
]


@pytest.fixture(scope="module", autouse=True)
def _one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("damaged")
    write_corpus(folder)
    return folder


@pytest.fixture(scope="module")
def whole(corpus) -> Path:
    return train(toy_recipe(corpus, training=TRAINING), corpus / "whole", quiet=True)


@pytest.fixture(scope="module")
def other(corpus) -> Path:
    """Files of the same names and shapes that are not this run's."""
    (corpus / "others").mkdir()
    write_corpus(corpus / "others", backwards=False)
    words = (corpus / "others" / "train.tsv").read_text().replace("aa", "xx")
    (corpus / "others" / "train.tsv").write_text(words)
    recipe = toy_recipe(corpus / "others", training=TRAINING, seed=2)
    return train(recipe, corpus / "other", quiet=True)


@pytest.fixture
def copy(whole, tmp_path) -> Path:
    """A copy that may be spoiled."""
    return Path(shutil.copytree(whole, tmp_path / "run"))


@pytest.fixture(scope="module")
def expected(whole) -> list[tuple[str, float]]:
    return answers(whole)


def refusal(action: Callable[[], object]) -> str:
    """What is said, with a hint, if it is not done."""
    try:
        action()
    except TOLD as told:
        return f"{told}" if told.hint else ""
    return ""


def answers(run: Path) -> list[tuple[str, float]]:
    return [(p.text, p.log_prob) for p in load(run, device="cpu").translate(TEXTS)]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("name", OF_THE_MODEL)
def test_a_damaged_model_answers_nothing(whole, other, copy, name: str, damage: Damage):
    damage(copy / name, other / name)
    with pytest.raises(TOLD) as told:
        load(copy)
    assert name in str(told.value) or "no model yet" in str(told.value)
    assert told.value.hint


@pytest.mark.parametrize("place", [1, 37, 50, 99])
@pytest.mark.parametrize("name", OF_THE_MODEL)
def test_no_bit_of_a_model_changes_in_silence(expected, copy, name, place):
    path = copy / name
    content = bytearray(path.read_bytes())
    content[len(content) * place // 100] ^= 1
    path.write_bytes(bytes(content))
    told = refusal(lambda: answers(copy))
    assert name in told if told else answers(copy) == expected  # of a blank in JSON


@pytest.mark.parametrize(
    ("name", "damage"), OF_THE_RUN, ids=[f"{d.__name__} {n}" for n, d in OF_THE_RUN]
)
def test_training_ends_with_the_same_model_or_says_why_not(
    corpus, expected, other, copy, capsys, name: str, damage: Damage
):
    damage(copy / name, other / name)
    told = refusal(lambda: train(toy_recipe(corpus, training=TRAINING), copy))
    if told:
        assert str(copy) in told or "a tokenizer is not the one" in told
    else:
        assert answers(copy) == expected or f"warning: {copy / name}" in capsys.readouterr().err


def test_the_average_goes_without_a_best_checkpoint_that_is_damaged(corpus, copy, capsys):
    recipe, (best, second) = toy_recipe(corpus, training=TRAINING), sorted(copy.glob("*/best-*"))
    model, whole = copy / "model.safetensors", (copy / "model.safetensors").read_bytes()
    flip_a_bit(best, best)
    train(recipe, copy)  # a model that was made of it before is not made worse
    assert f"warning: {best} is damaged" in (said := capsys.readouterr().err)
    assert "stays as it is" in said
    assert model.read_bytes() == whole
    model.unlink()
    train(recipe, copy)
    assert "is damaged" in (said := capsys.readouterr().err)
    assert f"{best}" in said
    assert "the model is the average of the 1 left" in said
    second.unlink()
    model.unlink()
    train(recipe, copy)
    said = capsys.readouterr().err
    assert f"{second} is gone; the last weights are the model instead" in said
    assert load(copy).translate(TEXTS)


def test_a_run_without_checkpoints_is_used_but_does_not_go_on(corpus, copy, capsys):
    shutil.rmtree(copy / "checkpoints")
    train(toy_recipe(corpus, training=TRAINING), copy)
    assert "evaluated already" in capsys.readouterr().err
    further = toy_recipe(corpus, training=TRAINING | {"epochs": 3})
    with pytest.raises(NoCheckpoints, match=r"cannot go on to training\.epochs=3") as told:
        train(further, copy)
    assert "--run" in told.value.hint
    assert RunFolder(copy).read_recipe().training.epochs == 2  # nothing was touched
    (copy / "model.safetensors").unlink()  # as the hint says
    train(further, copy, quiet=True)
    assert max((copy / "checkpoints").glob("step-*")).name == "step-00000045.safetensors"


def test_a_stopped_run_without_checkpoints_is_not_taken_for_a_whole_one(corpus, copy):
    shutil.rmtree(copy / "checkpoints")
    run = load(copy)
    save_model(run.folder, run.task, run.module.model_state(), stopped=True)
    with pytest.raises(NoCheckpoints, match="cannot go on to its end"):
        train(toy_recipe(corpus, training=TRAINING), copy, quiet=True)


def test_what_has_no_checksum_is_taken_as_it_is(copy, expected):
    config = json.loads((copy / "config.json").read_text())
    del config["sha256"], config["stopped"]
    (copy / "config.json").write_text(json.dumps(config))
    assert answers(copy) == expected


def test_the_embedded_model_has_checksums(tmp_path):
    copy = Path(shutil.copytree(EMBEDDED, tmp_path / "zh-en"))
    load(copy, device="cpu")
    flip_a_bit(copy / "model.safetensors", copy)
    with pytest.raises(Damaged, match=r"model\.safetensors"):
        load(copy)


UNSEALED = {
    "sizes of text": {"sizes": {"source": "many", "target": "more"}},
    "sizes of nothing": {"sizes": {"source": None, "target": None}},
    "sizes beyond all memory": {"sizes": {"source": 10**18, "target": 10**30}},
    "sizes below 0": {"sizes": {"source": -1, "target": 0.5}},
    "no sizes": {"sizes": {}},
    "sizes in a list": {"sizes": [1, 2]},
    "no recipe": {"recipe": {}},
    "a recipe in a list": {"recipe": []},
    "a recipe of nothing": {"recipe": {"model": None, "task": 3}},
    "a score that is none": {
        "recipe": {"model": {"kind": "rnnsearch", "attention": {"score": "dot("}}}
    },
    "a format in a list": {"format": [2]},
}


@pytest.mark.parametrize("changes", UNSEALED.values(), ids=UNSEALED)
def test_what_has_no_seal_is_told_in_one_line_that_names_the_file(copy, changes):
    config = json.loads((copy / "config.json").read_text())
    del config["sha256"]
    (copy / "config.json").write_text(json.dumps(config | changes))
    with pytest.raises((Damaged, MissingKind)) as told:
        load(copy, device="cpu")
    assert str(copy / "config.json") in str(told.value)
    assert "\n" not in str(told.value)
    assert told.value.hint


@pytest.mark.parametrize("text", ["{}", "[]", "3", '{"model": 3}', '{"version": []}', "null"])
def test_a_tokenizer_without_a_seal_too(copy, text):
    config = json.loads((copy / "config.json").read_text())
    del config["sha256"]
    (copy / "config.json").write_text(json.dumps(config))
    path = next(copy.glob("tokenizer*.json"))
    path.write_text(text)
    with pytest.raises(Damaged) as told:
        load(copy, device="cpu")
    assert str(path) in str(told.value)
    assert "\n" not in str(told.value)
