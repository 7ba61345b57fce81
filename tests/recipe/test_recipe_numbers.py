"""Every number of a recipe has bounds, and is a number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from regard.measures.translation import TOKENIZERS
from regard.recipe.keys import kinds
from regard.recipe.mistakes import RecipeError
from regard.recipe.recipe import Recipe
from regard.recipe.recipe_files import read_recipe
from regard.tasks.translate.translate_options import TranslateOptions as Translate
from regard.training.preflight import check

NEVER = ["true", "'3'", "-1", ".nan", ".inf", "many", ""]
NULL = ""  # of a key that may be left out
FREE = {
    "trainer.devices",
    "training.optimizer.betas",
    "model.windows",
    "task.distances",
    "task.lengths",
}  # lists, tested in their own words
LISTS = {
    ("show-attend-tell", "model.filters"),
    ("one-to-many", "model.filters"),
    ("one-to-many", "model.enters"),
}  # where the same key of another model is a number, or may be


def types_in(annotation: Any) -> set[Any]:
    inner = [t for part in get_args(annotation) for t in types_in(part)]
    return {annotation, *inner}


def numbers(section: type[BaseModel], path: str) -> Iterator[tuple[str, type, bool]]:
    """(key, int or float, whether it may be null) of a section and of those in it."""
    for name, field in section.model_fields.items():
        key, types = f"{path}{name}", types_in(field.annotation)
        for inner in (t for t in types if isinstance(t, type) and issubclass(t, BaseModel)):
            if path or name not in ("model", "task"):  # these are walked kind by kind
                yield from numbers(inner, f"{key}.")
        kind = next((t for t in (int, float) if t in types), None)
        if kind and key not in FREE:
            yield key, kind, type(None) in types


def every_number() -> Iterator[tuple[str, str, str, type, bool]]:
    """(kind of task, kind of model, …)"""
    for kind, section in kinds("model").items():
        for found in numbers(section, "model."):
            if (kind, found[0]) not in LISTS:
                yield section.task, kind, *found
    for task, section in kinds("task").items():
        for found in numbers(section, "task."):
            yield task, "", *found
    for found in numbers(Recipe, ""):
        yield "translate", "", *found


CASES = [pytest.param(*case, id=f"{case[1]} {case[2]}".strip()) for case in every_number()]


@pytest.mark.parametrize(("task", "model", "key", "number", "optional"), CASES)
def test_what_is_no_sensible_number_is_refused(task, model, key, number, optional):
    kind = [f"task.kind={task}", *([f"model.kind={model}"] if model else [])]
    for value in [*NEVER, *(["1e300", f"{10**30}"] if number is int else [])]:
        if value == NULL and optional:
            continue
        with pytest.raises(RecipeError, match=rf"{key}\b.* is ") as told:
            read_recipe("rnnsearch", [*kind, f"{key}={value}"])
        assert "\n" not in str(told.value)


def test_all_sections_were_walked():
    keys = {case.values[2] for case in CASES}
    assert len(CASES) > 100
    assert keys > {"seed", "model.hidden", "training.optimizer.lr", "trainer.threads", "task.rate"}
    assert keys > {"tokenizer.source.size", "search.beam", "training.teacher_forcing.ratio"}


@pytest.mark.parametrize(
    "steps", ["[0]", "[]", "[1.5]", "[true]", "-1", ".nan", "many", "[1, null]"]
)
def test_the_steps_where_a_vector_enters_are_counted_from_1(steps):
    told = ["task.kind=caption", "model.kind=one-to-many"]
    wanted = r"model\.enters is .*first, every, or a list of steps counted from 1, as \[1, 7\]$"
    with pytest.raises(RecipeError, match=wanted):
        read_recipe("rnnsearch", [*told, f"model.enters={steps}"])


@pytest.mark.parametrize(("written", "steps"), [("[1, 7]", (1, 7)), ("1,7", (1, 7)), ("7", (7,))])
def test_the_steps_where_a_vector_enters_are_a_list_however_written(written, steps):
    told = ["task.kind=caption", "model.kind=one-to-many", f"model.enters={written}"]
    assert read_recipe("rnnsearch", told).model.enters == steps


@pytest.mark.parametrize("devices", ["100000", "true", "'100000'", "x", "1.5", "[0, true]", "-2"])
def test_devices_are_counted_or_named(devices):
    with pytest.raises(RecipeError, match=r"trainer\.devices: .* is neither auto, a number"):
        read_recipe("rnnsearch", [f"trainer.devices={devices}"])


@pytest.mark.parametrize("devices", ["auto", "2", "-1", "[0, 2]", "0,2"])
def test_devices_that_there_may_be_are_taken(devices):
    assert read_recipe("rnnsearch", [f"trainer.devices={devices}"]).trainer.devices


def test_a_measure_that_could_not_be_taken_is_refused_before_training():
    assert get_args(get_args(Translate.model_fields["bleu_tokenize"].annotation)[0]) == TOKENIZERS
    with pytest.raises(RecipeError, match=r"bleu_tokenize is 'foo'\. Allowed: 13a"):
        read_recipe("rnnsearch", ["task.bleu_tokenize=foo"])


def test_a_model_larger_than_the_memory_is_refused():
    wide = ["model.kind=transformer", "model.size=65536", "model.inner=65536", "training.steps=1"]
    with pytest.raises(RecipeError, match=r"weights take .* GB, and this machine has"):
        check(read_recipe("rnnsearch", [*wide, "model.encoder_layers=100"]))


def test_more_processes_than_a_cpu_can_run_are_refused():
    crowd = ["trainer.accelerator=cpu", "trainer.devices=999", "training.steps=1"]
    with pytest.raises(RecipeError, match=r"trainer\.devices=999 .* cores"):
        check(read_recipe("rnnsearch", crowd))


@pytest.mark.parametrize("distances", ["true", "3", "-1", "many", "", "[]", "[0]", "[true]"])
def test_distances_are_a_list_of_whole_numbers(distances):
    with pytest.raises(RecipeError, match=r"task\.distances\b.* is "):
        read_recipe("cloze-distance", [f"task.distances={distances}"])
