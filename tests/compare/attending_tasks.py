"""A small recipe for every task, with a model that attends, and the maps that are shown of it."""

from __future__ import annotations

import json
from pathlib import Path

from toy import toy_recipe, write_corpus
from toy_tasks import TRAINER, task_recipe, write_book, write_documents, write_labelled

from regard.recipe.recipe import Recipe

SMALL = {"embedding": 8, "hidden": 12, "dropout": 0.0}
BLOCK = {"size": 16, "heads": 2, "inner": 16, "layers": 1}
READER = {"kind": "reader", "cell": "gru", **SMALL}
ABCNN = {"kind": "abcnn", "embedding": 8, "filters": 8, "width": 2, "dropout": 0.0}
SELF_ATTENTIVE = {
    "kind": "self-attentive-pair",
    "embedding": 8,
    "states": 8,
    "scoring": 8,
    "hops": 2,
}

# the task, its model, and the maps that are shown of it
KINDS = {
    "classify": ({"kind": "transformer-classifier", **BLOCK, "pool": "attention"}, ["pooling"]),
    "lin": (None, ["pooling"]),
    "han": (None, ["pooling"]),
    "series": (None, ["pooling"]),
    "translate": (None, ["cross"]),
    "tag": ({"kind": "transformer-tagger", **BLOCK}, ["encoder"]),
    "blocks": ({"kind": "transformer-language", **BLOCK}, ["decoder"]),
    "lines": (None, ["decoder"]),
    "masked": (None, ["encoder"]),
    "cloze": ({"kind": "transformer-language", **BLOCK}, ["encoder"]),
    "cloze by a network": ({"kind": "recurrent-language", **SMALL, "attention": {}}, ["encoder"]),
    "match": (ABCNN, ["pair"]),
    "match by poolings": (SELF_ATTENTIVE, ["pooling first", "pooling second"]),
    "read": (READER | {"focus": "attentive"}, ["focus"]),
    "read by words": (READER | {"focus": "impatient"}, ["focus"]),
    "read a span": (READER | {"question": "general", "dynamic": True}, ["focus"]),
}


def rows_of(kind: str) -> tuple[str, str, dict[str, object]]:
    """The corpus of a task that toy_tasks has not, its columns, and what the recipe says of the task."""
    if kind == "tag":
        return "the cat sat\tDET NOUN VERB\nit ran\tPRON VERB\n" * 20, "", {"kind": "tag"}
    if kind.startswith("match"):
        pair = (
            "left\tright\tjudgement\n"
            + "the cat sat\tit sat down\tyes\na dog\ta cat ran\tno\n" * 20
        )
        return pair, "#left,right,judgement", {"kind": "match", "answer": "label"}
    row = {
        "story": "Mary is in the attic. John is in the park.",
        "question": "Where is John?",
        "candidates": {"candidates": ["attic", "park"], "answer": "park"},
        "answer": [{"text": "park"}],
    }
    answers = "span" if kind == "read a span" else "choice"
    return (json.dumps(row) + "\n") * 40, "", {"kind": "read", "answers": answers}


def recipe_of(kind: str, model: dict | None, folder: Path) -> Recipe:
    training = {"steps": 2, "batch_sentences": 16}
    if kind == "translate":
        write_corpus(folder)
        return toy_recipe(folder, training=training)
    if kind in ("tag",) or kind.startswith(("match", "read")):
        text, columns, task = rows_of(kind)
        file = folder / {"tag": "a.tsv", "match": "a.txt", "read": "a.jsonl"}[kind.split()[0]]
        file.write_text(text)
        given = {
            "task": task,
            "data": dict.fromkeys(("train", "dev", "test"), f"{file}{columns}"),
            "tokenizer": {"source": {"kind": "word", "size": 100}},
            "model": model,
            "training": training,
            "trainer": TRAINER,
        }
        return Recipe.model_validate(given)
    write_labelled(folder)
    write_documents(folder)
    write_book(folder)
    recipe = task_recipe(folder, kind.split()[0], training=training)
    if model is None:
        return recipe
    return Recipe.model_validate(
        recipe.model_dump(mode="json", exclude_unset=True) | {"model": model}
    )
