"""A package that is broken in all seven groups is told of in one line each, and harms nothing else."""

from __future__ import annotations

import json
import subprocess

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
    "number": "broken_nonsense:number",
    "function": "broken_nonsense:function",
    "stranger": "broken_nonsense:Stranger",
    "unasked": "broken_nonsense:Unasked",
    "evasive": "broken_evasive:Thing",
    "replaced": "broken_replaced:Thing",
    "circular": "broken_circular:Thing",
    "stopped": "broken_stopped:Thing",
}
MODULES = {
    "raising": "raise RuntimeError('two\\nlines')\n",
    "leaving": "import sys\nsys.exit(3)\n",
    "empty": "",
    "nonsense": """
number = 3
def function(*given, **named): raise RuntimeError('two\\nlines')
class Stranger: pass
class Meta(type):
    def __getattr__(cls, name): raise RuntimeError('two\\nlines')
    def __call__(cls, *given, **named): raise RuntimeError('two\\nlines')
    def __subclasscheck__(cls, other): raise RuntimeError('two\\nlines')
    def __instancecheck__(cls, other): raise RuntimeError('two\\nlines')
    def __repr__(cls): raise RuntimeError('two\\nlines')
class Unasked(metaclass=Meta): pass
""",
    "evasive": "def __getattr__(name): raise RuntimeError('two\\nlines')\n",
    "replaced": "import sys\nsys.modules[__name__] = 3\n",
    "circular": "from broken_circular import Thing\n",
    "stopped": "import asyncio\nraise asyncio.CancelledError('two\\nlines')\n",
}


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    """A folder for the path; a package there is broken in every way in every group."""
    folder = tmp_path_factory.mktemp("broken")
    for module, text in MODULES.items():
        (folder / f"broken_{module}.py").write_text(text)
    points = "\n".join(f"{name} = {value}" for name, value in WAYS.items())
    lay_points(folder, "broken", "\n\n".join(f"[regard.{group}]\n{points}" for group in GROUPS))
    return folder


def lay_points(folder, name, points):
    about = folder / f"{name}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(points + "\n")


def said_of(group):
    """How the line about each of a group begins, in their order."""
    return [
        f"warning: broken: regard.{group} '{name}' = {WAYS[name]} cannot be"
        for name in sorted(WAYS)
    ]


def test_the_recipes_are_listed_and_the_broken_ones_told(broken):
    done = in_a_process(broken, "-m", "regard", "recipes", "--json")
    assert done.returncode == 0, done.stderr
    assert {"zh-en", "mr"} <= {row["name"] for row in json.loads(done.stdout)}
    for line, said in zip(done.stderr.splitlines(), said_of("recipes"), strict=True):
        assert line.startswith(said)


def test_the_schema_is_whole_and_the_broken_ones_told(broken):
    done = in_a_process(broken, "-m", "regard", "schema")
    assert done.returncode == 0, done.stderr
    kinds = json.loads(done.stdout)["properties"]["model"]["discriminator"]["mapping"]
    assert "rnnsearch" in kinds
    assert WAYS.keys().isdisjoint(kinds)
    wanted = [*said_of("tasks"), *said_of("models")]
    for line, said in zip(done.stderr.splitlines(), wanted, strict=True):
        assert line.startswith(said)


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

x = torch.randn(1, 4, 8)
asks = {
    "tasks": lambda name: read_recipe("mr", [f"task.kind={name}"]),
    "models": lambda name: read_recipe("mr", [f"model.kind={name}"]),
    "fields": lambda name: find_field(name),
    "scores": lambda name: regard.attend(x, x, score=name),
    "regions": lambda name: regard.attend(x, x, region=name),
    "normalizers": lambda name: regard.attend(x, x, normalize=name),
}
for name in sys.argv[1:]:
    for group, ask in asks.items():
        try:
            ask(name)
        except ValueError as error:
            said = str(error)
            assert f"broken: regard.{group} '{name}'" in said and "\\n" not in said, said
        else:
            raise AssertionError((group, name))
"""


def test_what_does_not_name_them_is_not_harmed(broken):
    done = in_a_process(broken, "-W", "error", "-c", UNHARMED)
    assert (done.returncode, done.stderr) == (0, "")


def test_who_names_one_is_told_in_one_line(broken):
    done = in_a_process(broken, "-c", TOLD, *WAYS)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["raising", "number", "stopped"])
def test_a_recipe_that_names_it_is_refused_without_a_traceback(broken, name):
    done = in_a_process(broken, "-m", "regard", "train", "zh-en", f"model.kind={name}")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"broken: regard.models '{name}'" in done.stderr.splitlines()[0]
    assert "Traceback" not in done.stderr
    assert not (broken / "runs").exists()


@pytest.fixture(scope="module")
def hanging(tmp_path_factory):
    """A package whose import never ends, in every group."""
    folder = tmp_path_factory.mktemp("hanging")
    recipes = folder / "hanging" / "recipes"
    recipes.mkdir(parents=True)
    (folder / "hanging" / "__init__.py").write_text("import time\ntime.sleep(1000)\n")
    (recipes / "__init__.py").touch()
    (recipes / "hung.yaml").write_text("description: no code is needed to read this\nextends: mr\n")
    points = [
        f"[regard.{group}]\nslow = hanging.parts:Thing" for group in GROUPS if group != "recipes"
    ]
    lay_points(folder, "hanging", "\n".join([*points, "[regard.recipes]\nslow = hanging.recipes"]))
    return folder


def test_one_that_never_ends_is_waited_for_by_nobody_else(hanging):
    code = f"{UNHARMED}\nread_recipe('hung')\n"
    done = in_a_process(hanging, "-W", "error", "-c", code, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    done = in_a_process(hanging, "-m", "regard", "recipes", "--json", timeout=60)
    assert "hung" in {row["name"] for row in json.loads(done.stdout)}
    for words in (["train", "no-such-recipe"], ["train", "mr", "model.kind=slwo"]):
        done = in_a_process(hanging, "-m", "regard", *words, timeout=60)
        assert done.returncode == 2


def test_one_that_takes_long_is_named(hanging):
    code = "from regard import plugins; plugins.SLOW = 0.5; plugins.load('regard.models', 'slow')"
    with pytest.raises(subprocess.TimeoutExpired) as told:
        in_a_process(hanging, "-c", code, timeout=10)
    assert "still importing hanging: regard.models 'slow' = hanging.parts" in str(told.value.stderr)
