"""Documents are trained, kept with where their sentences end, and translated as a whole."""

from __future__ import annotations

import pytest
import torch

from regard.data.tokenizer import EOS
from regard.models.documents.document_encoder import HierarchicalEncoder
from regard.recipe.recipe import Recipe
from regard.records.question import Question
from regard.runs.loaded_run import LoadedRun, load
from regard.training.run import train


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> LoadedRun:
    folder = tmp_path_factory.mktemp("documents")
    lines = ["A dog. It ran.\tUn chien. Il courut.", "A cat. It sat.\tUn chat. Il dort."] * 20
    for part in ("train", "dev", "test"):
        (folder / f"{part}.tsv").write_text("\n".join(lines[: 40 if part == "train" else 2]))
    recipe = Recipe.model_validate(
        {
            "data": {part: f"{folder}/{part}.tsv" for part in ("train", "dev", "test")},
            "tokenizer": {side: {"kind": "word", "size": 40} for side in ("source", "target")},
            "model": {"kind": "hierarchical", "embedding": 16, "hidden": 32},
            "training": {"epochs": 40, "batch_sentences": 8, "optimizer": {"lr": 0.01}},
            "trainer": {"accelerator": "cpu", "threads": 1},
        }
    )
    return load(train(recipe, folder / "run", quiet=True))


def test_a_document_is_translated_as_a_whole(run: LoadedRun) -> None:
    found = run.translate(["A dog. It ran.", "A cat. It sat."])
    assert [one.text for one in found] == ["Un chien. Il courut.", "Un chat. Il dort."]


def test_a_loaded_run_knows_where_sentences_end(run: LoadedRun) -> None:
    encoder = run.module.model.encoder
    assert isinstance(encoder, HierarchicalEncoder)
    (tokens,) = run.module.read(["A dog. It ran."])
    source = torch.tensor([[*tokens.ids, EOS]])
    layout = encoder.layout(source, torch.ones_like(source, dtype=torch.bool))
    assert layout.real[0].sum(-1).tolist() == [3, 4]


def test_what_it_attends_to_can_be_looked_at(run: LoadedRun) -> None:
    record = run.task.look(run.module, Question("A dog. It ran."))
    (cross,) = (one for one in record.maps if one.name == "cross")
    assert cross.weights.sum(-1) == pytest.approx(1, abs=1e-5)


def test_its_batches_are_not_laid_out_unseen(run: LoadedRun) -> None:
    why = run.task.for_training(run.module.model).why_not_static
    assert why is not None
    assert "sentences end" in why


def test_recipes_of_documents_are_whole() -> None:
    from regard.recipe.recipe_files import read_recipe

    for name in ("documents", "documents-ddtp", "sentences-ddtp", "meng", "meng-multi30k"):
        assert read_recipe(name).name == name
