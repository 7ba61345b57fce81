"""Every training that a page prints is one that its recipe takes."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from regard.recipe.recipe_files import read_recipe

ROOT = Path(__file__).parents[1]
FOREIGN = ("extending.md",)  # its recipes are those of packages that a reader writes
REFUSED = "model.kind=rnnsearch"  # printed with its error


def printed() -> Iterator[tuple[str, str]]:
    for page in sorted([*ROOT.glob("README*.md"), *(ROOT / "docs").rglob("*.md")]):
        for line in page.read_text("utf-8").splitlines():
            command = line.strip().removeprefix("$ ")
            mine = command.startswith("regard train ") and page.name not in FOREIGN
            if mine and not any(mark in command for mark in ("…", "RECIPE", REFUSED)):
                yield page.name, command


COMMANDS = sorted({command: page for page, command in printed()}.items())


def words_of(command: str) -> list[str]:
    """The recipe and its KEY=VALUE words, without options."""
    given = iter(shlex.split(command.removesuffix("\\"), comments=True)[2:])
    words = []
    for word in given:
        if word in ("|", "&&", ">", ";", "&"):
            break
        if word in ("--run", "--as"):
            next(given)
        elif not word.startswith("-"):
            words.append(word)
    return words


@pytest.mark.parametrize("command", [command for command, _ in COMMANDS])
def test_its_recipe_takes_it(command):
    name, *words = words_of(command)
    read_recipe(name, words)


def test_there_are_many():
    assert len(COMMANDS) > 100
