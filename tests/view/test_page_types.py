"""The page's types, which stand in its JSDoc comments, checked by TypeScript."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

HERE = Path(__file__).parent / "page"
COMPILER = HERE / "node_modules" / "typescript" / "bin" / "tsc"
NODE = shutil.which("node")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        NODE is None or not COMPILER.exists(),
        reason="needs node and TypeScript: npm ci --prefix tests/view/page",
    ),
]


def complaints(project: Path) -> str:
    assert NODE is not None
    command = [NODE, str(COMPILER), "--project", str(project)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    return ran.stdout + ran.stderr


def test_the_page_has_no_error_of_types() -> None:
    assert complaints(HERE) == ""


def test_a_field_that_no_record_has_is_found(tmp_path: Path) -> None:
    record = Path(str(files("regard.view"))) / "page" / "record" / "record.js"
    wrong = tmp_path / "wrong.js"
    wrong.write_text(
        f'import {{ readRecord }} from "{record.as_posix()}";\n'
        "export const outputOf = (/** @type {any} */ given) => readRecord(given).outptu;\n",
        encoding="utf-8",
    )
    project = tmp_path / "tsconfig.json"
    settings = {"extends": str(HERE / "tsconfig.json"), "include": ["wrong.js"]}
    project.write_text(json.dumps(settings), encoding="utf-8")
    assert "Did you mean 'output'?" in complaints(project)
