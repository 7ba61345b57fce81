"""Kinds: ours, other packages', and package.module:Name. Only what is named is imported."""

from __future__ import annotations

import json
import sys

import pytest
import torch
from strangers import in_a_process, lay_package

from regard import registry
from regard.options import ModelOptions, TaskOptions
from regard.recipe.mistakes import MissingKind, RecipeError
from regard.recipe.recipe import Recipe
from regard.recipe.recipe_files import dump_recipe, read_recipe
from regard.runs.model_file import recipe_of
from regard.runs.run_folder import RunFolder
from regard.tasks.recipe_task import task_of

MEAN = "strange_package.models:Mean"


@pytest.fixture
def stranger(tmp_path, monkeypatch):
    """A stranger's modules can be imported; its entry points are not known in this process."""
    monkeypatch.syspath_prepend(str(lay_package(tmp_path)))
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("strange_package")]:
        del sys.modules[name]


@pytest.mark.parametrize(("group", "base"), [("tasks", TaskOptions), ("models", ModelOptions)])
def test_every_line_of_the_registry_leads_to_options_of_that_kind(group, base):
    for kind in registry.BUILT_IN[group]:
        found = registry.find(group, kind)
        assert issubclass(found, base)
        assert found.usual_kind() == found().kind == kind
    assert len(set(registry.kinds(group))) == len(registry.kinds(group))


def test_every_option_of_every_kind_has_a_line_of_help():
    for group in registry.BUILT_IN:
        for kind in registry.kinds(group):
            options = registry.find(group, kind)
            assert options.__doc__
            for name, field in options.model_fields.items():
                assert name == "kind" or field.description, f"{kind}: {name}"


def test_a_model_of_ones_own_is_read_dumped_read_back_and_built(stranger, tmp_path):
    recipe = read_recipe("mr", [f"model.kind={MEAN}", "model.size=16"])
    assert (recipe.model.kind, recipe.model.size) == (MEAN, 16)
    assert recipe.model_dump()["model"] == {"kind": MEAN, "size": 16}
    path = tmp_path / "mine.yaml"
    path.write_text(dump_recipe(recipe))
    assert read_recipe(str(path)) == recipe
    assert Recipe.model_validate(json.loads(recipe.model_dump_json())) == recipe
    network = recipe.model.build({"text": 30, "label": 2})
    assert [tuple(p.shape) for p in network.parameters()] == [(30, 16), (2, 16), (2,)]


def test_options_without_a_declared_kind_are_known_by_their_place(stranger):
    assert registry.find("models", MEAN)().kind == MEAN


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["model.siz=9"], "unknown key 'model.siz'. Did you mean 'model.size'?"),
        (["model.size=0"], "model.size is 0: it must be greater than 0"),
        (["model.pool=max"], "only model.kind=transformer-classifier or bare-classifier or"),
        (["model.kind=strange_package.models:Meen"], "has no 'Meen'. Did you mean 'Mean'?"),
        (["model.kind=strange_package.modles:Mean"], "no module 'strange_package.modles', so no"),
        (["model.kind=strangepackage:Mean"], "no module 'strangepackage', so no"),
        (["model.kind=strange_package.broken:Mean"], "RuntimeError: this package is broken"),
        (["model.kind=strange_package.models:NotOptions"], "derived from regard.options.Model"),
        (["model.kind=strange_package.models:Tagging"], "derived from regard.options.ModelOptions"),
        (["model.kind=strange_package.models:Unbuilt"], "has no method 'build' of its own"),
        (["model.kind=:Mean"], "model.kind: "),
        (["task.kind=translate"], f"model.kind={MEAN} is for task.kind=classify; for translate"),
    ],
)
def test_a_mistake_about_a_strangers_model_is_told_in_one_line(stranger, words, said):
    with pytest.raises(RecipeError) as error:
        read_recipe("mr", [f"model.kind={MEAN}", *words])
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_task_of_ones_own_brings_its_metrics(stranger, tmp_path):
    task, model = "strange_package.models:Tagging", "strange_package.models:Tagger"
    path = tmp_path / "mine.yaml"
    path.write_text(f"task: {{kind: '{task}', tags: 9}}\nmodel: {{kind: '{model}'}}\n")
    registry.find("models", model).task = "chunks"
    with pytest.raises(RecipeError, match=r"is for task\.kind=chunks; for strange_package"):
        read_recipe(str(path))  # here no entry point says that chunks is that place
    for name in ("tagging", task):  # its class is called so, or it stands there
        registry.find("models", model).task = name
        recipe = read_recipe(str(path))
    assert (recipe.task.tags, recipe.training.metric) == (9, "tag_accuracy")
    assert recipe.task.task(recipe) == ("tagging", recipe)
    assert read_recipe(str(path), ["training.metric=loss"]).training.metric == "loss"
    with pytest.raises(RecipeError, match=r"measured by tag_accuracy or loss"):
        read_recipe(str(path), ["training.metric=bleu"])


def test_a_run_whose_model_is_not_installed_is_not_damaged(tmp_path):
    values = {"model": {"kind": "nowhere:Mine"}}
    with pytest.raises(MissingKind, match=r"config\.json: this run needs the module 'nowhere'"):
        recipe_of(RunFolder(tmp_path), {"recipe": values})
    RunFolder(tmp_path).recipe.write_text("model: {kind: 'nowhere:Mine'}\n")
    with pytest.raises(MissingKind, match=r"line 1\): no module 'nowhere'"):
        RunFolder(tmp_path).read_recipe()


ENTRY_POINTS_ARE_USED = """
import sys
from regard import registry
from regard.recipe.recipe_files import dump_recipe, read_recipe

assert registry.kinds("models")[:3] == ("rnnsearch", "rnnenc", "luong")
assert registry.kinds("models")[-5:] == ("broken", "lost", "mean", "odd", "tagger")
read_recipe("zh-en")
read_recipe("mr")
assert not [m for m in sys.modules if m.startswith("strange_package")], "imported, but not named"

recipe = read_recipe("strange-mean")
assert (recipe.model.kind, recipe.model.size, recipe.data.train) == ("mean", 16, "mr:train")
open("again.yaml", "w").write(dump_recipe(recipe))
assert read_recipe("again.yaml") == recipe
open("more.yaml", "w").write("extends: strange-mean\\nseed: 7\\n")
assert read_recipe("more.yaml").model == recipe.model

open("tags.yaml", "w").write("task: {kind: tagging}\\n")
tagged = read_recipe("tags.yaml")
assert (tagged.model.kind, tagged.training.metric) == ("tagger", "tag_accuracy")
place = read_recipe("tags.yaml", ["task.kind=strange_package.models:Tagging", "model.kind=tagger"])
assert place.task.kind == "strange_package.models:Tagging"

for kind, said in {
    "broken": "RuntimeError: this package is broken",
    "lost": "strange_package.nowhere",
    "odd": "strange_package.models:NotOptions cannot be used: it is no class derived from regard.options",
    "meann": "no model.kind 'meann'. Did you mean 'mean'?",
}.items():
    try:
        read_recipe("mr", [f"model.kind={kind}"])
    except ValueError as error:
        assert said in str(error) and "\\n" not in str(error), error
    else:
        raise AssertionError(kind)
assert "torch" not in sys.modules
"""


def test_a_package_is_used_by_the_names_it_registers(tmp_path):
    done = in_a_process(lay_package(tmp_path), "-c", ENTRY_POINTS_ARE_USED)
    assert done.returncode == 0, done.stderr


def test_a_name_of_regards_wins_with_a_warning(tmp_path):
    code = "from regard.registry import find; print(find('models', 'luong').__module__)"
    done = in_a_process(lay_package(tmp_path), "-c", code)
    assert done.stdout.split() == ["regard.models.recurrent_options"]
    assert "'luong' is regard's own: that of another package" in done.stderr


def test_the_schema_has_the_kinds_of_other_packages_and_reports_broken_ones(tmp_path):
    done = in_a_process(lay_package(tmp_path), "-m", "regard", "schema")
    assert done.returncode == 0
    schema = json.loads(done.stdout)
    kinds = schema["properties"]["model"]["discriminator"]["mapping"]
    assert {"mean", "tagger", "rnnsearch"} <= set(kinds)
    assert {"broken", "lost", "odd"}.isdisjoint(kinds)
    assert schema["$defs"]["Mean"]["properties"]["size"]["description"] == "features of a token"
    assert "tag_accuracy" in schema["$defs"]["Training"]["properties"]["metric"]["examples"]
    warned = done.stderr.splitlines()
    assert all(line.startswith("warning: ") for line in warned)
    for name in ("broken", "lost", "odd"):
        assert sum(f"'{name}'" in line for line in warned) == 1, done.stderr


def test_the_recipes_of_other_packages_are_listed_and_broken_ones_reported(tmp_path):
    done = in_a_process(lay_package(tmp_path), "-m", "regard", "recipes", "--json")
    rows = {row["name"]: row for row in json.loads(done.stdout)}
    assert rows["strange-mean"]["description"] == "The mean of the embeddings"
    assert rows["zh-en"]["description"] != "not regard's"
    warned = done.stderr.splitlines()
    assert all(line.startswith("warning: ") for line in warned)
    for said in ("'broken'", "recipe unreadable cannot be read", "a recipe 'zh-en' already"):
        assert sum(said in line for line in warned) == 1, done.stderr


READS_ALL = """
import sys
from regard.recipe.named_recipes import shipped_recipes
from regard.recipe.recipe_files import read_recipe
for name in shipped_recipes():
    read_recipe(name)
print([m for m in ("torch", "numpy", "lightning") if m in sys.modules])
"""


@pytest.mark.parametrize(
    "code",
    [
        READS_ALL,
        "import sys; from regard.recipe.recipe_schema import recipe_schema; recipe_schema()\n"
        "print([m for m in ('torch', 'numpy', 'lightning') if m in sys.modules])",
        "import sys, regard.registry; regard.registry.kinds('models')\n"
        "print([m for m in ('torch', 'pydantic') if m in sys.modules])",
    ],
    ids=["recipes", "schema", "kinds"],
)
def test_reading_recipes_waits_for_nothing_heavy(tmp_path, code):
    done = in_a_process(tmp_path, "-c", code)
    assert done.stdout.split() == ["[]"], done.stderr


def test_a_field_is_found_by_its_name_and_by_its_place():
    for name in registry.FIELDS:
        assert registry.find_field(name).__name__ == name
    assert registry.find_field("regard.data.fields.text:Text") is registry.find_field("Text")
    assert registry.field_names()[: len(registry.FIELDS)] == registry.FIELDS
    for name, said in {
        "Txt": r"no kind 'Txt' among fields. Did you mean 'Text'\?",
        "regard.data.fields:Stretch": "is no class derived from regard.data.fields.Field",
        "nowhere:Mine": "no module 'nowhere'",
    }.items():
        with pytest.raises(registry.KindError, match=said):
            registry.find_field(name)


@pytest.mark.parametrize("kind", registry.BUILT_IN["models"])
def test_options_derived_from_regards_own_build_the_same_network(kind):
    ours = registry.find("models", kind)
    own = {"__module__": "elsewhere", "__annotations__": {"kind": str}, "kind": ""}
    derived = type("Derived", (ours,), own)
    task = {"kind": ours.task, **({"input": "document"} if kind == "han" else {})}
    recipe = Recipe.model_validate({"task": task, "model": {"kind": kind}})
    sizes = {name: field.any_size for name, field in task_of(recipe).fields.items()}
    with torch.device("meta"):
        wanted, got = (cls().build(sizes).state_dict() for cls in (ours, derived))
    assert {n: v.shape for n, v in got.items()} == {n: v.shape for n, v in wanted.items()}
