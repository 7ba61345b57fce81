"""The page's pure functions, tested in node: the tests themselves are in `page/*.test.mjs`."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

NODE = shutil.which("node")
TESTS = sorted((Path(__file__).parent / "page").glob("*.test.mjs"))
OLDEST = (20, 19)  # reads a .js file as a module by what is in it
NO_NODE = "needs node 20.19 or newer: apt install nodejs (Debian 13), or nodejs.org"


def node_version() -> tuple[int, ...]:
    if NODE is None:
        return (0,)
    said = subprocess.run([NODE, "--version"], capture_output=True, text=True, check=True).stdout
    return tuple(map(int, re.findall(r"\d+", said)[:2]))


@pytest.mark.skipif(node_version() < OLDEST, reason=NO_NODE)
@pytest.mark.parametrize("file", TESTS, ids=lambda file: str(file.name))
def test_functions(file: Path) -> None:
    assert NODE is not None
    ran = subprocess.run(
        [NODE, "--test", str(file)], capture_output=True, text=True, timeout=600, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert re.search(r"^# pass [1-9]", ran.stdout, re.MULTILINE), "no test was found in the file"
