"""A run whose embeddings begin with word vectors: they are in it, and the file is needed no more."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from regard.layers.embedding import TokenEmbedding
from regard.layers.special_tokens import PAD
from regard.recipe.mistakes import RecipeError
from regard.recipe.recipe import Recipe
from regard.registry import find, kinds
from regard.runs.loaded_run import load
from regard.tasks.recipe_task import task_of
from regard.training.first_vectors import check_vectors, take_vectors
from regard.training.run import train

WORDS = ["the", "film", "was", "a", "lovely", "story", "dull", "and", "of", "it"]


@pytest.fixture
def folder(tmp_path):
    draw = np.random.default_rng(0)
    lines = [
        f"{' '.join(draw.choice(WORDS, 4))} {word}\t{label}\n"
        for word, label in (("lovely", "good"), ("dull", "bad"))
        for _ in range(40)
    ]
    (tmp_path / "texts.tsv").write_text("".join(lines))
    rows = [" ".join([word, *(f"{x:.3f}" for x in draw.normal(size=8))]) for word in WORDS[:6]]
    (tmp_path / "vectors.txt").write_text("\n".join([*rows, "zebra " + "0 " * 7 + "0"]) + "\n")
    return tmp_path


def recipe(folder, **vectors) -> Recipe:
    return Recipe.model_validate(
        {
            "task": {"kind": "classify"},
            "data": {"train": f"{folder}/texts.tsv"},
            "tokenizer": {"source": {"kind": "word"}},
            "model": {"kind": "recurrent-classifier", "embedding": 8, "hidden": 8},
            "vectors": {"source": str(folder / "vectors.txt"), **vectors},
            "training": {"steps": 3, "batch_sentences": 16, "checkpoint_every": 1},
            "trainer": {"accelerator": "cpu", "devices": 1, "threads": 1},
        }
    )


def table_and_words(run) -> tuple[torch.Tensor, dict[str, int]]:
    loaded = load(run)
    labels = loaded.task.fields["text"].tokenizer.labels
    known = {label.removeprefix("▁"): 4 + i for i, label in enumerate(labels)}
    return loaded.module.model.encoder.embed.weight.detach(), known


def given(folder) -> dict[str, torch.Tensor]:
    lines = [line.split() for line in (folder / "vectors.txt").read_text().splitlines()]
    return {word: torch.tensor([float(x) for x in numbers]) for word, *numbers in lines}


def test_frozen_vectors_are_in_the_model_as_the_file_has_them(folder):
    run = train(recipe(folder, frozen=True), folder / "run")
    table, known = table_and_words(run)
    for word in WORDS[:6]:
        torch.testing.assert_close(table[known[word]], given(folder)[word])
    told = (run / "train.log").read_text()
    assert "6 of 14 text tokens begin with a vector of vectors.txt" in told
    assert "vectors.frozen: the other 8 stay as they were drawn" in told


def test_what_is_passed_over_in_the_file_is_told(folder):
    lines = (folder / "vectors.txt").read_text()
    (folder / "vectors.txt").write_text(f"{lines}dull 0 0\n")
    run = train(recipe(folder), folder / "run")
    said = "vectors.txt: lines that are no word and its numbers are passed over: 1, the first is 8"
    assert said in (run / "train.log").read_text()


def test_others_are_learnt_from_there(folder):
    table, known = table_and_words(train(recipe(folder), folder / "run"))
    moved = torch.stack([table[known[word]] - given(folder)[word] for word in WORDS[:6]])
    assert 0 < moved.abs().max() < 0.1


def test_the_run_goes_on_and_answers_without_the_file(folder):
    train(recipe(folder, frozen=True), folder / "run")
    before, _ = table_and_words(folder / "run")
    (folder / "vectors.txt").rename(folder / "away.txt")
    longer = recipe(folder, frozen=True)
    longer = longer.model_copy(update={"training": longer.training.model_copy(update={"steps": 5})})
    train(longer, folder / "run")
    after, _ = table_and_words(folder / "run")
    torch.testing.assert_close(after, before)
    assert load(folder / "run").predict(["the film was lovely"])
    with pytest.raises(FileNotFoundError, match=r"vectors\.source"):
        train(longer, folder / "new")
    assert not (folder / "new").exists()


def test_vectors_of_another_size_are_refused_and_both_sizes_named(folder):
    wide = recipe(folder).model_dump(mode="json")
    wide["model"]["embedding"] = 12
    with pytest.raises(
        RecipeError, match=r"have 8 numbers, and the model embeds a token .* in 12"
    ) as told:
        train(Recipe.model_validate(wide), folder / "run")
    assert told.value.hint == "model.embedding=8, or take vectors of 12"
    assert not (folder / "run").exists()


def test_a_text_that_is_not_there_and_words_that_are_not_are_told(folder):
    with pytest.raises(RecipeError, match=r"vectors\.target .*has no such text"):
        check_vectors(recipe(folder, target="x.txt"))
    (folder / "vectors.txt").write_text("zebra 0 0 0 0 0 0 0 0\n")
    with pytest.raises(RecipeError, match="no vector for any token"):
        train(recipe(folder), folder / "run")


SMALL = {"size": 8, "embedding": 8, "hidden": 8, "inner": 8, "maxout": 8, "heads": 2, "layers": 1}


LEARNT = ("cbow", "skip-gram")  # whose vectors are what they learn


@pytest.mark.parametrize("kind", kinds("models"))
def test_every_model_with_an_embedding_of_words_takes_them(folder, kind):
    options = find("models", kind)
    small = {name: value for name, value in SMALL.items() if name in options.model_fields}
    (reads, *_) = getattr(options, "reads", ("",))
    path = str(folder / "vectors.txt")
    task = task_of(
        Recipe.model_validate(
            {
                "task": {"kind": options.task} | ({"input": reads} if reads else {}),
                "model": {"kind": kind, **small},
                "tokenizer": {"source": {"kind": "word"}, "target": {"kind": "word"}},
                "vectors": {"source": path}
                | ({"target": path} if options.task in ("translate", "summarise", "joint") else {}),
            }
        )
    )
    if kind in LEARNT:
        with pytest.raises(RecipeError, match="the model has no embedding of the"):
            check_vectors(task.recipe)
        return
    if any(hasattr(type(f), "tokenizer") for f in task.fields.values()):
        check_vectors(task.recipe)
        other = folder / "other.txt"
        other.write_text("the " + "0 " * 9 + "0\n")
        wrong = task.recipe.model_copy(
            update={"vectors": type(task.recipe.vectors)(source=str(other))}
        )
        with pytest.raises(RecipeError) as told:
            check_vectors(wrong)
        option = next(name for name in ("embedding", "size", "hidden") if name in small)
        assert told.value.hint == f"model.{option}=10, or take vectors of 8"
    shared = [f for f in task.fields.values() if hasattr(type(f), "tokenizer")]
    texts = [f for f in shared if f.file is not None]
    if not texts:
        pytest.skip("it reads no words")
    for number, field in enumerate(texts):
        extra = "x y z"[: 2 * number + 1]  # vocabularies of different sizes, unless they are one
        extra = "x" if options.task == "summarise" else extra
        field.learn([field.read(" ".join([*WORDS, extra]))])
    sizes = {
        name: field.size if field in shared else field.any_size
        for name, field in task.fields.items()
    }
    model = task.recipe.model.build(sizes)
    known = SimpleNamespace(recipe=task.recipe, fields=task.fields, sizes=sizes)
    assert len(list(take_vectors(known, model))) == len(texts)
    the = given(folder)["the"]
    tables = [part for part in model.modules() if isinstance(part, nn.Embedding)]
    tables = [table for table in tables if table.embedding_dim == len(the)]
    filled = [table for table in tables if (table.weight == the).all(-1).any()]
    assert len(filled) >= len(texts)
    words = [part for part in model.modules() if isinstance(part, TokenEmbedding)]
    assert not any(table.weight[PAD].any() for table in words)
