"""A run comes back as it was, alone or in an ensemble; what is no run is told apart."""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path

import pytest
import torch

from regard.data.checksums import Damaged
from regard.recipe.mistakes import RecipeError
from regard.runs.failures import CannotQuantize, NotARun
from regard.runs.loaded_run import load
from regard.runs.model_file import load_model, save_model
from regard.runs.run_folder import RunFolder

TEXTS = ["aa bb cc", "", "hh gg", "dd"]


@pytest.fixture
def copy(trained, tmp_path) -> Path:
    """A copy of the run that may be spoiled."""
    return shutil.copytree(trained, tmp_path / "runs" / "toy")


def forget_checksums(run: Path) -> None:
    """As a folder of before there were any, or one that was changed on purpose."""
    config = json.loads((run / "config.json").read_text())
    del config["sha256"]
    (run / "config.json").write_text(json.dumps(config, indent=1))


def test_a_loaded_run_translates_and_scores(trained):
    run = load(trained, device="cpu")
    found = run.translate(TEXTS, nbest=2, attention=True)
    assert [p.source for p in found] == TEXTS
    assert found[1].text == ""
    assert found[0].text
    assert len(found[0].alternatives) == 1
    scored = run.score([found[0].source], [found[0].tokens])[0]
    assert scored.log_prob == pytest.approx(found[0].log_prob, abs=1e-4)
    assert run.recipe.name == "toy"


def test_the_beam_can_be_changed_after_training(trained):
    run = load(trained)
    assert len(run.translate(["aa bb"], beam=4, nbest=4)[0].alternatives) == 3
    assert len(run.translate(["aa bb"], nbest=7)[0].alternatives) <= 6  # the recipe's beam widens
    drawn = run.translate(["aa bb cc dd"] * 8, method="sample", temperature=5.0, seed=1)
    assert len({p.text for p in drawn}) > 1


def test_nothing_is_unpickled(trained, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("unpickled")

    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, refuse)
    monkeypatch.setattr(torch, "load", refuse)
    assert load(trained).translate(["aa"])


def test_float16_is_half_the_size_and_comes_back_as_float32(copy):
    folder = RunFolder(copy)
    size = folder.model.stat().st_size
    run = load(copy)
    save_model(folder, run.task, run.module.model_state(), dtype="float16")
    assert folder.model.stat().st_size < 0.6 * size
    again, _ = load_model(folder)
    for name, value in again.state_dict().items():
        assert value.dtype == torch.float32
        torch.testing.assert_close(value, run.module.model_state()[name], rtol=1e-3, atol=1e-3)


def test_an_ensemble_of_a_run_with_itself_is_the_run(trained):
    one, both = load(trained, device="cpu"), load([trained, trained], device="cpu")
    for single, together in zip(one.translate(TEXTS), both.translate(TEXTS), strict=True):
        assert single.text == together.text
        assert single.log_prob == pytest.approx(together.log_prob, abs=1e-4)


def test_an_ensemble_shares_its_tokenizers(trained, copy):
    forget_checksums(copy)
    path = copy / "tokenizer.target.json"
    path.write_text(path.read_text().replace('"aa"', '"zz"').replace('"▁aa"', '"▁zz"'))
    with pytest.raises(RecipeError, match=r"cut text differently \(target tokenizer"):
        load([trained, copy])


def test_a_name_that_is_nearly_right_gets_the_right_one(copy, monkeypatch):
    monkeypatch.chdir(copy.parent.parent)
    with pytest.raises(NotARun, match=r"no folder runs/tox.*Did you mean runs/toy\?"):
        load("runs/tox")
    with pytest.raises(NotARun, match=r"no model.safetensors in runs.*runs/toy"):
        load("runs")
    with pytest.raises(NotARun, match=r"no folder elsewhere.*There are runs/toy"):
        load("elsewhere")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("model.safetensors", "no model yet"),
        ("config.json", "no config.json"),
        ("tokenizer.source.json", "tokenizer.source.json"),
    ],
)
def test_a_missing_file_is_named(copy, name, says):
    forget_checksums(copy)
    (copy / name).unlink()
    with pytest.raises((FileNotFoundError, Damaged), match=says):
        load(copy)


def test_files_that_do_not_belong_together_are_noticed(copy):
    forget_checksums(copy)
    other = (copy / "config.json").read_text().replace('"hidden": 16', '"hidden": 17')
    (copy / "config.json").write_text(other)
    with pytest.raises(ValueError, match=r"does not fit .*config.json: decoder.* is \(.*wanted is"):
        load(copy)


def test_a_damaged_model_is_told(copy):
    path = copy / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ValueError, match="is damaged"):
        load(copy)


def test_one_string_is_not_a_list_of_texts(trained):
    with pytest.raises(ValueError, match="give a list"):
        load(trained).translate("aa bb")


def test_a_run_says_what_it_is(trained):
    assert repr(load(trained)) == f"<LoadedRun {trained}: recurrent, translate>"


@pytest.mark.parametrize("method", ["translate", "score"])
def test_a_search_setting_that_is_nearly_right_gets_the_right_one(trained, method):
    texts = [["aa"]] if method == "translate" else [["aa"], ["bb"]]
    with pytest.raises(TypeError, match=r"'lenght_penalty'\. Did you mean 'length_penalty'\?"):
        getattr(load(trained), method)(*texts, lenght_penalty=0.6)


def test_matrices_of_8_bits_answer_nearly_the_same_and_score_what_they_say():
    sources = ["我是一个学生。", "他们都是大学生。", "我很难过。", "今天天气很好。"]
    whole, rounded = load(device="cpu"), load(quantize="int8")
    ours, theirs = (run.translate(sources, beam=2, max_length=20) for run in (whole, rounded))
    assert [a.score for a in ours] != [b.score for b in theirs]
    assert max(abs(a.score - b.score) for a, b in zip(ours, theirs, strict=True)) < 0.2
    alone = [rounded.translate([text], beam=2, max_length=20)[0] for text in sources]
    assert [one.tokens.ids for one in alone] == [one.tokens.ids for one in theirs]
    scored = rounded.score(sources, [one.tokens for one in theirs])
    assert [one.score for one in scored] == pytest.approx([one.score for one in theirs], abs=1e-3)


@pytest.mark.parametrize(
    ("asked", "said"),
    [({"quantize": "int4"}, "not 'int4'"), ({"quantize": "int8", "device": "meta"}, "meta")],
)
def test_other_bits_and_other_devices_are_refused(trained, asked, said):
    with pytest.raises((CannotQuantize, ValueError), match=said):
        load(trained, **asked)
