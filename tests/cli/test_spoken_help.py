"""Help and messages come out in the reader's language, whole."""

from __future__ import annotations

import re

import pytest
from made_up_language import english_in, in_other_letters

from regard.cli.app import COMMANDS

NAMES = {command.__name__ for command in COMMANDS} | {"regard", "data", "check"}
EXAMPLE = in_other_letters("Example:")


def words_of(shown: str) -> set[str]:
    """What is read, without commands, options and defaults."""
    shown = re.sub(
        rf"{EXAMPLE}.*?\n\n|{in_other_letters('Try:')}.*?\n\n", "", shown, flags=re.DOTALL
    )
    shown = re.sub(r"\[.*?\]", "", shown, flags=re.DOTALL)
    return english_in(shown) - NAMES


def test_the_list_of_commands_is_spoken(run, made_up_language):
    done = run("--help")
    assert done.status == 0
    assert in_other_letters("Train a model, score it and write its report.") in done.out
    assert in_other_letters("Commands") in done.out
    assert words_of(done.out) == set()


@pytest.mark.parametrize("command", [*([c.__name__] for c in COMMANDS), ["data", "check"]])
def test_the_help_of_a_command_is_spoken(run, made_up_language, command):
    done = run(*command, "--help")
    assert done.status == 0
    assert EXAMPLE in done.out
    assert words_of(done.out) == set()


def test_what_typer_adds_is_spoken(run, made_up_language):
    shown = " ".join(run("serve", "--help").out.split())
    assert f"[{in_other_letters('default: ')}64; 1<=x<=1024]" in shown
    assert f"[{in_other_letters('env var: ')}REGARD_TOKEN]" in shown
    assert f"[{in_other_letters('required')}]" in run("train", "--help").out


def test_a_mistake_is_told_in_the_same_language(run, made_up_language):
    done = run("look", "--html", "page.svg", "text")
    assert done.status == 2
    said = in_other_letters("{option} writes a file that ends in {suffix}, not {path}")
    said = said.format(option="--html", suffix=".html", path="page.svg")
    assert said in done.err
    assert done.err.startswith(in_other_letters("error: "))
    assert in_other_letters("hint: ") in done.err


def test_what_programs_read_is_not_translated(run, made_up_language, tmp_path):
    (tmp_path / "pairs.tsv").write_text("a\tb\n")
    shown = run("data", "check", str(tmp_path / "pairs.tsv"), "--json").out
    assert '"pairs": 1' in shown
    assert english_in(run("data", "check", str(tmp_path / "pairs.tsv")).out) == set()
