"""Embeddings that begin with vectors learnt elsewhere, and stay as they are if the recipe says so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

from regard.data.fields import Field
from regard.data.spec import locate
from regard.data.word_vectors import read_vectors, vector_size
from regard.layers.embedding import zero_padding
from regard.layers.positions import Learned
from regard.options import ModelOptions
from regard.recipe.mistakes import RecipeError
from regard.recipe.recipe import Recipe
from regard.tasks.recipe_task import task_of
from regard.tasks.task import Task
from regard.words import t

HALVES = {"source": "encoder", "target": "decoder"}  # of a translator
OTHERS = ("characters", "output")  # tables that embed no words that are read


class GivenVectors(NamedTuple):
    """A file of vectors, and the tables of a model that embed the tokens of a field."""

    key: str  # of the recipe
    path: Path
    field: Any  # it has a tokenizer
    tables: list[nn.Embedding]


def check_vectors(recipe: Recipe) -> None:
    """Refuse files that are not there, and vectors of another size than the embeddings of the model."""
    task = task_of(recipe)
    sizes = {name: field.any_size for name, field in task.fields.items()}
    with torch.device("meta"):  # no memory, and no random numbers are drawn
        for _ in _given(task, recipe.model.build(sizes), sizes):
            pass


def take_vectors(task: Task, model: nn.Module) -> Iterator[str]:
    """Write the vectors of the recipe into the model; what was found, in a line for each field."""
    for key, path, field, tables in _given(task, model, task.sizes):
        found = read_vectors(path, field.tokenizer)
        if not found.tokens:
            raise RecipeError(
                t(
                    "{key} is {path}: it has no vector for any token of the {name}",
                    key=key,
                    path=path,
                    name=field.name,
                )
            )
        for table in tables:
            with torch.no_grad():
                table.weight[found.tokens] = torch.from_numpy(found.vectors).to(table.weight)
            zero_padding(table)
        yield t(
            "{found} of {tokens} {field} tokens begin with a vector of {file}",
            found=f"{len(found.tokens):,}",
            tokens=f"{len(field.tokenizer):,}",
            field=field.name,
            file=path.name,
        )
        if task.recipe.vectors.frozen and len(found.tokens) < len(field.tokenizer):
            yield t(
                "vectors.frozen: the other {count} stay as they were drawn, and learn nothing",
                count=f"{len(field.tokenizer) - len(found.tokens):,}",
            )
        if found.malformed:
            yield t(
                "{file}: lines that are no word and its numbers are passed over: {count}, "
                "the first is {line}",
                count=f"{len(found.malformed):,}",
                file=path.name,
                line=f"{found.malformed[0]:,}",
            )


def freeze_vectors(task: Task, model: nn.Module) -> None:
    """Embeddings with given vectors learn no more: neither these nor the rows of other tokens."""
    vectors = task.recipe.vectors
    for field in task.fields.values():
        key = _key(field)
        if vectors.frozen and key and getattr(vectors, key) is not None:
            for table in _tables(model, field, task.sizes[field.name]):
                table.weight.requires_grad_(False)


def _given(task: Task, model: nn.Module, sizes: dict[str, Any]) -> Iterator[GivenVectors]:
    given = {key: getattr(task.recipe.vectors, key) for key in HALVES}
    used = set()
    for name, field in task.fields.items():
        key = _key(field)
        if not key or given[key] is None:
            continue
        used.add(key)
        told, path = f"vectors.{key}", _located(f"vectors.{key}", given[key])
        tables = _tables(model, field, sizes[name])
        if not tables:
            raise RecipeError(
                t(
                    "{told} is {path}: the model has no embedding of the {name}",
                    told=told,
                    path=path,
                    name=name,
                )
            )
        size = vector_size(path)
        for width in {table.embedding_dim for table in tables} - {size}:
            raise RecipeError(
                t(
                    "{told} is {path}: its vectors have {size} numbers, and the model embeds a "
                    "token of the {name} in {width}",
                    told=told,
                    path=path,
                    size=size,
                    name=name,
                    width=width,
                ),
                t(
                    "{widened}, or take vectors of {width}",
                    widened=_widened(task.recipe.model, field, sizes, width, size),
                    width=width,
                ),
            )
        yield GivenVectors(told, path, field, tables)
    for key in given:
        if given[key] is not None and key not in used:
            raise RecipeError(
                t(
                    "vectors.{key} is {given}: task.kind={kind} has no such text",
                    key=key,
                    given=given[key],
                    kind=task.recipe.task.kind,
                )
            )


def _widened(
    model: ModelOptions, field: Field, sizes: dict[str, Any], width: int, size: int
) -> str:
    """What to write so that the tokens of a field are embedded in `size` numbers instead of `width`."""
    for name, value in dict(model).items():
        if value != width or isinstance(value, bool):
            continue
        try:
            with torch.device("meta"):
                other = model.of(model, {name: size}).build(sizes)
        except ValueError:
            continue
        if {table.embedding_dim for table in _tables(other, field, sizes[field.name])} == {size}:
            return f"model.{name}={size}"
    return t("make the embedding of the model {size} wide", size=size)


def _located(key: str, path: str) -> Path:
    try:
        return locate(path)
    except FileNotFoundError as error:
        raise FileNotFoundError(f"{key}: {error}") from None


def _key(field: Field) -> str:
    """Which vectors a field takes: those of the target or of the source; none if it has no own words."""
    if not hasattr(type(field), "tokenizer"):
        return ""
    if field.name in HALVES:
        return field.name
    return "" if field.file is None else "source"


def _tables(model: nn.Module, field: Field, size: Any) -> list[nn.Embedding]:
    """The embeddings with a row for each token of a field, in its half of a translator."""
    rows = size if isinstance(size, int) else size[0]
    half = getattr(model, HALVES.get(field.name, ""), model)
    places = {id(part.table) for part in half.modules() if isinstance(part, Learned)}
    return [
        part
        for name, part in half.named_modules()
        if isinstance(part, nn.Embedding)
        and part.num_embeddings == rows
        and name.rpartition(".")[2] not in OTHERS
        and id(part) not in places
    ]
