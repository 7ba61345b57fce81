"""The packages beside this file as if they were installed, for these tests alone and without an installer.

`pip install ./examples/task` writes the entry points of its pyproject.toml into a folder *.dist-info; here
they are written into one, which stands on the path together with the `src` of each package.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from regard import plugins

HERE = Path(__file__).parent
SOURCES = [str(path) for path in sorted(HERE.glob("*/src"))]
SLOW = [
    HERE / name for name in ("model", "opinion", "task")
]  # they train; `make quick` leaves them out
Command = Callable[..., subprocess.CompletedProcess[str]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if any(item.path.is_relative_to(place) for place in SLOW):
            item.add_marker("slow")


def lay_metadata(project: Path, site: Path) -> None:
    """What an installer writes of a project: its name and its entry points."""
    about = tomllib.loads(project.read_text("utf-8"))["project"]
    folder = site / f"{about['name'].replace('-', '_')}-{about['version']}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {about['name']}\nVersion: {about['version']}\n"
    )
    groups = [
        "\n".join([f"[{group}]", *(f"{name} = {place}" for name, place in points.items())])
        for group, points in about["entry-points"].items()
    ]
    (folder / "entry_points.txt").write_text("\n\n".join(groups) + "\n")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with what an installer would have written."""
    folder = tmp_path_factory.mktemp("site")
    for project in sorted(HERE.glob("*/pyproject.toml")):
        lay_metadata(project, folder)
    return folder


@pytest.fixture(autouse=True)
def _installed(site: Path, monkeypatch: pytest.MonkeyPatch):
    """The three packages are there in this process too, until the test ends."""
    for folder in (*SOURCES, str(site)):
        monkeypatch.syspath_prepend(folder)
    plugins.forget()
    torch.manual_seed(0)
    yield
    plugins.forget()


@pytest.fixture(scope="session")
def environment(site: Path) -> dict[str, str]:
    """Of a process that finds the three packages, and the regard that these tests run."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("REGARD_")}
    paths = os.pathsep.join([*SOURCES, str(site), *filter(None, sys.path)])
    return {**kept, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "COLUMNS": "80"}


@pytest.fixture(scope="session")
def regard_command(environment: dict[str, str]) -> Command:
    """regard_command("train", "word-tags", cwd=folder): the command as a person types it."""

    def run(*words: str, cwd: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "regard", *words],
            capture_output=True,
            input=stdin,
            encoding="utf-8",
            timeout=300,
            cwd=cwd,
            env=environment,
        )

    return run
