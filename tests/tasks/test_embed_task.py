"""Word vectors by recipe: they learn, answer, are judged alike however they are batched, and are probed."""

from __future__ import annotations

import json
import math
import random

import numpy as np
import pytest
import torch

from regard.data.word_vectors import read_vectors
from regard.export.word2vec import export_vectors
from regard.models.embedding.embedding_options import Cbow, SkipGram
from regard.models.embedding.word_vectors_model import CbowModel, SkipGramModel
from regard.recipe.recipe import Recipe
from regard.report.run_evaluation import evaluate
from regard.runs.loaded_run import load
from regard.tasks.embed.embed_module import Embed
from regard.tasks.embed.embed_task import EmbedTask
from regard.tasks.embed.word_probes import (
    UnitVectors,
    probe_analogies,
    probe_likeness,
    probe_tags,
)
from regard.training.run import train

V = 12
CLASSES = {"DET": ["the", "a"], "NOUN": ["cat", "dog", "cow"], "VERB": ["sees", "eats"]}


def sentence(draw):
    """the cat sees a dog: words of a class stand in each other's places"""
    order = ("DET", "NOUN", "VERB", "DET", "NOUN")
    return [(draw.choice(CLASSES[each]), each) for each in order]


def recipe_of(folder, **model):
    draw = random.Random(0)
    for name, count in (("train", 400), ("dev", 40), ("test", 40)):
        sentences = [sentence(draw) for _ in range(count)]
        text = "\n".join(" ".join(word for word, _ in each) for each in sentences)
        (folder / f"{name}.txt").write_text(f"{text}\n")
        tagged = [
            f"{' '.join(word for word, _ in each)}\t{' '.join(tag for _, tag in each)}\n"
            for each in sentences
        ]
        (folder / f"{name}.tsv").write_text("".join(tagged))
    (folder / "alike.tsv").write_text("# pairs\ncat\tdog\t9\ncat\tsees\t1\nthe\ta\t9\nno\tcat\t5\n")
    (folder / "analogies.txt").write_text(": any\nthe a a the\nzebra a cat dog\n")
    return Recipe.model_validate(
        {
            "task": {
                "kind": "embed",
                "subsample": 0.0,
                "negatives": 1,
                "similarity": [f"{folder}/alike.tsv"],
                "analogies": [f"{folder}/analogies.txt"],
                "tags": [f"{folder}/train.tsv", f"{folder}/test.tsv"],
            },
            "data": {part: f"{folder}/{part}.txt" for part in ("train", "dev", "test")},
            "tokenizer": {"source": {"kind": "word", "size": 50}},
            "model": {"kind": "cbow", "size": 8, "window": 2, **model},
            "training": {
                "epochs": 6,
                "batch_sentences": 16,
                "optimizer": {"kind": "adagrad", "lr": 0.3},
            },
            "trainer": {"accelerator": "cpu", "threads": 1},
        }
    )


@pytest.fixture(scope="module", params=["variable", "uniform", "skip-gram"])
def trained(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("embed")
    model = {"attention": request.param}
    if request.param == "skip-gram":
        model = {"kind": "skip-gram"}
    train(recipe_of(folder, **model), folder / "run")
    return folder / "run"


def test_words_of_a_class_come_together(trained):
    scores = json.loads((trained / "scores.json").read_text())["test"]
    assert scores["tag_accuracy"] == 1.0  # linearly separable
    assert scores["alike"] > 0.8  # cat, dog and the, a are told from cat, sees
    assert (scores["probes"]["alike"]["judged"], scores["probes"]["alike"]["items"]) == (3, 4)
    assert scores["probes"]["analogies"]["judged"] == 1
    assert scores["loss"] < 0.95 * 2 * math.log(2)  # log 2 for the word, and for one that is drawn
    found = load(trained, device="cpu").predict(["cat"])
    assert set(found[0].answer[:2]) == {"dog", "cow"}


def test_words_that_are_not_known_are_named(trained):
    task = load(trained, device="cpu").task
    (said,) = task.input_doubts(task.given(["cat zebra", "gnu", "dog"]), asked=True)
    assert said.startswith("'gnu', 'zebra': no text to learn from has it often enough")
    assert task.input_doubts(task.given(["cat", "dog"]), asked=True) == []
    assert task.input_doubts(task.given(["gnu"])) == []  # of a corpus, their share is told


def test_nothing_is_near_a_word_that_is_not_known(trained):
    run = load(trained, device="cpu")
    unknown, known, both = run.predict(["zebra", "cat", "zebra cat"])
    assert unknown.answer == []
    assert known.answer
    assert both.answer == known.answer


def test_the_report_draws_weights_by_distance_where_there_are_any(trained):
    page = (trained / "report.html").read_text()
    run = load(trained, device="cpu")
    assert ("Mean weight of the words around a word" in page) == (run.recipe.model.kind == "cbow")
    if run.recipe.model.kind == "cbow":
        places = json.loads((trained / "scores.json").read_text())["test"]["weight_by_place"]
        assert sum(places) == pytest.approx(1.0, abs=1e-5)


def test_an_evaluation_is_the_same_again(trained):
    run = load(trained, device="cpu")
    assert evaluate(run, run.recipe.data.test).to_dict()["loss"] == pytest.approx(
        json.loads((trained / "scores.json").read_text())["test"]["loss"], abs=1e-6
    )


def test_vectors_are_written_as_word2vec_does(trained, tmp_path):
    run = load(trained, device="cpu")
    path = export_vectors(trained, tmp_path / "vectors.txt")
    found = read_vectors(path, run.task.text.tokenizer)
    assert not found.malformed
    vectors = run.module.model.vectors.detach().numpy()
    np.testing.assert_allclose(found.vectors, vectors[found.tokens], rtol=1e-5)
    assert len(found.tokens) == sum(map(len, CLASSES.values()))


QUOTED = ['the cat saw "the" dog (the cow)', '"dog" and cow, dog and (cat)', "cow"]


@pytest.mark.parametrize("marked", [False, True])
def test_a_word_has_one_row_in_a_file_of_vectors(trained, tmp_path, marked):
    """A run of before had two tokens of a word: one behind a blank, and one behind a mark."""
    run = load(trained, device="cpu")
    task, module = run.task, run.module
    field = task.make_fields()[0]
    if marked:
        field.settings["marks"] = True
    field.learn(QUOTED)
    task.text, module.model.vectors = field, torch.nn.Parameter(torch.randn(field.size, 8))
    words, vectors = task.word_vectors(module)
    assert len(words) == len(set(words))
    assert {"the", "cat", "dog", "cow"} <= set(words)
    assert (task.merged > 0) == marked
    once = task.make_fields()[0]
    once.learn(QUOTED)
    assert sorted(words) == sorted(once.tokenizer.labels)
    task.text = field
    frequent = max(
        (n for n in range(4, field.size) if task.word(n) == "cow"), key=lambda n: field.counts[n]
    )
    np.testing.assert_allclose(vectors[words.index("cow")], module.model.vectors[frequent].detach())


def test_an_older_run_says_that_its_words_were_merged(trained, tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr(EmbedTask, "merged", 3)
    export_vectors(trained, tmp_path / "vectors.txt", report=told.append)
    assert told[0].startswith("3 tokens more stand for words that others stand for")


def small(kind, **options):
    torch.manual_seed(0)
    counts = np.arange(V)
    make = {"cbow": (CbowModel, Cbow), "skip-gram": (SkipGramModel, SkipGram)}[kind]
    model = make[0](V, make[1](size=4, window=2, **options))
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter)
    return Embed(model.double(), counts, negatives=3, subsample=0.0)


@pytest.mark.parametrize("kind", ["cbow", "skip-gram"])
def test_a_text_is_asked_the_same_alone_and_beside_others(kind):
    module = small(kind, **({"attention": "variable"} if kind == "cbow" else {}))
    texts = [torch.tensor([5, 6, 7, 8]), torch.tensor([9]), torch.tensor([10, 11])]
    padded = torch.zeros(3, 6, dtype=torch.long)
    mask = torch.zeros(3, 6, dtype=torch.bool)
    for row, text in enumerate(texts):
        padded[row, 1 : 1 + len(text)], mask[row, 1 : 1 + len(text)] = text, True
    row = torch.arange(3)[:, None].expand(3, 6)[mask]
    together, wanted, _ = module.model.questions(*module.windows(padded[mask], row))
    alone = [module.model.questions(*module.windows(x, torch.zeros_like(x))) for x in texts]
    torch.testing.assert_close(together, torch.cat([each[0] for each in alone]))
    assert wanted.tolist() == torch.cat([each[1] for each in alone]).tolist()


def test_windows_do_not_cross_from_text_to_text():
    module = small("cbow")
    found = module.windows(torch.tensor([1, 2, 3, 4]), torch.tensor([0, 0, 0, 1]))
    assert found.words[0].tolist()[2:] == [2, 3]
    assert found.mask.tolist() == [
        [False, False, True, True],
        [False, True, True, False],
        [True, True, False, False],
        [False, False, False, False],
    ]


def test_empty_texts_and_lonely_words_cost_nothing():
    module = small("cbow")
    for text in (torch.zeros(0, dtype=torch.long), torch.tensor([5])):
        assert module.likelihoods([text])[0].tokens == 0
        loss = module(text[None], torch.ones(1, len(text), dtype=torch.bool))
        assert float(loss.total.detach()) == 0.0
        loss.total.backward()


def test_words_are_drawn_as_often_as_their_count_to_the_three_quarters():
    module = small("cbow")
    module.negatives = 4000
    torch.manual_seed(0)
    drawn = module.scored_words(torch.tensor([5] * 20))[:, 1:]
    share = torch.bincount(drawn.flatten(), minlength=V) / drawn.numel()
    expected = torch.arange(V).double() ** 0.75
    expected[:4] = 0.0  # special tokens are never drawn
    torch.testing.assert_close(share.double(), expected / expected.sum(), atol=5e-3, rtol=0.0)


def test_probes_are_their_definitions(tmp_path):
    words = ["man", "woman", "king", "queen", "far"]
    vectors = np.array([[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 1], [-9, 0, 0]], np.float64)
    found = UnitVectors(words, vectors)
    found.unit = vectors  # plain sums, to be done in the head
    (tmp_path / "analogies.txt").write_text(
        ": family\nman woman king queen\nman king woman far\nx y z w\n"
    )
    assert probe_analogies(found, str(tmp_path / "analogies.txt")) == (0.5, 2, 3)
    (tmp_path / "tags.tsv").write_text("man far\tN A\nking unknown\tN N\n")
    path = str(tmp_path / "tags.tsv")
    assert probe_tags(UnitVectors(words, vectors), path, path) == (1.0, 3, 4)
    (tmp_path / "bad.tsv").write_text("man\twoman\n")
    with pytest.raises(ValueError, match="pair 1: write word TAB word TAB"):
        probe_likeness(found, str(tmp_path / "bad.tsv"))
