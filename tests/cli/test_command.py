"""The command is quick to ask, plain about mistakes, and quiet when it is stopped."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from processes import COMMAND, in_a_process

import regard
from regard import cli
from regard.recipe.mistakes import RecipeError
from regard.runs.failures import Interrupted, NotARun

COMMANDS = [
    "demo",
    "train",
    "compare",
    "evaluate",
    "report",
    "predict",
    "translate",
    "look",
    "explain",
    "classify",
    "generate",
]
COMMANDS += ["fill", "score", "align", "export", "serve", "recipes", "schema", "tour", "data"]


def test_asking_for_help_waits_for_nothing_heavy():
    heavy = ("torch", "numpy", "numba", "pydantic", "yaml", "rich", "lightning", "sacrebleu")
    code = (
        "import sys; from regard.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        f"print([m for m in {heavy} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "demo" in done.stdout
    assert done.stdout.rstrip().endswith("[]")


def test_load_is_found_when_it_is_asked_for():
    from regard.runs.loaded_run import load

    assert regard.load is load
    assert "load" in dir(regard)


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], []])
def test_help_lists_the_commands(run, arguments):
    done = run(*arguments)
    assert done.status == 0
    assert "Usage: regard" in done.out
    listed = done.out.partition("Commands:")[2]
    assert [line.split()[0] for line in listed.splitlines() if line] == COMMANDS
    assert "..." not in listed  # every summary fits its line


@pytest.mark.parametrize("command", [*([c] for c in COMMANDS if c != "data"), ["data", "check"]])
def test_every_command_has_help_with_an_example_that_fits(run, command):
    done = run(*command, "--help")
    assert done.status == 0
    assert f"Usage: regard {' '.join(command)}" in done.out
    assert f"Example: regard {' '.join(command)}" in done.out
    assert max(map(len, done.out.splitlines())) <= 80
    assert not re.search(r"<(str|int|list|path)", done.out)  # no word of Python


def test_version(run):
    assert run("--version").out == f"regard {regard.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "said", "hint"),
    [
        (["trian"], "Did you mean 'train'?", "regard --help"),
        (["--versoin"], "--version", "regard --help"),
        (["data", "chek"], "Did you mean 'check'?", "regard data --help"),
        (["tour", "--colour"], "no such option: --colour", "regard tour --help"),
        (["tour", "extra"], "extra", "regard tour --help"),
        (["train"], "missing argument 'RECIPE'", "regard train --help"),
        (["train", "zn-en"], "Did you mean 'zh-en'?", "regard recipes"),
        (["train", "zh-en", "model.hiden=3"], "Did you mean 'model.hidden'?", "regard schema"),
        (["train", "zh-en", "--device", "gpux"], "trainer.accelerator is 'gpux'", "regard schema"),
        (["data", "check", "no.zh", "no.en"], "no file 'no.zh'", "REGARD_DATA"),
        (["score", "only-one-file"], "give SOURCE and TARGET", "regard score --help"),
        (["align", "--gold", "g"], "--gold needs --base 0 or --base 1", "regard align --help"),
    ],
)
def test_a_mistake_is_two_lines_and_status_2(run, reverser, arguments, said, hint):
    done = run(*arguments)
    assert (done.status, done.out) == (2, "")
    error, advice = done.err.splitlines()
    assert error.startswith("error: ")
    assert said in error
    assert advice.startswith("hint: ")
    assert hint in advice


def failing(error: BaseException):
    def app(*_, **__):
        raise error

    return app


@pytest.mark.parametrize(
    ("error", "status", "said", "hint"),
    [
        (ValueError("The mask must\n  be bool"), 1, "the mask must be bool", "REGARD_DEBUG=1"),
        (ValueError("BLEU needs text"), 1, "BLEU needs text", "REGARD_DEBUG=1"),
        (KeyError("x"), 1, "'x'", "REGARD_DEBUG=1"),
        (ZeroDivisionError(), 1, "ZeroDivisionError", "REGARD_DEBUG=1"),
        (RecipeError("no recipe 'x'", "regard recipes"), 2, "no recipe 'x'", "regard recipes"),
        (FileNotFoundError(2, "No such file or directory", "a b"), 2, "no such file", "folder"),
        (NotARun("runs/x is no run"), 2, "runs/x is no run", "regard train"),
        (Interrupted("stopped at step 7", 15), 143, "stopped at step 7", "run the same command"),
    ],
)
def test_a_failure_is_two_lines_and_a_status(run, monkeypatch, error, status, said, hint):
    monkeypatch.setattr(cli, "app", failing(error))
    done = run("demo")
    assert (done.status, done.out) == (status, "")
    first, second = done.err.splitlines()
    assert first.startswith(f"error: {said}")
    assert second.startswith("hint: ")
    assert hint in second


def test_debugging_shows_the_traceback(monkeypatch):
    monkeypatch.setattr(cli, "app", failing(ValueError("the mask must be bool")))
    with pytest.raises(ValueError, match="the mask must be bool"):
        cli.main(["tour", "--debug"])
    with pytest.raises(SystemExit):
        cli.main(["translate", "--", "--debug"])  # a text, not an option
    monkeypatch.setenv("REGARD_DEBUG", "1")
    with pytest.raises(ValueError, match="the mask must be bool"):
        cli.main(["tour"])


def test_an_interruption_is_quiet(run, monkeypatch):
    monkeypatch.setattr("regard.view.tour.tour", failing(KeyboardInterrupt()))
    done = run("tour")
    assert done.status == 130
    assert done.err == ""


def test_a_reader_may_stop_early():
    pipe = subprocess.Popen(
        [*COMMAND, "tour"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert pipe.stdout is not None
    assert pipe.stderr is not None
    pipe.stdout.readline()
    pipe.stdout.close()
    assert pipe.stderr.read() == ""
    pipe.stderr.close()
    pipe.wait()


def test_a_pipe_gets_utf8_whatever_the_machine_speaks():
    done = in_a_process("tour", PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "学生" in done.stdout


def test_arguments_are_utf8_whatever_the_machine_speaks():
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = in_a_process("train", "没有", **ascii_only)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: no recipe '没有'")
