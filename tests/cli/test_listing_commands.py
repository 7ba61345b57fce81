"""What can be listed and looked at without a model: recipes, the schema, data."""

from __future__ import annotations

import json
import lzma

import pytest

from regard.data.public_sets import ORIGINS
from regard.recipe.named_recipes import shipped_recipes
from regard.recipe.recipe_files import read_recipe
from regard.view.terminal_cells import width


def test_recipes_are_listed_with_what_they_need(run):
    done = run("recipes")
    assert done.status == 0
    names = [line.split()[0] for line in done.out.splitlines() if line[:2] == "  " != line[1:3]]
    assert sorted(names) == sorted(shipped_recipes())
    assert "[multi30k]" in done.out.partition("multi30k-luong")[2].partition("  rnnenc")[0]
    assert "[mnist]" in done.out.partition("caption-scenes")[2].partition("caption-side")[0]
    groups = [line for line in done.out.splitlines() if line and line[0] != " "]
    assert {"translate", "classify", "match", "read", "tag"} <= set(groups)
    for task in ("classify", "match", "read", "tag"):  # the recipe to start with comes first
        assert done.out.partition(f"\n{task}\n")[2].split()[0] == task


@pytest.mark.parametrize(("columns", "most"), [("80", 80), ("300", 100)])
def test_the_list_fits_and_loses_no_word(run, monkeypatch, columns, most):
    monkeypatch.setenv("COLUMNS", columns)
    text = run("recipes").out
    assert max(map(width, text.splitlines())) <= most
    what = " ".join(text.split())
    assert all(read_recipe(name).description in what for name in shipped_recipes())


def test_recipes_as_json(run):
    rows = json.loads(run("recipes", "--json").out)
    assert [row["name"] for row in rows] == shipped_recipes()
    assert {row["data"] for row in rows} <= {"embedded", *ORIGINS}
    assert all(row["description"] for row in rows)


def test_the_schema_is_json(run):
    schema = json.loads(run("schema").out)
    assert "optimizer" in schema["$defs"]["Training"]["properties"]


@pytest.fixture
def corpus(tmp_path):
    (tmp_path / "a.zh").write_text("我是学生。\n\n你好\n", encoding="utf-8")
    with lzma.open(tmp_path / "a.en.xz", "wt", encoding="utf-8") as file:
        file.write("I am a student.\nHi\nHello\n")
    return tmp_path / "a.zh", tmp_path / "a.en.xz"


def test_data_is_checked(run, corpus):
    for files in (list(map(str, corpus)), [",".join(map(str, corpus))]):
        done = run("data", "check", *files)
        assert (done.status, done.err) == (0, "")
        assert done.out.startswith("2 pairs that can be used, 1 line")
        assert "1 empty source line (2)" in done.out


def test_data_is_checked_as_json(run, corpus):
    found = json.loads(run("data", "check", "--json", *map(str, corpus)).out)
    assert found["pairs"] == 2
    assert list(found["problems"].values()) == [{"empty source lines": [1, 2]}]


def test_a_folder_is_no_corpus(run, tmp_path):
    done = run("data", "check", str(tmp_path))
    assert (done.status, done.out) == (2, "")
    assert f"error: '{tmp_path}' is a folder: name files, as in a.zh,a.en" in done.err


def test_a_corpus_without_a_pair_is_a_failure(run, tmp_path):
    (tmp_path / "a.zh").write_text("我\n你\n", encoding="utf-8")
    done = run("data", "check", str(tmp_path / "a.zh"))
    assert done.status == 1
    assert done.out.startswith("0 pairs that can be used, 2 lines that cannot")
    done = run("data", "check", "--json", str(tmp_path / "a.zh"))
    assert (done.status, json.loads(done.out)["pairs"]) == (1, 0)
