"""A run that needs another package says which, whatever of it is missing; nothing is called damaged."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from pathlib import Path

import pytest

from regard import __version__, plugins
from regard.attention import attend
from regard.data.checksums import Damaged
from regard.recipe.mistakes import MissingKind, RecipeError
from regard.recipe.recipe_files import dump_recipe, read_recipe
from regard.runs.model_file import load_model, save_model
from regard.runs.run_folder import RunFolder
from regard.tasks.recipe_task import task_of

MODULE = """
    from typing import ClassVar
    from pydantic import Field as Option
    from regard.attention.normalizers import Softmax
    from regard.attention.regions import Causal
    from regard.attention.scores import Dot
    from regard.data.fields import Text
    from regard.models.transformer_options import TransformerClassifier
    from regard.registry import find_field
    from regard.tasks.classify.classify_options import ClassifyOptions

    class Rate(ClassifyOptions):
        '''classify, and a field of the recipe's choice'''
        kind: str = "rate"
        models: ClassVar[str] = "classify"
        reads: str = Option("Text", description="the field")

        def task(self, recipe):
            find_field(self.reads)
            return super().task(recipe)

    class Reader(TransformerClassifier):
        kind: str = "reader-of-mine"

    class Sound(Text): pass
    class Louder(Dot): pass
    class Back(Causal): pass
    class Softer(Softmax): pass
"""
POINTS = {
    "tasks": "rate = rating_parts:Rate",
    "models": "reader-of-mine = rating_parts:Reader",
    "fields": "Sound = rating_parts:Sound",
    "scores": "louder = rating_parts:Louder",
    "regions": "back = rating_parts:Back",
    "normalizers": "softer = rating_parts:Softer",
}
KINDS = {
    "task": ("rate", ["task.kind=rate"]),
    "model": ("reader-of-mine", ["model.kind=reader-of-mine"]),
    "field": ("Sound", ["task.kind=rate", "task.reads=Sound"]),
    "score": ("louder", ["model.attention.score=louder"]),
    "region": ("back", ["model.attention.region=window(3) & back"]),
    "normalizer": ("softer", ["model.attention.normalize=softer(0.5)"]),
}


class Package:
    """my-rating, installed into a folder on the path, or not."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.module = folder / "rating_parts.py"
        self.about = folder / "my_rating-1.5.dist-info"

    def install(self, version: str = "1.5", groups: tuple[str, ...] = tuple(POINTS)) -> None:
        self.remove()
        self.module.write_text(textwrap.dedent(MODULE))
        self.about.mkdir()
        about = f"Metadata-Version: 2.1\nName: my-rating\nVersion: {version}\n"
        (self.about / "METADATA").write_text(about)
        points = "\n".join(f"[regard.{group}]\n{POINTS[group]}" for group in groups)
        (self.about / "entry_points.txt").write_text(points + "\n")
        (self.about / "top_level.txt").write_text("rating_parts\n")

    def remove(self) -> None:
        self.module.unlink(missing_ok=True)
        shutil.rmtree(self.about, ignore_errors=True)
        shutil.rmtree(self.folder / "__pycache__", ignore_errors=True)
        sys.modules.pop("rating_parts", None)
        plugins.forget()
        attend._READ.clear()


@pytest.fixture
def package(tmp_path, monkeypatch):
    place = tmp_path / "installed"
    place.mkdir()
    monkeypatch.syspath_prepend(str(place))
    made = Package(place)
    made.install()
    yield made
    made.remove()


def written(folder: Path, words: list[str]) -> RunFolder:
    """A run of that recipe, not trained."""
    recipe = read_recipe("mr", words)
    run, task = RunFolder(folder), task_of(recipe)
    folder.mkdir()
    values = {"text": ["a b", "c"], "label": ["x", "y"]}
    for name, field in task.fields.items():
        field.learn(values[name])
    for path, field in run.assets(task).items():
        path.write_text(field.to_json())
    save_model(run, task, recipe.model.build(task.sizes).state_dict())
    run.recipe.write_text(dump_recipe(recipe))
    return run


def changed(run: RunFolder, **values: object) -> None:
    config = json.loads(run.config.read_text()) | values
    config = {key: value for key, value in config.items() if value is not None}
    config.pop("sha256", None)
    run.config.write_text(json.dumps(config))


@pytest.mark.parametrize("kind", KINDS)
def test_the_message_names_the_package_of_whatever_is_missing(package, tmp_path, kind):
    name, words = KINDS[kind]
    run = written(tmp_path / "run", words)
    load_model(run)
    rows = json.loads(run.config.read_text())["packages"]
    assert {"kind": kind, "name": name, "package": "my-rating", "version": "1.5"} in rows
    package.remove()
    first = "task" if kind == "field" else kind
    told = (
        rf"this run needs the {first} '{KINDS[first][0]}' of the package my-rating, which is not "
    )
    with pytest.raises(MissingKind, match=rf"{told}installed: pip install my-rating$") as error:
        load_model(run)
    assert str(run.config) in str(error.value)
    assert "1.5" in error.value.hint
    with pytest.raises(MissingKind, match=rf"recipe.yaml: {told}"):
        run.read_recipe()
    changed(run, packages=None)  # as regard wrote it before packages were kept
    told = f"this run needs a package that provides the {first} '{KINDS[first][0]}'$"
    with pytest.raises(MissingKind, match=told):
        load_model(run)


def test_a_package_that_has_it_no_more_is_told_by_its_version(package, tmp_path):
    run = written(tmp_path / "run", KINDS["field"][1])
    package.install("2.0", ("tasks", "models"))
    told = r"the field 'Sound' of the package my-rating 1.5; the installed my-rating 2.0 does not"
    with pytest.raises(MissingKind, match=told) as error:
        load_model(run)
    assert error.value.hint == "pip install my-rating==1.5"


def test_what_stands_at_a_place_is_told_by_its_module(package, tmp_path):
    words = ["model.kind=rating_parts:Reader", "model.attention.score=rating_parts:Louder"]
    run = written(tmp_path / "run", words)
    load_model(run)
    package.remove()
    told = "needs the module 'rating_parts' of the package my-rating, which is not installed: pip"
    with pytest.raises(MissingKind, match=told):
        load_model(run)
    changed(run, packages=[])
    with pytest.raises(MissingKind, match="needs the module 'rating_parts', which cannot be") as e:
        load_model(run)
    assert "PYTHONPATH" in e.value.hint


def test_only_what_the_recipe_names_is_kept(package, tmp_path):
    plugins.load("regard.scores", "louder")
    run = written(tmp_path / "run", [])
    assert json.loads(run.config.read_text())["packages"] == []


def test_a_kind_of_another_regard_is_told_so(package, tmp_path):
    run = written(tmp_path / "run", [])
    config = json.loads(run.config.read_text())
    config["recipe"]["model"]["kind"] = "of-tomorrow"
    changed(run, recipe=config["recipe"], regard="99.0")
    told = rf"the model 'of-tomorrow' of regard 99.0; this is {__version__}"
    with pytest.raises(MissingKind, match=told) as error:
        load_model(run)
    assert error.value.hint == "pip install regard==99.0"


@pytest.mark.parametrize(
    "packages", [3, {}, [3], [{"kind": "task"}], [{"kind": 1, "name": 2}], [[]], "x", {"a": "b"}]
)
def test_packages_that_are_no_rows_say_nothing(package, tmp_path, packages):
    run = written(tmp_path / "run", ["task.kind=rate"])
    package.remove()
    changed(run, packages=packages)
    with pytest.raises(MissingKind, match="a package that provides the task 'rate'"):
        load_model(run)


def test_a_section_without_a_kind_is_damaged(package, tmp_path):
    run = written(tmp_path / "run", [])
    config = json.loads(run.config.read_text())
    config["recipe"]["task"]["kind"] = 3
    changed(run, recipe=config["recipe"])
    with pytest.raises(Damaged, match="it has no kind"):
        load_model(run)


@pytest.mark.parametrize(
    ("words", "said", "hint"),
    [
        (["model.kind=rating_parts:Raeder"], "has no 'Raeder'. Did you mean", "place of a class"),
        (["model.kind=regard.modles:Reader"], "no module 'regard.modles'", "place of a class"),
        (["model.kind=rating_parts:Rate"], "derived from", "docs/extending.md"),
        (["model.attention.score=rating_parts:Luoder"], "has no 'Luoder'", "place of a class"),
        (["model.attention.score=rating_parts:Back"], "is no Score", ""),
        (["model.kind=not_here:Reader"], "no module 'not_here'", "pip install what"),
        (["model.attention.score=not_here:Louder"], "no module 'not_here'", "pip install what"),
    ],
)
def test_only_what_is_not_installed_is_to_be_installed(package, words, said, hint):
    with pytest.raises(RecipeError) as error:
        read_recipe("mr", words)
    assert said in str(error.value)
    assert hint in error.value.hint
    assert ("pip install" in error.value.hint) == ("pip" in hint)
