"""What stands on the path for these tests is what an installer writes."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from configparser import ConfigParser
from importlib.metadata import Distribution, distributions
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PACKAGES = ("score", "model", "task")


def points(folder: Path) -> dict[str, set[tuple[str, str, str]]]:
    """The entry points of every package in a folder, by the package."""
    return {each.name: _points(each) for each in distributions(path=[str(folder)])}


def _points(package: Distribution) -> set[tuple[str, str, str]]:
    return {(point.group, point.name, point.value) for point in package.entry_points}


def test_every_package_brings_something(site):
    found = points(site)
    assert set(found) == {f"regard-example-{name}" for name in PACKAGES}
    groups = {group for each in found.values() for group, _, _ in each}
    assert groups == {"regard.scores", "regard.models", "regard.tasks", "regard.recipes"}
    for path in site.glob("*/entry_points.txt"):
        ConfigParser(delimiters="=").read_string(path.read_text())


@pytest.mark.heavy
def test_pip_writes_the_same(site, tmp_path, environment):
    if importlib.util.find_spec("pip") is None or importlib.util.find_spec("setuptools") is None:
        pytest.skip("needs pip and setuptools")
    target = tmp_path / "target"
    for name in PACKAGES:  # a copy: a build leaves things in its folder
        shutil.copytree(HERE / name, tmp_path / name)
    command = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    folders = [str(tmp_path / name) for name in PACKAGES]
    done = subprocess.run(
        [sys.executable, *command, "--target", str(target), *folders],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert points(target) == points(site)
    for recipe in ("mr-windows", "word-tags"):
        assert list(target.glob(f"*/recipes/{recipe}.yaml"))
