"""Every command says of a damaged run what is damaged and what to do; none answers with it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from regard.runs.loaded_run import EMBEDDED

DAMAGES = {
    "config.json": [b"", b"{", b"[]", b"{}", b'{"format": 1}', b"\xff\xfe", b'{"format": [1]}'],
    "model.safetensors": [b"", b"\0" * 100, b"\xff" * 100],
    "tokenizer.source.json": [b"", b"{}", b"\xff"],
}
COMMANDS = [
    "translate x",
    "evaluate --data pairs.tsv",
    "score one one",
    "align one one",
    "look x --terminal",
    "export --to onnx -o exported",
    "translate x --engine ctranslate2",
    "serve --port 0",
]


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pairs.tsv").write_text("我是学生。\tI am a student.\n\t\n学\n他来了。\tHe came.\n")
    (tmp_path / "one").write_text("x\n")
    return tmp_path


@pytest.fixture
def broken(here) -> Path:
    return Path(shutil.copytree(EMBEDDED, here / "broken"))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_damaged_run_is_told_by_every_command(run, broken, command):
    (broken / "model.safetensors").write_bytes(b"\0" * 100)
    assert_told(run(*command.split(), "-m", "broken"), "model.safetensors")


@pytest.mark.parametrize(("name", "content"), [(n, c) for n, cs in DAMAGES.items() for c in cs])
def test_whatever_is_in_a_file_instead_it_is_told(run, broken, name, content):
    (broken / name).write_bytes(content)
    assert_told(run("translate", "x", "-m", "broken"), name)


def assert_told(done, name: str) -> None:
    assert (done.status, done.out) == (1, ""), done.err
    error, hint = done.err.splitlines()
    assert error.startswith("error: ")
    assert name in error
    assert hint.startswith("hint: ")
    assert "REGARD_DEBUG" not in hint


def test_evaluate_tells_which_lines_it_left_out_and_why(run, here):
    done = run("evaluate", "--data", "pairs.tsv", "--beam", "1")
    assert done.status == 0
    assert "2 pairs of pairs.tsv" in done.out
    left_out = "1 empty line (2), 1 line without a column 1 (3)"
    assert done.err == f"left out: pairs.tsv: {left_out}\n"


def test_evaluate_says_why_nothing_is_left(run, here):
    (here / "pairs.tsv").write_text("one\n")
    done = run("evaluate", "--data", "pairs.tsv")
    assert done.status == 2
    assert "no usable pair in pairs.tsv: pairs.tsv: 1 line without a column 1 (1)" in done.err
