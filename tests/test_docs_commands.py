"""What a page tells a newcomer to type runs as it stands there, and prints what the page says.

A page is one session: its ```sh blocks run in order in one folder. A ```text block right after one is what it
prints, on either stream (`...` stands for anything; ```text no-check is shown, not compared). Numbers may be
others, and shades with them: processors round in their own ways.
"""

from __future__ import annotations

import doctest
import os
import re
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TOOLKIT = ROOT / "docs" / "toolkit"
PAGES = [  # the commands are the same in every language
    TOOLKIT / "own-classifier.md",
    pytest.param(TOOLKIT / "own-classifier.zh-CN.md", marks=pytest.mark.heavy),
]
BLOCK = re.compile(
    r"^```sh\n(?P<commands>.*?)^```\n(?:\n*^```text\n(?P<output>.*?)^```)?", re.M | re.S
)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
NUMBER = re.compile(r"[<>−-]?\.?\d(?:[\d.,:]*\d)?(?: m?s\b)?|[░▒▓█]+")
PORT = "8000"  # that of the pages
PATIENCE = 900  # seconds of a block on a busy machine


@pytest.fixture
def typed(tmp_path):
    """typed(commands): what they print in one folder, where `regard` and `python` are those of the tests."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, words in {"regard": "-m regard ", "python": ""}.items():
        script = tools / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words}"$@"\n')
        script.chmod(script.stat().st_mode | stat.S_IEXEC)
    environment = os.environ | {
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "src"),
        "CUDA_VISIBLE_DEVICES": "",
        "COLUMNS": "140",
        "NO_COLOR": "1",
    }
    folder = tmp_path / "work"
    folder.mkdir()

    def run(commands: str) -> str:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, f"{commands}\n{done.stdout}"
        return done.stdout

    return run


def in_words(printed: str) -> str:
    """Every number as one and the same."""
    return NUMBER.sub("0", printed)


def free_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return str(server.getsockname()[1])


@pytest.mark.parametrize("page", PAGES, ids=["English", "Chinese"])
def test_the_commands_of_a_page_run_and_print_what_it_says(page: Path, typed) -> None:
    port = free_port()
    blocks = list(BLOCK.finditer(page.read_text("utf-8")))
    assert len(blocks) >= 3
    for block in blocks:
        printed = typed(block["commands"].replace(PORT, port)).replace(port, PORT)
        if block["output"] is not None:
            said = in_words(block["output"]), in_words(printed)
            same = doctest.OutputChecker().check_output(*said, FLAGS)
            assert same, f"{block['commands']}prints\n{printed}\nnot\n{block['output']}"
