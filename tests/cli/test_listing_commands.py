"""What can be listed and looked at without a model: recipes, the schema, data."""

from __future__ import annotations

import json
import lzma

import pytest

from regard.training.reading import shipped_recipes
from regard.view.cells import width


def test_recipes_are_listed_with_what_they_need(run):
    done = run("recipes")
    assert done.status == 0
    rows = done.out.splitlines()
    assert [row.split()[0] for row in rows[1 : 1 + len(shipped_recipes())]] == shipped_recipes()
    (luong,) = (row for row in rows if row.startswith("multi30k-luong"))
    assert luong.split()[1] == "multi30k"
    assert max(map(width, rows)) <= 120


def test_recipes_as_json(run):
    rows = json.loads(run("recipes", "--json").out)
    assert [row["name"] for row in rows] == shipped_recipes()
    assert {row["data"] for row in rows} == {"embedded", "multi30k"}
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
