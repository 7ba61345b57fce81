"""The table of field names in the docs is that of the code: every task, field and form of a value."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from regard.recipe.recipe import Recipe
from regard.registry import BUILT_IN, find
from regard.tasks.recipe_task import task_of

PAGE = Path(__file__).parent.parent / "docs" / "toolkit" / "tasks.md"
INPUT, ANSWERED = "input", "answered"


class Row(NamedTuple):
    task: str  # with its options, as `classify task.input=document`
    field: str
    role: str
    forms: list[Any]  # in JSON


def rows() -> list[Row]:
    section = PAGE.read_text("utf-8").split("## Names of fields\n")[1].split("\n## ")[0]
    found: list[Row] = []
    for line in section.splitlines():
        if not line.startswith("|") or line.startswith(("| ---", "| task |")):
            continue
        task, field, role, forms = (
            cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]
        )
        task = " ".join(re.findall("`(.*?)`", task)) or found[-1].task
        written = [part for part in re.findall("`(.*?)`", forms) if re.match(r'["\[{\d]', part)]
        found.append(Row(task, field.strip("`"), role, [json.loads(part) for part in written]))
    return found


ROWS = rows()


def task_named(written: str) -> Any:
    kind, *options = written.split()
    chosen = {
        key.removeprefix("task."): value for key, _, value in (o.partition("=") for o in options)
    }
    takes = find("tasks", kind).models or kind
    fits = [
        name
        for name in BUILT_IN["models"]
        if find("models", name).task == takes
        and chosen.get("input", "text") in getattr(find("models", name), "reads", ("text",))
        and chosen.get("output", "label") in getattr(find("models", name), "answers", ("label",))
    ]
    given = {"task": {"kind": kind, **chosen}, "model": {"kind": fits[0]}}
    return task_of(Recipe.model_validate(given))


@pytest.mark.parametrize("written", dict.fromkeys(row.task for row in ROWS))
def test_the_fields_of_a_task_are_those_of_the_table(written, tmp_path):
    task, said = task_named(written), [row for row in ROWS if row.task == written]
    (tmp_path / "corpus.jsonl").write_text("{}\n")
    (corpus,) = task.corpora(str(tmp_path / "corpus.jsonl"))
    names = corpus.columns if task.row_names == list(task.fields) else tuple(task.fields)
    assert tuple(row.field for row in said) == names
    assert {row.field for row in said if row.role == INPUT} == set(task.inputs)
    assert {row.role for row in said} <= {INPUT, ANSWERED}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.task}-{row.field}")
def test_every_form_of_a_value_is_read(row):
    field = task_named(row.task).fields[row.field]
    for form in row.forms:
        field.read(form)
        if row.role == INPUT:
            field.accept(form)


def test_there_is_a_line_for_every_task_and_a_form_for_every_field():
    assert {row.task.split()[0] for row in ROWS} == set(BUILT_IN["tasks"])
    kinds = {(row.task.split()[0], row.field): row.forms for row in ROWS if row.forms}
    assert {(row.task.split()[0], row.field) for row in ROWS} == set(kinds)
