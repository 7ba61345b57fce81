"""Whatever is asked wrongly: no traceback, status 2, one sentence about it and one that helps."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
import typer
from processes import COMMAND, in_a_process

from regard.cli.app import app
from regard.cli.error_lines import complain
from regard.cli.misuse_words import spoken_misuse
from regard.words import speaking

# what each command needs to be well-formed, beside the option that is not
WELL_FORMED = {
    "demo": [],
    "train": ["zh-en"],
    "compare": ["tag", "--vary", "model.cell=gru,lstm"],
    "evaluate": [],
    "report": ["runs/x"],
    "predict": ["x"],
    "translate": ["x", "--sample"],
    "look": ["x"],
    "explain": [],
    "classify": ["-m", "runs/x", "x"],
    "generate": ["-m", "runs/x", "x", "--sample"],
    "fill": ["-m", "runs/x", "x"],
    "score": ["a", "b"],
    "align": ["a", "b"],
    "export": ["--to", "onnx"],
    "serve": [],
    "recipes": [],
    "schema": [],
    "tour": [],
    "data check": ["a", "b"],
}
NO_NUMBERS = ["x", "-1", "nan", "inf", "true", "1e400", f"{10**30}", f"-{10**30}"]


def commands() -> dict[str, typer.core.TyperCommand]:
    found = dict(typer.main.get_command(app).commands)
    data = found.pop("data")
    return found | {f"data {name}": command for name, command in data.commands.items()}


def valued_options() -> Iterator[tuple[str, str, bool]]:
    """(command, option, whether its value is a number)"""
    for name, command in commands().items():
        types = get_type_hints(command.callback)
        for option in command.params:
            if isinstance(option, typer.core.TyperOption) and not option.is_flag:
                number = bool({int, float} & {types[option.name], *get_args(types[option.name])})
                yield name, max(option.opts, key=len), number


OPTIONS = list(valued_options())


def assert_refused(done) -> str:
    assert (done.status, done.out) == (2, ""), done.err
    assert "Traceback" not in done.err
    *notes, error, hint = done.err.splitlines()
    assert all(line.startswith(("note: ", "warning: ")) for line in notes)
    assert error.startswith("error: ")
    assert len(error.split()) > 3
    assert hint.startswith("hint: ")
    assert "REGARD_DEBUG" not in hint  # which helps us, not those who asked
    return error


def test_every_command_is_here():
    assert set(commands()) == set(WELL_FORMED)
    assert len(OPTIONS) > 50
    assert {number for *_, number in OPTIONS} == {True, False}


@pytest.mark.parametrize("command", WELL_FORMED)
def test_an_unknown_option_is_refused(run, command):
    error = assert_refused(run(*command.split(), *WELL_FORMED[command], "--colourful"))
    assert "--colourful" in error


@pytest.mark.parametrize(("command", "option", "number"), OPTIONS)
def test_a_value_that_is_empty_or_missing_is_refused(run, command, option, number):
    words = [*command.split(), *WELL_FORMED[command]]
    assert option in assert_refused(run(*words, option, ""))
    assert option in assert_refused(run(*words, option))


@pytest.mark.parametrize(("command", "option"), [(c, o) for c, o, number in OPTIONS if number])
def test_what_is_no_sensible_number_is_refused(run, reverser, command, option):
    for value in NO_NUMBERS:
        error = assert_refused(run(*command.split(), *WELL_FORMED[command], option, value))
        assert option in error, value


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    """A folder with what is no text and no run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("REGARD_DATA", raising=False)
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty").touch()
    (tmp_path / "utf16").write_text("a\tb\n", encoding="utf-16")
    (tmp_path / "utf16-unmarked").write_text("a\tb\n", encoding="utf-16-le")
    (tmp_path / "binary").write_bytes(random.Random(0).randbytes(3000))
    (tmp_path / "cut.gz").write_bytes(b"\x1f\x8b\x08\x00cut")
    (tmp_path / "text").write_text("a b c\n")
    for name in ("empty", "binary", "utf16", "text"):
        (tmp_path / f"{name}.json").write_bytes((tmp_path / name).read_bytes())
        (tmp_path / f"{name}.yaml").write_bytes((tmp_path / name).read_bytes())
    return tmp_path


@pytest.mark.parametrize("name", ["missing", "folder", "utf16", "utf16-unmarked", "cut.gz"])
@pytest.mark.parametrize(
    "words",
    [
        "data check NAME",
        "score NAME NAME",
        "align NAME NAME",
        "align a.zh a.en --gold NAME --base 0",
    ],
)
def test_a_file_that_is_no_text_is_refused(run, reverser, here, words, name):
    for pair in ("a.zh", "a.en"):
        (here / pair).write_text("a\n")
    error = assert_refused(run(*words.replace("NAME", name).split()))
    assert name in error


@pytest.mark.parametrize("name", ["empty", "binary"])
def test_a_file_that_holds_no_gold_links_is_refused(run, reverser, here, name):
    for pair in ("a.zh", "a.en"):
        (here / pair).write_text("a\n")
    assert_refused(run("align", "a.zh", "a.en", "--gold", name, "--base", "0"))


@pytest.mark.parametrize("name", ["missing", "folder", "empty", "binary", "utf16"])
def test_a_corpus_that_cannot_be_learnt_from_is_refused_by_train(run, here, name):
    words = ["train", "rnnsearch", f"data.train={name}", "training.steps=1", "trainer.devices=1"]
    error = assert_refused(run(*words, "trainer.accelerator=cpu", "--run", "run", "-q"))
    assert name in error
    assert not (here / "run" / "model.safetensors").exists()


@pytest.mark.parametrize(
    "name", ["missing.yaml", "folder", "binary.yaml", "utf16.yaml", "text.yaml", ""]
)
def test_a_recipe_that_is_none_is_refused(run, here, name):
    assert_refused(run("train", name))


def test_what_has_no_end_or_no_place_is_refused(run, here, monkeypatch):
    """A device as a recipe, names longer than any, a home that nobody has, YAML deeper than can be read."""
    (here / "deep.yaml").write_text("name: " + "[" * 5000 + "]" * 5000)
    long = "x" * 5000
    for recipe in ("/dev/zero", "deep.yaml", f"./{long}.yaml"):
        assert len(assert_refused(run("train", recipe))) < 600
    monkeypatch.setenv("REGARD_DATA", "~nobody-of-this-name/data")
    assert_refused(run("data", "check", "no-such-corpus"))
    assert len(assert_refused(run("data", "check", long))) < 600
    assert len(assert_refused(run("translate", "-m", long, "a"))) < 600


@pytest.mark.parametrize("name", ["missing.json", "empty.json", "binary.json", "text.json"])
def test_a_record_that_is_none_is_refused(run, here, name):
    assert_refused(run("look", name, "--terminal"))


@pytest.mark.parametrize("name", ["missing", "folder", "text"])
@pytest.mark.parametrize(
    "words",
    [
        "translate x -m NAME",
        "evaluate -m NAME",
        "classify x -m NAME",
        "generate x -m NAME",
        "fill x -m NAME",
        "score text text -m NAME",
        "align text text -m NAME",
        "look x --terminal -m NAME",
        "export --to onnx -m NAME",
        "translate x --engine onnx -m NAME",
    ],
)
def test_a_folder_that_is_no_run_is_refused(run, here, words, name):
    assert name in assert_refused(run(*words.replace("NAME", name).split()))


@pytest.mark.parametrize("output", ["folder", "missing/out", "text/out"])
@pytest.mark.parametrize(
    "words", ["translate x -o", "score text text -o", "translate x --attention"]
)
def test_a_place_that_cannot_be_written_is_refused(run, reverser, here, words, output):
    assert_refused(run(*words.split(), output))


def test_an_empty_corpus_is_called_empty(run, here):
    for name in ("empty", "/dev/null"):
        done = run("data", "check", name)
        assert done.status == 1
        assert "the corpus is empty" in done.out


def test_what_may_not_be_read_is_told(capsys):
    assert complain(PermissionError(13, "Permission denied", "secret")) == 2
    error, hint = capsys.readouterr().err.splitlines()
    assert error == "error: permission denied: 'secret'"
    assert "who may read" in hint


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16_on_standard_input_is_named(run, reverser, encoding):
    error = assert_refused(run("translate", stdin="hello there\n".encode(encoding)))
    assert "standard input is UTF-16" in error


@pytest.mark.parametrize("text", ["a\n", "学生\n", "\x00", "a\x00", "\x00\x00\x00\x00"])
def test_other_text_is_not_taken_for_utf16(run, reverser, text):
    assert run("translate", stdin=text.encode()).status == 0


def test_lines_that_are_not_utf8_are_told_by_score(run, reverser, here):
    (here / "a.zh").write_bytes(b"one\n\xff\n")
    (here / "a.en").write_bytes(b"one\ntwo\n")
    done = run("score", "a.zh", "a.en")
    assert done.status == 0
    assert len(done.out.splitlines()) == 2
    assert done.err == "warning: a.zh: 1 line not in UTF-8 (2), read with U+FFFD in them\n"


def closed(redirection: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {redirection}', "sh", *COMMAND, *words],
        capture_output=True,
        text=True,
        timeout=600,
    )


@pytest.mark.parametrize(
    ("redirection", "words", "name"),
    [
        ("<&-", ["data", "check", "-"], "standard input"),
        (">&-", ["recipes"], "standard output"),
    ],
)
def test_a_closed_stream_is_named(redirection, words, name):
    done = closed(redirection, *words)
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == f"error: {name} is closed"
    assert done.stdout == ""


def test_closed_streams_that_are_not_needed_do_no_harm():
    done = closed("<&- 2>&-", "recipes")
    assert (done.returncode, done.stderr) == (0, "")
    assert "zh-en" in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_an_output_that_is_full_is_told():
    done = closed("> /dev/full", "recipes")
    assert done.returncode == 1
    error, hint = done.stderr.splitlines()
    assert error.startswith("error: no space left on device")
    assert "free some space" in hint


def test_a_reader_that_stops_early_is_no_failure_to_tell():
    done = closed("| true", "schema")
    assert done.stderr == ""


def test_more_threads_than_there_can_be_are_refused_before_they_are_made():
    done = in_a_process("train", "zh-en", "trainer.threads=100000", "--run", "nowhere")
    assert done.returncode == 2
    assert "trainer.threads is 100000: it must be 1000 or less" in done.stderr


OF_TYPER = "Invalid value for '--method': Value error, 'ibm3' is not one of 'attention', 'ibm1'."


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "Invalid value for '--method': 'ibm3' is not one of 'attention', 'ibm1'."),
        ("zh", "'--method' 的值无效：'ibm3' 不是 'attention', 'ibm1' 之一。"),
    ],
)
def test_what_is_no_choice_is_said_without_the_name_of_an_error(language, said):
    with speaking(language):
        assert spoken_misuse(OF_TYPER) == said
