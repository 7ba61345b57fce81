"""`regard predict`: one answer a line, whatever the run does, and nothing lost by a line that is wrong."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from test_tag_task import recipe_of

from regard.export.run_export import export
from regard.export.unsupported import CannotExport
from regard.models.tagger_options import TransformerTagger
from regard.recipe.mistakes import MissingKind
from regard.runs.loaded_run import load
from regard.training.run import train

COMMAND = [sys.executable, "-m", "regard", "predict"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("predict")
    train(recipe_of(folder, "transformer-tagger"), folder / "run", quiet=True)
    return folder


@pytest.fixture
def predict(folder):
    def ask(*words: str, given: str = "") -> subprocess.CompletedProcess[str]:
        command = [*COMMAND, "-m", str(folder / "run"), "--device", "cpu", *words]
        return subprocess.run(command, input=given, capture_output=True, text=True, timeout=600)

    return ask


def test_lines_objects_and_lists_are_answered_in_their_order(predict):
    given = 'the cat\n{"words": ["a", "dog", "ran"]}\n["the", "cat", "sat"]\n\n a  dog \n'
    done = predict(given=given)
    assert done.stdout.split("\n") == [
        "DET NOUN",
        "DET NOUN VERB",
        "DET NOUN VERB",
        "",  # a line without words has no answer, but it has a line
        "DET NOUN",
        "",
    ]
    assert done.returncode == 0


def test_a_wrong_line_is_told_and_the_others_are_answered(predict):
    given = 'the cat\n{"text": "a dog"}\nthe dog\n["a", 3]\n{"text": 1}\na cat\n'
    done = predict(given=given)
    assert done.stdout == "DET NOUN\n\nDET NOUN\n\n\nDET NOUN\n"
    assert done.returncode == 2
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert [error.split()[1:3] for error in errors] == [["line", n] for n in ("2", "4:", "5")]
    assert errors[0] == "error: line 2 has no 'words'; it has text"
    assert done.stderr.count("hint: the inputs are words") == 1
    told = [json.loads(line) for line in predict("--json", given=given).stdout.splitlines()]
    assert told[1] == {"error": "line 2 has no 'words'; it has text"}
    assert [one.get("answer") is None for one in told] == [False, True, False, True, True, False]


def test_arguments_are_answered_beside_a_wrong_one(predict):
    done = predict("the cat", '{"text": "a dog"}', "the dog")
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == [
        "DET NOUN",
        "",
        "DET NOUN",
    ]
    assert "error: argument 2 has no 'words'" in done.stderr
    assert done.returncode == 2


def test_json_has_input_answer_score_and_attention(predict):
    done = predict("the cat sat", "--json")
    (answer,) = map(json.loads, done.stdout.splitlines())
    assert list(answer) == ["input", "answer", "score", "attention", "rows", "columns"]
    assert answer["input"] == ["the", "cat", "sat"]
    assert answer["answer"] == ["DET", "NOUN", "VERB"]
    assert [len(row) for row in answer["attention"]] == [3, 3, 3]
    assert answer["rows"] == answer["answer"]
    assert answer["columns"] == ["the", "cat", "sat"]


def test_a_corpus_may_hold_what_is_answered_or_not(predict, folder):
    both = predict("--data", f"{folder}/test.conllu#form,upos")
    words = predict("--data", f"{folder}/test.conllu#form")
    assert both.returncode == words.returncode == 0
    assert both.stdout == words.stdout
    assert len(both.stdout.splitlines()) == 10
    assert predict("the cat", "--data", "x.conllu").returncode == 2


def test_every_row_of_a_corpus_has_a_line(predict, tmp_path):
    (tmp_path / "a.txt").write_bytes(b"the cat\n\na dog\n\xff\n")
    done = predict("--data", f"{tmp_path}/a.txt")
    assert done.stdout == "DET NOUN\n\nDET NOUN\n\n"
    assert "without an answer, a blank line each" in done.stderr
    assert "1 empty line (2), 1 line not in UTF-8 (4)" in done.stderr
    assert done.returncode == 0
    as_json = predict("--data", f"{tmp_path}/a.txt", "--json").stdout.splitlines()
    assert [json.loads(line)["answer"] is None for line in as_json] == [False, True, False, True]


def test_a_file_has_a_line_for_every_line_also_for_a_wrong_one(predict, tmp_path):
    (tmp_path / "out").write_text("old\n")
    done = predict("-o", str(tmp_path / "out"), given='the cat\n{"text": "a dog"}\na dog\n')
    assert done.returncode == 2
    assert (tmp_path / "out").read_text() == "DET NOUN\n\nDET NOUN\n"
    assert not (tmp_path / "out.partial").exists()


def test_code_that_has_changed_is_no_damage(folder, monkeypatch):
    """The files are as they were written: whoever loads them mends the package, status 2."""

    def fail(self, sizes):
        raise KeyError("lost")

    monkeypatch.setattr(TransformerTagger, "build", fail)
    with pytest.raises(MissingKind, match=r"config.json: model: KeyError: 'lost'"):
        load(folder / "run", device="cpu")


def test_only_translators_can_be_exported(folder):
    with pytest.raises(CannotExport, match=r"for task.kind=tag: only translators can be") as told:
        export(folder / "run", "onnx")
    assert "regard predict" in told.value.hint
