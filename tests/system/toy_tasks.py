"""Corpora and recipes of the tasks beside translation, small enough to train in a second."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from regard.recipe.recipe import Recipe

WORDS = ["the", "film", "was", "a", "story", "of", "it", "and"]
TOLD_BY = {"good": ["lovely", "fine"], "bad": ["dull", "poor"]}
TRAINER = {"accelerator": "cpu", "devices": 1, "threads": 1}


def write_labelled(folder: Path, counts: tuple[int, int, int] = (120, 16, 12)) -> None:
    """train.tsv, dev.tsv and test.tsv: label TAB text"""
    draw = random.Random(0)
    for name, count in zip(("train", "dev", "test"), counts, strict=True):
        lines = []
        for _ in range(count):
            label = draw.choice(sorted(TOLD_BY))
            words = [draw.choice(WORDS) for _ in range(draw.randint(1, 6))]
            words.insert(draw.randint(0, len(words)), draw.choice(TOLD_BY[label]))
            lines.append(f"{label}\t{' '.join(words)}\n")
        (folder / f"{name}.tsv").write_text("".join(lines))


def write_documents(folder: Path) -> None:
    """train.jsonl, dev.jsonl and test.jsonl: documents of the labelled sentences, most of one label, and a
    series that rises as the share of good ones does.
    """
    draw = random.Random(1)
    for name, count in (("train", 80), ("dev", 12), ("test", 12)):
        lines = []
        for _ in range(count):
            label = draw.choice(sorted(TOLD_BY))
            told = [draw.choice(TOLD_BY[label]) for _ in range(draw.randint(1, 4))]
            document = [f"{draw.choice(WORDS)} {word} {draw.choice(WORDS)}" for word in told]
            slope = 1.0 if label == "good" else -1.0
            series = [[slope * t + draw.random(), draw.random()] for t in range(len(told) + 2)]
            one = {"document": document, "label": label, "series": series, "number": 3 * slope}
            lines.append(json.dumps(one) + "\n")
        (folder / f"{name}.jsonl").write_text("".join(lines))


def write_book(folder: Path, lines: int = 520) -> None:
    """book.txt, with empty lines in it"""
    draw = random.Random(0)
    texts = [" ".join(draw.choice(WORDS) for _ in range(draw.randint(0, 5))) for _ in range(lines)]
    (folder / "book.txt").write_text("".join(f"{text}\n" for text in texts))


def task_recipe(folder: Path, kind: str, **sections: Any) -> Recipe:
    """kind: classify, lin, han or series (classifiers of texts, documents, vectors, the last with a number
    as the answer), blocks or lines (a language model of either), cloze, masked.
    """
    parts = ("train", "dev", "test")
    book = {part: f"{folder}/book.txt@{part}" for part in parts}
    texts = {part: f"{folder}/{part}.tsv#1" for part in parts}
    labelled = {part: f"{folder}/{part}.tsv#1,0" for part in parts}
    small = {"embedding": 8, "hidden": 12, "dropout": 0.2}
    base: dict[str, Any] = {
        "classify": {
            "task": {"kind": "classify"},
            "data": {**labelled, "max_length": 5},
            "model": {"kind": "recurrent-classifier", **small},
        },
        "lin": {
            "task": {"kind": "classify"},
            "data": labelled,
            "model": {"kind": "lin", **small, "attention": 6, "hops": 3, "inner": 10},
        },
        "han": {
            "task": {"kind": "classify", "input": "document"},
            "data": {part: f"{folder}/{part}.jsonl#document,label" for part in parts},
            "model": {"kind": "han", **small, "word_dropout": 0.1},
        },
        "series": {
            "task": {"kind": "classify", "input": "numbers", "output": "number"},
            "data": {part: f"{folder}/{part}.jsonl#series,number" for part in parts},
            "model": {"kind": "classifier", "encoder": "gru", **small},
        },
        "blocks": {
            "task": {"kind": "language", "context": 16},
            "data": book,
            "tokenizer": {"source": {"kind": "character"}},
            "model": {"kind": "recurrent-language", **small},
        },
        "cloze": {
            "task": {"kind": "cloze", "distances": [2, 4], "names": 3},
            "data": book,
            "model": {"kind": "recurrent-language", **small, "attention": {}},
        },
        "lines": {
            "task": {"kind": "language"},
            "data": texts,
            "model": {
                "kind": "transformer-language",
                "size": 16,
                "heads": 2,
                "inner": 16,
                "layers": 1,
            },
        },
        "masked": {
            "task": {"kind": "masked"},
            "data": texts,
            "model": {
                "kind": "transformer-masked",
                "size": 16,
                "heads": 2,
                "inner": 16,
                "layers": 1,
            },
        },
    }[kind]
    whole = {
        "name": kind,
        "tokenizer": {"source": {"kind": "word"}},
        "training": {"epochs": 2, "batch_sentences": 16, "optimizer": {"lr": 0.02}},
        "trainer": TRAINER,
        **base,
    }
    for name, section in sections.items():
        whole[name] = {**whole.get(name, {}), **section}
    return Recipe.model_validate(whole)


def attending_recipe(folder: Path, normalize: str, seed: int) -> Recipe:
    """A small Transformer that classifies, with its first weights paired."""
    training = {"epochs": 6, "paired": True}
    given = task_recipe(folder, "classify", training=training).model_dump(mode="json")
    sizes = {"size": 8, "heads": 2, "inner": 8, "layers": 1, "pool": "attention"}
    model = {"kind": "transformer-classifier", **sizes, "attention": {"normalize": normalize}}
    return Recipe.model_validate({**given, "model": model, "seed": seed})
