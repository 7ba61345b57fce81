"""A package that is broken in all seven groups is told of in one line each, and harms nothing else."""

from __future__ import annotations

import json

import pytest
from strangers import in_a_process

GROUPS = ("tasks", "models", "fields", "recipes", "scores", "regions", "normalizers")
# by what happens when the entry point is loaded
WAYS = {
    "missing": "broken_and_missing:Thing",
    "raising": "broken_raising:Thing",
    "leaving": "broken_leaving:Thing",
    "nameless": "broken_empty:Thing",
    "unreadable": "this is no place",
}


@pytest.fixture(scope="module", params=WAYS)
def broken(request, tmp_path_factory):
    """A folder for the path, and the name that is broken in every group."""
    folder, name = tmp_path_factory.mktemp(request.param), request.param
    (folder / "broken_raising.py").write_text("raise RuntimeError('two\\nlines')\n")
    (folder / "broken_leaving.py").write_text("import sys\nsys.exit(3)\n")
    (folder / "broken_empty.py").write_text("")
    about = folder / "broken-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    points = "\n\n".join(f"[regard.{group}]\n{name} = {WAYS[name]}" for group in GROUPS)
    (about / "entry_points.txt").write_text(points + "\n")
    return folder, name


def test_the_recipes_are_listed_and_the_broken_one_told(broken):
    folder, name = broken
    done = in_a_process(folder, "-m", "regard", "recipes", "--json")
    assert done.returncode == 0
    assert {"zh-en", "mr"} <= {row["name"] for row in json.loads(done.stdout)}
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"warning: broken: regard.recipes '{name}' = {WAYS[name]} cannot be")


def test_the_schema_is_whole_and_the_broken_ones_told(broken):
    folder, name = broken
    done = in_a_process(folder, "-m", "regard", "schema")
    assert done.returncode == 0
    kinds = json.loads(done.stdout)["properties"]["model"]["discriminator"]["mapping"]
    assert "rnnsearch" in kinds
    assert name not in kinds
    lines = done.stderr.splitlines()
    assert len(lines) == 2
    for group, line in zip(("tasks", "models"), lines, strict=True):
        assert line.startswith(f"warning: broken: regard.{group} '{name}' = {WAYS[name]} cannot be")


UNHARMED = """
import torch
import regard
from regard.recipe.recipe_files import read_recipe
from regard.registry import find_field

read_recipe("zh-en", ["model.attention.score=bilinear"])
read_recipe("mr")
x = torch.randn(1, 4, 8)
regard.attend(x, x, score="cosine", region="window(1) & causal", normalize="sparsemax")
assert find_field("Text").__name__ == "Text"
"""
TOLD = """
import sys
import torch
import regard
from regard.recipe.recipe_files import read_recipe
from regard.registry import find_field

name, x = sys.argv[1], torch.randn(1, 4, 8)
for group, ask in {
    "tasks": lambda: read_recipe("mr", [f"task.kind={name}"]),
    "models": lambda: read_recipe("mr", [f"model.kind={name}"]),
    "fields": lambda: find_field(name),
    "scores": lambda: regard.attend(x, x, score=name),
    "regions": lambda: regard.attend(x, x, region=name),
    "normalizers": lambda: regard.attend(x, x, normalize=name),
}.items():
    try:
        ask()
    except ValueError as error:
        said = str(error)
        assert f"broken: regard.{group} '{name}'" in said and "\\n" not in said, said
    else:
        raise AssertionError(group)
"""


def test_what_does_not_name_it_is_not_harmed(broken):
    folder, _ = broken
    done = in_a_process(folder, "-W", "error", "-c", UNHARMED)
    assert (done.returncode, done.stderr) == (0, "")


def test_who_names_it_is_told_in_one_line(broken):
    folder, name = broken
    done = in_a_process(folder, "-c", TOLD, name)
    assert done.returncode == 0, done.stderr


def test_a_recipe_that_names_it_is_refused_without_a_traceback(broken):
    folder, name = broken
    done = in_a_process(folder, "-m", "regard", "train", "zh-en", f"model.kind={name}")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"broken: regard.models '{name}'" in done.stderr.splitlines()[0]
    assert "Traceback" not in done.stderr
    assert not (folder / "runs").exists()
